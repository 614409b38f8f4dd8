import { writable } from '../../contract/fields.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type EndpointId, idOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';
import { ENDPOINT_FIELDS } from './fields.ts';
import { pullColumns } from './pull.ts';
import {
  asChanged,
  type EndpointChange,
  type EndpointConfiguration,
  type WebhookEndpoint,
} from './record.ts';
import {
  type Caller,
  type ChangedEndpoint,
  changeEndpoint,
  createEndpoint,
  getEndpoint,
  missingEndpoint,
} from './service.ts';
import { endpointRow, idByExternalId, lockOthers } from './store.ts';

/** The record of the endpoint with this external_id. Throws `resource_missing`. */
export async function getByExternalId(
  db: Reader,
  caller: Parameters<typeof getEndpoint>[1],
  externalId: string,
): Promise<Json<WebhookEndpoint>> {
  const endpoint = await idByExternalId(db, caller.account, externalId);
  if (endpoint === null) throw missingEndpoint();
  return getEndpoint(db, caller, idOf('we', endpoint));
}

/** An endpoint that was configured; a new one with its secret. */
interface Configured extends ChangedEndpoint {
  readonly isNew: boolean;
}

/**
 * Gives the endpoint with this external_id exactly this configuration, or creates it. Two at once create one endpoint. Throws as
 * `createEndpoint` and `changeEndpoint`.
 */
export async function putEndpoint(
  tx: Tx,
  caller: Caller,
  externalId: string,
  input: EndpointConfiguration,
): Promise<Configured> {
  const endpoint = await findOrReserve(tx, caller.account, externalId);
  if (endpoint === null) {
    if (!isIdentifier(externalId)) throw fail('invalid_body', `external_id ${IDENTIFIER_RULE}`);
    if ([...externalId].length > 255)
      throw fail('invalid_body', 'external_id must have at most 255 characters');
    const json = await createEndpoint(tx, caller, { ...input, external_id: externalId });
    return { isNew: true, json: asChanged(json), dropped: [] };
  }
  const row = await endpointRow(tx, caller.account, endpoint);
  if (row === null) throw missingEndpoint();
  const { delivery = 'push', ...configuration } = input;
  if ((delivery === 'pull') !== row.pull)
    throw fail('invalid_body', 'delivery cannot be changed: delete the webhook endpoint first');
  pullColumns(input); // refuses what a new endpoint must have, or cannot have
  const change = wholeChange(configuration, row.header_names);
  return { isNew: false, ...(await changeEndpoint(tx, caller, idOf('we', endpoint), change)) };
}

/** The endpoint with this external_id; null = there is none, and nobody else makes one until the transaction ends. */
async function findOrReserve(tx: Tx, account: AccountId, externalId: string): Promise<EndpointId | null> {
  const found = await idByExternalId(tx, account, externalId);
  if (found !== null) return found;
  await lockOthers(tx, account);
  return idByExternalId(tx, account, externalId);
}

/** What is not configuration: what runs at the moment, who confirmed an address, and secrets, which cannot be read back and compared. */
const KEPT = ['status', 'contact_email', 'secret', 'second_signature', 'delivery'];
/** Whether it is given depends on `signing`. */
const OF_SIGNING = 'custom_signing';
const DEFAULTS = Object.fromEntries(
  writable(ENDPOINT_FIELDS).flatMap(([name, field]) =>
    [...KEPT, OF_SIGNING, 'url', 'external_id', 'headers'].includes(name)
      ? []
      : [[name, 'default' in field ? field.default : null]],
  ),
);

/** The change to exactly this configuration: what is left out gets the value of a new endpoint, and other headers are removed. */
function wholeChange(
  input: Omit<EndpointConfiguration, 'delivery'>,
  headerNames: readonly string[],
): EndpointChange {
  const given = Object.keys(input.headers ?? {}).map((name) => name.toLowerCase());
  const removed = headerNames.filter((name) => !given.includes(name)).map((name) => [name, null]);
  return { ...DEFAULTS, ...input, headers: { ...Object.fromEntries(removed), ...input.headers } };
}
