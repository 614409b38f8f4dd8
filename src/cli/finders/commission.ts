import type { Client, Commission } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const COMMISSION_HELP = 'its id (com_…), or its external_id';

/** The commission with an id or an external_id. Throws CommandError or ApiError if there is none. */
export async function findCommission(client: Client, reference: string): Promise<Commission> {
  if (/^com_[0-9a-f]{32}$/.test(reference)) return client.commissions.get(reference);
  const { data } = await client.commissions.list({ external_id: reference });
  const [found] = data;
  if (found) return found;
  throw new CommandError(`there is no commission ${reference}: payhook commissions list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
