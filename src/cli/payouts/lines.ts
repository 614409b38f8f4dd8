import type { Client, Payout, PayoutLine } from '../../client/client.ts';
import { startCounter } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** All lines of a payout, page by page. */
export async function linesOf(
  client: Client,
  payout: Payout,
  terminal: Terminal,
): Promise<readonly PayoutLine[]> {
  if (payout.affiliates !== null) return payout.affiliates;
  const lines: PayoutLine[] = [];
  const progress = await startCounter(terminal, 'reading affiliates', payout.affiliate_count);
  try {
    for await (const line of client.payouts.affiliates(payout.id)) {
      lines.push(line);
      progress.update(lines.length);
    }
    return lines;
  } finally {
    progress.stop();
  }
}
