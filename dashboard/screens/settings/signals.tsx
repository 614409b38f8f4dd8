import type { Account } from '../../../src/client/api.ts';
import {
  SIGNAL_ACTIONS,
  SIGNAL_RULE_NAMES,
  SIGNAL_RULES,
  type SignalAction,
  type SignalNumber,
  type SignalRule,
  signalRule,
} from '../../../src/terms/payout-signals.ts';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { settings } from '../../texts/settings.ts';
import { type Amounts, AmountsField, amountsOf, minorOf } from './amounts.tsx';

const texts = settings.account.signals;

/** The setting of a rule during editing. */
interface TypedRule {
  readonly action: SignalAction;
  readonly amounts?: Amounts;
  readonly numbers: Readonly<Partial<Record<SignalNumber['name'], string>>>;
}
export type TypedSignals = Readonly<Record<SignalRule, TypedRule>>;

const numbersOf = (name: SignalRule): readonly SignalNumber[] => signalRule(name).numbers ?? [];

/** The settings of an account as they are edited. */
export const typedSignals = ({ payout_signals }: Account): TypedSignals =>
  Object.fromEntries(
    SIGNAL_RULE_NAMES.map((name): [SignalRule, TypedRule] => {
      const { action, amounts, ...numbers } = payout_signals[name] as {
        action: SignalAction;
        amounts?: Readonly<Record<string, number>>;
      } & Partial<Record<SignalNumber['name'], number>>;
      return [
        name,
        {
          action,
          ...(amounts ? { amounts: amountsOf(amounts) } : {}),
          numbers: Object.fromEntries(
            Object.entries(numbers).map(([field, value]) => [field, String(value)]),
          ),
        },
      ];
    }),
  ) as TypedSignals;

const isNumberGood = ({ minimum, maximum }: SignalNumber, text: string) =>
  /^\d{1,6}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;

/** The settings to send; null when a number or an amount is invalid. */
export function signalsFrom(typed: TypedSignals): Account['payout_signals'] | null {
  const rules = SIGNAL_RULE_NAMES.map((name) => {
    const { action, amounts, numbers } = typed[name];
    const limits = amounts && minorOf(amounts);
    const isGood = numbersOf(name).every((each) => isNumberGood(each, numbers[each.name] ?? ''));
    if (limits === null || !isGood) return null;
    const whole = Object.entries(numbers).map(([field, text]) => [field, Number(text)]);
    return [name, { action, ...(limits ? { amounts: limits } : {}), ...Object.fromEntries(whole) }];
  });
  return rules.includes(null)
    ? null
    : (Object.fromEntries(rules.filter((rule) => rule !== null)) as Account['payout_signals']);
}

/** What is looked for in payouts because it may point to fraud. */
export function SignalsFields({
  typed,
  onChange,
}: {
  typed: TypedSignals;
  onChange: (typed: TypedSignals) => void;
}) {
  const set = (name: SignalRule, next: Partial<TypedRule>) =>
    onChange({ ...typed, [name]: { ...typed[name], ...next } });
  return (
    <Card title={texts.title}>
      <p className="hint">{texts.hint}</p>
      {SIGNAL_RULE_NAMES.map((name) => {
        const { action, amounts, numbers } = typed[name];
        return (
          <div key={name}>
            <SelectField
              label={texts.rule(SIGNAL_RULES[name].label)}
              hint={texts.meanings[name]}
              value={action}
              options={optionsOf(SIGNAL_ACTIONS, texts.actions)}
              onChange={(chosen) => set(name, { action: chosen })}
            />
            {action !== 'off' &&
              numbersOf(name).map((each) => (
                <TextField
                  key={each.name}
                  label={texts.numbers[each.name]}
                  value={numbers[each.name] ?? ''}
                  onChange={(text) => set(name, { numbers: { ...numbers, [each.name]: text } })}
                  problem={
                    isNumberGood(each, numbers[each.name] ?? '')
                      ? null
                      : texts.badNumber(each.minimum, each.maximum)
                  }
                />
              ))}
            {action !== 'off' && amounts && (
              <AmountsField
                hint={texts.amounts[name as keyof typeof texts.amounts]}
                amounts={amounts}
                onChange={(next) => set(name, { amounts: next })}
              />
            )}
          </div>
        );
      })}
    </Card>
  );
}
