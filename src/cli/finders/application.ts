import type { Client, OAuthApplication } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const APPLICATION_HELP = 'its id (app_…), or its name if it is unique';

/**
 * The application of this account with an id or a name. Throws CommandError if none or several have the name, and ApiError
 * if none has the id.
 */
export async function findApplication(client: Client, reference: string): Promise<OAuthApplication> {
  if (reference.startsWith('app_')) return client.oauthApplications.get(reference);
  const found: OAuthApplication[] = [];
  for await (const application of client.oauthApplications.list()) {
    if (application.name === reference) found.push(application);
  }
  const [one, ...others] = found;
  if (one === undefined) {
    throw new CommandError(
      `there is no OAuth application ${reference}: payhook oauth-applications list shows them`,
      { code: 'not_found', reason: 'resource_missing' },
    );
  }
  if (others.length === 0) return one;
  const ids = found.map(({ id }) => id).join(', ');
  throw new CommandError(`${found.length} OAuth applications have that name, choose one by its id: ${ids}`);
}
