import type { Client, Page, Payout, PayoutSignal } from '../../client/client.ts';
import { SIGNAL_RULES, signalReason } from '../../terms/payout-signals.ts';
import { LONGEST_NAME } from '../affiliates/view.ts';
import { count, decimal } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

/** Signals that the views of a preview and of a payout have at most. */
export const SIGNALS_SHOWN = 20;

/** The first signals of an unpaid payout, those that nobody has reviewed before the others; null = it has none. */
export async function signalsOf(
  client: Client,
  { id, status, signals }: Payout,
): Promise<Page<PayoutSignal> | null> {
  if (status === 'paid' || signals.length === 0) return null;
  return client.payouts.signals(id, { is_ended: false, sort: 'is_reviewed', per_page: SIGNALS_SHOWN });
}

/** What may point to fraud, a line for each signal. */
export function signalTable(signals: readonly PayoutSignal[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'AFFILIATE', right: true },
      { heading: 'NAME', most: LONGEST_NAME },
      { heading: 'AMOUNT', right: true },
      { heading: 'CURRENCY' },
      { heading: 'SIGNAL' },
      { heading: 'STATE' },
      { heading: 'REASON' },
    ],
    signals.map((signal) => [
      String(signal.affiliate_id),
      signal.name ?? '',
      decimal(signal),
      signal.currency.toUpperCase(),
      SIGNAL_RULES[signal.rule].label,
      stateOf(signal),
      signalReason(signal),
    ]),
    paint.faint,
  );
}

function stateOf({ ended_revision, reviewed_at, blocks }: PayoutSignal): string {
  if (ended_revision !== null) return `ended in revision ${ended_revision}`;
  if (reviewed_at !== null) return `reviewed ${shortTime(reviewed_at)}`;
  return blocks ? 'blocks' : '';
}

/** The first signals of a preview or an unpaid payout, with what to do; empty if there are none. */
export function describeSignals(
  page: Page<PayoutSignal> | null,
  payout: Pick<Payout, 'number'> | null,
  terminal: Terminal,
): string {
  const total = page?.pagination.total ?? 0;
  if (page === null || total === 0) return '';
  const more =
    total > page.data.length && payout !== null
      ? `All of them: payhook payouts signals ${payout.number}\n`
      : '';
  const blocks = page.data.some(({ blocks, reviewed_at }) => blocks && reviewed_at === null)
    ? 'What blocks is not paid until somebody who may approve payouts has reviewed it in the dashboard.\n'
    : '';
  return `${terminal.paint.warning('Check:')} ${count(total, 'signal')} may point to fraud:\n${signalTable(page.data, terminal)}${more}${blocks}`;
}
