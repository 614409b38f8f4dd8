import type { Client, Payout } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const REFERENCE_HELP = 'its id (po_…), its number (such as 1), or current for the unpaid one';

/** The payout with an id or a number, or `current`. Throws CommandError or ApiError if there is none. */
export async function findPayout(client: Client, reference: string): Promise<Payout> {
  if (!/^\d+$/.test(reference)) return client.payouts.get(reference);
  const number = Number(reference);
  // newest first: the requested payout is nearly always among the first
  for await (const payout of client.payouts.list({ sort: '-number' })) {
    if (payout.number === number) return client.payouts.get(payout.id);
    if (payout.number < number) break;
  }
  throw new CommandError(`there is no payout number ${reference}: payhook payouts list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
