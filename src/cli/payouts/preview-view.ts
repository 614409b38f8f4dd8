import type {
  ListRequest,
  Page,
  PayoutLine,
  PayoutPreview,
  PayoutPreviewExclusion,
  PayoutSignal,
} from '../../client/client.ts';
import { LONGEST_EMAIL, LONGEST_NAME } from '../affiliates/view.ts';
import { count, decimal } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';
import { describeSignals } from './signal-view.ts';
import { describeSums, join, lineTable } from './view.ts';

const MOST_SHOWN = 1000;

/** The first 1,000 records of a list. */
export async function firstOf<Item>(list: ListRequest<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of list) {
    found.push(item);
    if (found.length === MOST_SHOWN) break;
  }
  return found;
}

/** A preview as text: who gets how much, who is left out and why, and what would have to change. */
export function describePreview(
  preview: PayoutPreview,
  shown: {
    readonly lines: readonly PayoutLine[];
    readonly leftOut: readonly PayoutPreviewExclusion[];
    readonly signals: Page<PayoutSignal> | null;
  },
  terminal: Terminal,
): string {
  const { lines, leftOut, signals } = shown;
  return join([
    describeSums(preview, terminal),
    lines.length === 0 ? '' : lineTable(lines, terminal) + restOf(preview.affiliate_count, lines.length),
    leftOut.length === 0 ? '' : leftOutTable(leftOut, terminal) + restOfLeftOut(preview, leftOut.length),
    describeSignals(signals, null, terminal),
  ]);
}

const restOf = (total: number, shown: number) =>
  total > shown
    ? `and ${count(total - shown, 'affiliate')} more: narrow them down with --filter and --search\n`
    : '';

function restOfLeftOut({ excluded }: PayoutPreview, shown: number): string {
  if (shown < MOST_SHOWN) return '';
  const reasons = excluded.map(({ reason, affiliate_count: n }) => `${n} ${reason.replaceAll('_', ' ')}`);
  return `the first ${MOST_SHOWN} of them; in total: ${reasons.join(', ')}\n`;
}

function leftOutTable(leftOut: readonly PayoutPreviewExclusion[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'AFFILIATE', right: true },
      { heading: 'NAME', most: LONGEST_NAME },
      { heading: 'E-MAIL', most: LONGEST_EMAIL },
      { heading: 'AMOUNT', right: true },
      { heading: 'CURRENCY' },
      { heading: 'LEFT OUT' },
      { heading: 'PAID WHEN' },
    ],
    leftOut.map((one) => [
      String(one.affiliate_id),
      one.name ?? '',
      one.email,
      decimal(one),
      one.currency.toUpperCase(),
      one.reason.replaceAll('_', ' '),
      remedyOf(one),
    ]),
    paint.faint,
  );
}

/** What would have to change to include an affiliate who is left out. */
function remedyOf(one: PayoutPreviewExclusion): string {
  switch (one.reason) {
    case 'below_minimum': {
      const minimum = decimal({ amount: one.minimum_payout ?? 0, currency: one.currency });
      return `at ${minimum} ${one.currency.toUpperCase()}, or with --ignore-minimum`;
    }
    case 'negative_balance':
      return 'new commissions exceed the negative balance';
    case 'on_hold':
      return one.available_at === null
        ? 'the review ends: payhook commissions unhold'
        : `the hold ends, first on ${shortTime(one.available_at)} (UTC)`;
    case 'affiliate_inactive':
      return 'the affiliate is active, or with --filter affiliate_status=inactive';
    case 'form_missing':
    case 'form_expired':
      return 'a valid W-9 or W-8 is recorded: payhook affiliates tax set';
    default:
      return 'payouts are resumed: payhook affiliates change --ready';
  }
}
