import type { Account } from '../../../src/client/api.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { invoices } from '../../texts/invoices.ts';
import './settings.css';

const texts = invoices.settings;
const CATEGORIES = ['S', 'Z', 'E', 'AE', 'O'] as const;
const LEGAL_TYPES = ['any', 'person', 'business'] as const;
const VAT_IDS = ['any', 'yes', 'no'] as const;

/** A rule during editing; `line` identifies it. */
interface TypedRule {
  readonly line: number;
  readonly country: string;
  readonly legalType: (typeof LEGAL_TYPES)[number];
  readonly vatId: (typeof VAT_IDS)[number];
  readonly category: (typeof CATEGORIES)[number];
  /** In percent. */
  readonly rate: string;
  readonly exemption: string;
}

/** The settings of invoices, as typed. */
export interface TypedInvoicing {
  readonly prefix: string;
  readonly rules: readonly TypedRule[];
}

/** The initial values of the form. */
export const typedInvoicing = ({ invoicing }: Account): TypedInvoicing => ({
  prefix: invoicing?.prefix ?? 'SB-',
  rules: (invoicing?.rules ?? []).map((rule, line) => ({
    line,
    country: rule.country ?? '',
    legalType: rule.legal_type ?? 'any',
    vatId: rule.has_vat_id === null ? 'any' : rule.has_vat_id ? 'yes' : 'no',
    category: rule.category,
    rate: rule.rate === 0 ? '' : String(rule.rate / 100),
    exemption: rule.exemption ?? '',
  })),
});

/** The rate in hundredths of a percent; null = not a valid tax rate. */
function rateOf(text: string): number | null {
  if (!/^\d{1,3}([.,]\d{1,2})?$/.test(text.trim())) return null;
  const rate = Math.round(Number(text.trim().replace(',', '.')) * 100);
  return rate > 0 && rate <= 10_000 ? rate : null;
}

const isTaxed = ({ category }: TypedRule) => category === 'S';
const wantsReason = ({ category }: TypedRule) => category !== 'S' && category !== 'Z';

/** Whether every rate is valid. */
export const isInvoicingGood = ({ rules }: TypedInvoicing): boolean =>
  rules.every((rule) => !isTaxed(rule) || rateOf(rule.rate) !== null);

/** The request body; null = no rule, so no invoices. The server validates it. */
export function invoicingFrom({ prefix, rules }: TypedInvoicing) {
  if (rules.length === 0) return null;
  return {
    prefix: prefix.trim().toUpperCase(),
    rules: rules.map((rule) => ({
      country: rule.country.trim() || null,
      legal_type: rule.legalType === 'any' ? null : rule.legalType,
      has_vat_id: rule.vatId === 'any' ? null : rule.vatId === 'yes',
      category: rule.category,
      rate: isTaxed(rule) ? (rateOf(rule.rate) ?? 0) : 0,
      exemption: wantsReason(rule) ? rule.exemption.trim() || null : null,
    })),
  };
}

const NEW_RULE = {
  country: '',
  legalType: 'any',
  vatId: 'any',
  category: 'S',
  rate: '',
  exemption: '',
} as const;

/** The numbering and tax rules of invoices of affiliates. */
export function InvoicingFields({
  typed: { prefix, rules },
  onChange,
}: {
  typed: TypedInvoicing;
  onChange: (typed: TypedInvoicing) => void;
}) {
  const next = Math.max(0, ...rules.map(({ line }) => line)) + 1;
  const withRules = (changed: readonly TypedRule[]) => onChange({ prefix, rules: changed });
  const moveUp = (index: number) =>
    withRules(
      rules.map((rule, at) =>
        at === index - 1 ? (rules[index] ?? rule) : at === index ? (rules[at - 1] ?? rule) : rule,
      ),
    );
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.lead}</p>
      {rules.length > 0 && (
        <TextField
          label={texts.prefix}
          hint={texts.prefixHint}
          value={prefix}
          maxLength={12}
          onChange={(text) => onChange({ prefix: text.toUpperCase(), rules })}
        />
      )}
      {rules.map((rule, index) => (
        <RuleFields
          key={rule.line}
          rule={rule}
          number={index + 1}
          onChange={(changed) => withRules(rules.map((each) => (each.line === rule.line ? changed : each)))}
          onUp={index === 0 ? undefined : () => moveUp(index)}
          onRemove={() => withRules(rules.filter(({ line }) => line !== rule.line))}
        />
      ))}
      <div className="buttons">
        <Button icon="plus" onPress={() => withRules([...rules, { ...NEW_RULE, line: next }])}>
          {texts.add}
        </Button>
      </div>
    </Card>
  );
}

function RuleFields({
  rule,
  number,
  onChange,
  onUp,
  onRemove,
}: {
  rule: TypedRule;
  number: number;
  onChange: (rule: TypedRule) => void;
  onUp: (() => void) | undefined;
  onRemove: () => void;
}) {
  const set = (next: Partial<TypedRule>) => onChange({ ...rule, ...next });
  return (
    <fieldset className="tax-rule">
      <legend>{texts.rule(number)}</legend>
      <div className="tax-rule-fields">
        <TextField
          label={texts.country}
          hint={texts.countryHint}
          value={rule.country}
          maxLength={2}
          onChange={(text) => set({ country: text.toUpperCase() })}
        />
        <SelectField
          label={texts.legalType}
          value={rule.legalType}
          options={LEGAL_TYPES.map((value) => ({ value, label: texts.legalTypes[value] }))}
          onChange={(legalType) => set({ legalType })}
        />
        <SelectField
          label={texts.vatId}
          value={rule.vatId}
          options={VAT_IDS.map((value) => ({ value, label: texts.vatIds[value] }))}
          onChange={(vatId) => set({ vatId })}
        />
        <SelectField
          label={texts.category}
          value={rule.category}
          options={CATEGORIES.map((value) => ({ value, label: texts.categories[value] }))}
          onChange={(category) => set({ category })}
        />
        {isTaxed(rule) && (
          <TextField
            label={texts.rate}
            value={rule.rate}
            problem={rule.rate === '' || rateOf(rule.rate) !== null ? null : texts.badRate}
            onChange={(rate) => set({ rate })}
          />
        )}
      </div>
      {wantsReason(rule) && (
        <TextField
          label={texts.exemption}
          hint={texts.exemptionHint}
          value={rule.exemption}
          maxLength={200}
          onChange={(exemption) => set({ exemption })}
        />
      )}
      <div className="buttons">
        {onUp && <IconButton icon="up" label={texts.up(number)} onPress={onUp} />}
        <IconButton icon="trash" label={texts.remove(number)} onPress={onRemove} />
      </div>
    </fieldset>
  );
}
