import type { Client } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const USER_HELP = 'the id (usr_…) or the e-mail address';

/** The id of the user with an id or an e-mail address; an id is not looked up. Throws CommandError. */
export async function findUser(client: Client, reference: string): Promise<string> {
  if (reference.startsWith('usr_')) return reference;
  const [user] = (await client.users.list({ email: reference })).data;
  if (user) return user.id;
  throw new CommandError(
    `there is no user with the e-mail address ${reference}: payhook users list shows them`,
    { code: 'not_found', reason: 'resource_missing' },
  );
}
