import type { Client, Invoice } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const INVOICE_HELP = 'its number (such as SB-2026-000001) or its id (inv_…)';

/** The invoice or credit note with a number or an id. Throws CommandError or ApiError if there is none. */
export async function findInvoice(client: Client, reference: string): Promise<Invoice> {
  if (reference.startsWith('inv_')) return client.invoices.get(reference);
  const [found] = (await client.invoices.list({ number: reference })).data;
  if (found) return found;
  throw new CommandError(`there is no invoice ${reference}: payhook invoices list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
