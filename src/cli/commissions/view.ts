import type { Commission, Refund } from '../../client/client.ts';
import { COMMISSION_FIELDS } from '../../client/fields.ts';
import { describeFields } from '../command/record-fields.ts';
import { factLines } from '../terminal/facts.ts';
import { decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Paint, Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

/** A page of commissions, one line each. The external_id is last, because it may be long. */
export function commissionTable(commissions: readonly Commission[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'OCCURRED (UTC)' },
      { heading: 'AFFILIATE', right: true },
      { heading: 'TYPE' },
      { heading: 'STATUS' },
      { heading: 'AMOUNT', right: true },
      { heading: 'CURRENCY' },
      { heading: 'EXTERNAL ID' },
    ],
    commissions.map((commission) => [
      shortTime(commission.occurred_at),
      String(commission.affiliate_id),
      commission.type,
      statusOf(commission),
      decimal(commission),
      commission.currency.toUpperCase(),
      commission.external_id,
    ]),
    paint.faint,
  );
}

/** The status as text. A commission held for review has no day on which it becomes available. */
function statusOf({ status, available_at }: Commission): string {
  return status === 'pending' && available_at === null ? 'held' : status;
}

function paintStatus(commission: Commission, paint: Paint): string {
  const { status } = commission;
  const painted = { paid: paint.good, voided: paint.bad, pending: paint.warning, unpaid: paint.warning };
  return painted[status](statusOf(commission));
}

/** `31.90 EUR`: an amount in the currency of a record. */
export function money({ currency }: { currency: string }, amount: number): string {
  return `${decimal({ amount, currency })} ${currency.toUpperCase()}`;
}

// the first lines have the type and the amount
const { type: _type, amount: _amount, currency: _currency, ...SHOWN } = COMMISSION_FIELDS;

/** One commission as text. */
export function describeCommission(commission: Commission, { paint }: Terminal): string {
  const head = [
    `${paint.strong(commission.id)}  ${commission.type}  ${paintStatus(commission, paint)}`,
    `${paint.strong(money(commission, commission.amount))}${historyOf(commission)}`,
  ];
  const at = (instant: string | null) => instant && exactTime(instant);
  return (
    head.map((line) => `${line}\n`).join('') +
    factLines([
      ...describeFields(SHOWN, commission),
      ['Reverses', commission.reverses_commission_id],
      ['Available', availableOf(commission)],
      ['Payout', commission.payout_id],
      ['Paid', at(commission.paid_at)],
      ['Voided', at(commission.voided_at)],
      ['Why', commission.void_reason],
      ['Created', `${exactTime(commission.created_at)} (UTC)`],
    ])
  );
}

function availableOf({ status, available_at }: Commission): string | null {
  if (status === 'voided' || status === 'paid') return null;
  return available_at === null
    ? 'not before its review ends: payhook commissions unhold'
    : exactTime(available_at);
}

/** The changes of the amount since the commission was created. */
function historyOf(commission: Commission): string {
  const { amount, original_amount, refunded_amount } = commission;
  const before = amount === original_amount ? '' : ` of ${money(commission, original_amount)}`;
  return before + (refunded_amount === 0 ? '' : `, ${money(commission, refunded_amount)} refunded`);
}

/** The effect of a refund, one line per commission. */
export function describeRefunds(refunds: Refund['refunds']): string {
  return refunds
    .map(({ amount, capped, commission, clawback }) => {
      const cap = capped ? ', all that was left' : '';
      const what = `${money(commission, amount)} of ${printable(commission.external_id)}${cap}`;
      if (clawback !== null) {
        const debt = money(clawback, clawback.amount);
        return `${what}: it was paid, so ${debt} goes into the next payout of affiliate ${commission.affiliate_id}\n`;
      }
      const left =
        commission.status === 'voided' ? 'it is voided' : `${money(commission, commission.amount)} is left`;
      return `${what}: ${left}\n`;
    })
    .join('');
}
