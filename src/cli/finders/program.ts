import type { Client } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const PROGRAM_HELP = 'its id (such as 3), or its name';

/** The id of the program with an id or a name; digits are an id. Throws CommandError if there is none. */
export async function findProgram(client: Client, reference: string): Promise<number> {
  if (/^[1-9]\d{0,14}$/.test(reference)) return Number(reference);
  for await (const { id, name } of client.programs.list()) if (name === reference) return id;
  throw new CommandError(`there is no program ${reference}: payhook programs list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
