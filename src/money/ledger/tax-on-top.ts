import sql, { raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { amount, nullable, strict, taxCategory } from '../../contract/schemas.ts';
import { BACKUP_WITHHOLDING_RATE } from '../../terms/backup-withholding.ts';

/*
 * The tax that is paid on top of net commissions, or withheld. A line of a payout (`payout_line_totals`) has `tax_terms`, fixed at
 * creation, or null if what is owed is what is paid; and `tax_amount`, of which `carried_tax_amount` was not paid and
 * `returned_tax_amount` came back. What is withheld is a tax below zero. Amounts without `tax` in their name are what is owed
 * (docs/decisions/0141 and 0134).
 */

/** Why no invoice can show a tax, so that a line has none. The first two are also reasons of issuing. */
export const NO_TAX_REASONS = {
  no_agreement: 'the affiliate had not agreed to self-billing',
  agreement_expired: 'the agreement had ended',
  no_rule: 'no rule of `invoicing` fits the tax profile of the affiliate',
  no_tax_id: 'the category requires a VAT id of the affiliate (S: or a tax number; AE: and your own)',
  no_invoicing: 'the account has no `invoicing` or no `tax_profile`',
} as const;
export type NoTaxReason = keyof typeof NO_TAX_REASONS;

/** The terms of the tax on top of a line. Those of one from which is withheld are `WITHHOLDING_TERMS`. */
export type TaxTerms =
  | {
      readonly category: Static<typeof taxCategory>;
      /** Hundredths of a percent. */
      readonly rate: number;
      readonly exemption: string | null;
    }
  | { readonly reason: NoTaxReason };

const sums = {
  amount: {
    ...amount,
    description: 'what leaves the bank: the amount, with the tax on top and without what is withheld',
  },
  tax_amount: { ...amount, description: 'the tax on top' },
  withheld_amount: {
    ...amount,
    description: 'what is withheld for the IRS (backup withholding); you owe it to the IRS',
  },
  paid_amount: { ...amount, description: 'what left the bank' },
};

/** The sums of a payout in a currency with the tax. */
export const totalWithTax = Type.Optional(
  strict(sums, {
    title: 'PayoutTotalWithTax',
    description: 'only if commissions are net, or something is withheld: sums of what leaves the bank',
  }),
);

/** The same of a line. */
export const lineWithTax = Type.Optional(
  strict(
    {
      ...sums,
      returned_amount: { ...amount, description: 'what came back to the bank' },
      tax_category: nullable(taxCategory),
      tax_rate: nullable(Type.Integer({ description: 'hundredths of a percent: 1900 = 19 %' })),
      exemption: nullable(Type.String({ description: 'why no tax is due' })),
      withholding_rate: nullable(
        Type.Integer({ description: 'hundredths of a percent: 2400 = 24 %; null: nothing is withheld' }),
      ),
      reason: nullable(
        Type.Enum(Object.keys(NO_TAX_REASONS) as NoTaxReason[], {
          title: 'NoTaxReason',
          description: `why it has no tax, if no category applies. ${Object.entries(NO_TAX_REASONS)
            .map(([name, meaning]) => `${name}: ${meaning}`)
            .join('; ')}`,
        }),
      ),
    },
    {
      title: 'PayoutLineWithTax',
      description:
        'only if the commissions are net, or something is withheld: sums of what leaves the bank. The tax is fixed when the payout is created',
    },
  ),
);

/** What leaves the bank for a line `t` that is paid: SQL. */
export const duePaid = (t: string): string =>
  `${t}.amount - ${t}.carried_amount + ${t}.tax_amount - ${t}.carried_tax_amount`;
/** What came back of a line `t`: SQL. */
export const cameBack = (t: string): string => `${t}.returned_amount + ${t}.returned_tax_amount`;

/**
 * The tax on an amount by these terms, in minor units, below zero if it is withheld: SQL. Rounded half up, as on an invoice (EN 16931,
 * BR-CO-17).
 */
export const taxOn = (net: string, terms: string): string => {
  const at = (rate: string) => `div(${net} * coalesce((${terms} ->> '${rate}')::numeric, 0) + 5000, 10000)`;
  return `(${at('rate')} - ${at('withholding_rate')})::int8`;
};

/** The terms of a line from which is withheld: SQL. */
export const WITHHOLDING_TERMS = `jsonb_build_object('withholding_rate', ${BACKUP_WITHHOLDING_RATE})`;
/** Whether the amounts of a line `t` are without a tax on top: SQL. An invoice of any other line includes the tax. */
export const isNet = (t: string): string => `(${t}.tax_terms ? 'withholding_rate') is false`;
/** The tax on top in a tax: SQL. */
export const onTop = (tax: string): string => `greatest(${tax}, 0)`;
/** What is withheld in a tax: SQL. */
export const withheld = (tax: string): string => `greatest(-(${tax}), 0)`;

/**
 * The part of what is owed in a payment with its tax, out of a line that has `net` and `tax` left: SQL. In proportion, rounded half up, and
 * at least 1 unit of what is owed on each side; all of it when the payment is all that is left.
 */
export const netPartOf = (payment: string, net: string, tax: string): string => `case
  when ${tax} = 0 then ${payment}
  when ${payment} = ${net} + ${tax} then ${net}
  else least(greatest(div(2 * ${payment}::numeric * ${net} + ${net} + ${tax}, 2 * (${net} + ${tax})::numeric)::int8, 1), ${net} - 1) end`;

/**
 * A subquery `(terms)` of the first rule of the account `o` that fits the tax profile `x` (null = none), to join as `rule` where the
 * condition holds: SQL. Nothing is read where it does not hold.
 */
export const taxRule = (condition: string): string => `(
  select jsonb_build_object('category', r.rule -> 'category', 'rate', r.rule -> 'rate', 'exemption', r.rule -> 'exemption') as terms
  from jsonb_array_elements(o.invoicing -> 'rules') with ordinality as r (rule, place)
  where ${condition} and (r.rule ->> 'country' is null or r.rule ->> 'country' = x.country)
    and (r.rule ->> 'legal_type' is null or r.rule ->> 'legal_type' = x.legal_type)
    and (r.rule ->> 'has_vat_id' is null or (r.rule ->> 'has_vat_id')::boolean = coalesce(x.tax_id_type = 'vat', false))
  order by r.place limit 1)`;

const without = (reason: NoTaxReason): string => `'{"reason": "${reason}"}'::jsonb`;

/**
 * The terms by which an affiliate with the tax profile `x` (null = none) is invoiced on a day (`YYYY-MM-DD`) by the account `o`: SQL of a
 * jsonb `TaxTerms`. `terms` are those of the rule, or null.
 */
export const taxTerms = (day: string, terms = 'rule.terms'): string => `case
  when o.invoicing is null or o.tax_profile is null then ${without('no_invoicing')}
  when x.self_billing is null or (x.self_billing ->> 'agreed_on') collate "C" > ${day} then ${without('no_agreement')}
  when (x.self_billing ->> 'expires_on') collate "C" < ${day} then ${without('agreement_expired')}
  when ${terms} is null then ${without('no_rule')}
  -- EN 16931: BR-S-02, BR-Z-02, BR-E-02 and BR-AE-02; a tax id that was lost with the secret key has no number
  when ${terms} ->> 'category' <> 'O' and (x.number is null or x.tax_id_type is null or x.tax_id_type not in ('vat', 'other')
    or ${terms} ->> 'category' = 'AE' and (x.tax_id_type <> 'vat' or o.tax_profile ->> 'vat_id' is null))
  then ${without('no_tax_id')}
  else ${terms} end`;

/** The JSON of the row `row` with the field `with_tax`, or without it if it has no tax: SQL. `tax` is SQL of its JSON. */
export const withTax = (
  row: string,
  tax: string,
  hasNone = `${tax} is null`,
): string => `case when ${hasNone} then row_to_json(${row})
  else (left(row_to_json(${row})::text, -1) || ',"with_tax":' || (${tax})::text || '}')::json end`;

/** The JSON of the row `row` of a line `t` as by `withTax`. `paid` and `returned` are SQL of the sums with the tax. */
export const lineWithTaxJson = (row: string, t: string, paid: string, returned: string): string =>
  withTax(
    row,
    `json_build_object('amount', ${t}.amount + ${t}.tax_amount, 'tax_amount', ${onTop(`${t}.tax_amount`)},
    'withheld_amount', ${withheld(`${t}.tax_amount`)}, 'paid_amount', ${paid},
    'returned_amount', ${returned}, 'tax_category', ${t}.tax_terms -> 'category', 'tax_rate', ${t}.tax_terms -> 'rate',
    'exemption', ${t}.tax_terms -> 'exemption', 'withholding_rate', ${t}.tax_terms -> 'withholding_rate',
    'reason', ${t}.tax_terms -> 'reason')`,
    `${t}.tax_terms is null`,
  );

/** `with_tax` of totals: the query of currency, json and amount by currency, over the lines in a table expression. `paid` is their sum. */
export const sumsWithTax = (lines: Sql, paid: Sql): Sql => sql`
  select currency, sum(amount + tax_amount) as amount,
         json_build_object('amount', sum(amount + tax_amount), 'tax_amount', sum(${raw(onTop('tax_amount'))}),
           'withheld_amount', sum(${raw(withheld('tax_amount'))}), 'paid_amount', ${paid}) as json
  from ${lines} group by currency having bool_or(tax_terms is not null)`;
