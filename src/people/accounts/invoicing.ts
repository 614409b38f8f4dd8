import { type Static, Type } from 'typebox';
import { checkedCountry } from '../../contract/addresses.ts';
import { nullable, strict, taxCategory, text } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { nameFrom } from '../../kernel/names.ts';

const LEGAL_TYPES = ['person', 'business'] as const;
const country = { description: 'ISO 3166-1 alpha-2; null = any', examples: ['DE'] };
const legalType = Type.Enum([...LEGAL_TYPES], { title: 'InvoiceLegalType', description: 'null = any' });
const hasVatId = Type.Boolean({ description: 'null = with or without one' });
const rate = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'hundredths of a percent: 1900 = 19 %',
});
const exemption = { description: 'why no tax is due, as the invoice says it; wanted for E, AE and O' };
const prefix = Type.String({
  pattern: '^[A-Z0-9-]{0,12}$',
  description: 'how numbers of invoices begin; default SB-',
  examples: ['SB-'],
});

/** How invoices of affiliates are numbered and taxed. */
export const invoicing = strict(
  {
    prefix,
    rules: Type.Array(
      strict(
        {
          country: nullable(Type.String(country)),
          legal_type: nullable(legalType),
          has_vat_id: nullable(hasVatId),
          category: taxCategory,
          rate,
          exemption: nullable(Type.String(exemption)),
        },
        { title: 'InvoiceTaxRule' },
      ),
      {
        description:
          'the first one that fits the tax profile of the affiliate counts; where none fits, nothing is issued',
      },
    ),
  },
  { title: 'Invoicing', description: 'self-billing invoices; null = none are issued' },
);
type Invoicing = Static<typeof invoicing>;
type TaxRule = Invoicing['rules'][number];

export const invoicingInput = strict({
  prefix: Type.Optional(prefix),
  rules: Type.Array(
    strict({
      country: Type.Optional(nullable(Type.String({ ...country, minLength: 2, maxLength: 2 }))),
      legal_type: Type.Optional(nullable(legalType)),
      has_vat_id: Type.Optional(nullable(hasVatId)),
      category: taxCategory,
      rate: Type.Optional(rate),
      exemption: Type.Optional(nullable({ ...text(200), ...exemption })),
    }),
    { minItems: 1, maxItems: 200 },
  ),
});
export type InvoicingInput = Static<typeof invoicingInput>;

/** The rules as they are stored. Throws `invalid_body` for a rate or a reason that its category cannot have. */
export function invoicingFrom({ prefix: begins = 'SB-', rules }: InvoicingInput): Invoicing {
  return { prefix: begins, rules: rules.map(ruleFrom) };
}

function ruleFrom(rule: InvoicingInput['rules'][number], index: number): TaxRule {
  const field = `invoicing.rules[${index}]`;
  const { category: taxed, rate: given = 0, exemption: reason = null, country: code } = rule;
  if (taxed === 'S' && given === 0)
    throw fail('invalid_body', `${field}.rate must be above 0 for the category S`);
  if (taxed !== 'S' && given !== 0)
    throw fail('invalid_body', `${field}.rate must be 0 for the category ${taxed}`);
  const wantsReason = taxed === 'E' || taxed === 'AE' || taxed === 'O';
  if (wantsReason && reason === null)
    throw fail('invalid_body', `${field}.exemption is required for the category ${taxed}`);
  if (!wantsReason && reason !== null)
    throw fail('invalid_body', `${field}.exemption has no place in the category ${taxed}`);
  return {
    country: code == null ? null : checkedCountry(code, `${field}.country`),
    legal_type: rule.legal_type ?? null,
    has_vat_id: rule.has_vat_id ?? null,
    category: taxed,
    rate: given,
    exemption: reason === null ? null : nameFrom(reason.normalize('NFC'), `${field}.exemption`),
  };
}
