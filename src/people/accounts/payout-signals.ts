import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { amounts, strict } from '../../contract/schemas.ts';
import {
  DEFAULT_SIGNALS,
  defaultSetting,
  SIGNAL_ACTIONS,
  type SignalNumber,
  type SignalRule,
  type SignalSetting,
  signalRule,
} from '../../terms/payout-signals.ts';

const action = Type.Enum([...SIGNAL_ACTIONS], {
  title: 'SignalAction',
  description:
    'off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody has reviewed it',
});

const limits = (name: SignalRule) => amounts(signalRule(name).amounts?.meaning ?? '');
function number(name: SignalRule, field: SignalNumber['name']) {
  const found = signalRule(name).numbers?.find((each) => each.name === field);
  if (found === undefined) throw new Error(`${name} has no ${field}`);
  const { minimum, maximum, meaning } = found;
  return Type.Integer({ minimum, maximum, description: meaning });
}

const FIELDS = {
  destination_changed: { action },
  shared_destination: { action },
  first_payout_above: { action, amounts: limits('first_payout_above') },
  amount_above_history: {
    action,
    amounts: limits('amount_above_history'),
    times: number('amount_above_history', 'times'),
  },
  imported_together: {
    action,
    affiliates: number('imported_together', 'affiliates'),
    days: number('imported_together', 'days'),
  },
} satisfies Readonly<Record<SignalRule, TProperties>>;

/** What is looked for in payouts. */
export const payoutSignals = strict(
  {
    destination_changed: strict(FIELDS.destination_changed, { title: 'SignalSetting' }),
    shared_destination: strict(FIELDS.shared_destination, { title: 'SignalSetting' }),
    first_payout_above: strict(FIELDS.first_payout_above, { title: 'SignalLimit' }),
    amount_above_history: strict(FIELDS.amount_above_history, { title: 'SignalHistory' }),
    imported_together: strict(FIELDS.imported_together, { title: 'SignalImport' }),
  },
  { title: 'PayoutSignals', description: 'what is looked for in payouts because it may point to fraud' },
);

const optional = <Fields extends TProperties>(name: SignalRule, fields: Fields) =>
  Type.Optional(
    Type.Partial(strict(fields) as TObject<Fields>, {
      additionalProperties: false,
      description: signalRule(name).meaning,
    }),
  );

/** The input. */
export const payoutSignalsInput = strict(
  {
    destination_changed: optional('destination_changed', FIELDS.destination_changed),
    shared_destination: optional('shared_destination', FIELDS.shared_destination),
    first_payout_above: optional('first_payout_above', FIELDS.first_payout_above),
    amount_above_history: optional('amount_above_history', FIELDS.amount_above_history),
    imported_together: optional('imported_together', FIELDS.imported_together),
  },
  { description: 'replaces the settings of all rules: what is missing has its default' },
);
type PayoutSignalsInput = Static<typeof payoutSignalsInput>;

/** The rules as they are stored. `readAmounts` checks amounts by currency, and names the field that is wrong. */
export function payoutSignalsFrom(
  input: PayoutSignalsInput,
  readAmounts: (field: string, amounts: Readonly<Record<string, number>>) => Record<string, number>,
): Partial<Record<SignalRule, SignalSetting>> {
  const given = Object.entries(input) as [SignalRule, Partial<SignalSetting>][];
  return Object.fromEntries(
    given.map(([name, setting]) => [
      name,
      {
        ...defaultSetting(name),
        ...setting,
        ...(setting.amounts
          ? { amounts: readAmounts(`payout_signals.${name}.amounts`, setting.amounts) }
          : {}),
      },
    ]),
  );
}

/** The column of an account `a` with the settings of all rules. */
export const payoutSignalsColumn = `'${JSON.stringify(DEFAULT_SIGNALS)}'::jsonb || a.payout_signals`;
