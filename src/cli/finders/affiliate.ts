import type { Client } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const AFFILIATE_HELP = 'its id (such as 7), its e-mail address, or its external_id';

/**
 * The id of the affiliate with an id, e-mail address or external_id. Digits are an id, which is not looked up. Throws
 * CommandError if there is none.
 */
export async function findAffiliate(client: Client, reference: string): Promise<number> {
  if (/^[1-9]\d{0,14}$/.test(reference)) return Number(reference);
  const byExternalId = { external_id: reference };
  for (const query of reference.includes('@') ? [{ email: reference }, byExternalId] : [byExternalId]) {
    const [found] = (await client.affiliates.list(query)).data;
    if (found) return found.id;
  }
  throw new CommandError(`there is no affiliate ${reference}: payhook affiliates list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
