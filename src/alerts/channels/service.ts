import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { type AddressRules, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type AlertChannelId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { nameFrom } from '../../kernel/names.ts';
import type { Vault } from '../../kernel/vault.ts';
import { ALERT_KINDS } from '../../notices/kinds.ts';
import { hostOf } from '../../notices/notices.ts';
import { newSecretFor } from '../../webhooks/signing/schemes.ts';
import type { AlertTest } from '../settings/record.ts';
import { sendTest } from '../settings/service.ts';
import {
  type AlertChannel,
  type AlertChannelChange,
  type AlertChannelInput,
  type NewAlertChannel,
  withSecret,
} from './record.ts';
import { deleteRow, insertChannel, lockAndCount, lockTarget, readChannel, updateChannel } from './store.ts';
import { openTarget, sealTarget } from './target.ts';

const MOST_CHANNELS = 20;

/** The caller, and what is needed to handle URLs. */
interface Caller {
  readonly account: AccountId;
  readonly vault: Vault;
  readonly addresses: AddressRules;
}

const missing = () => fail('resource_missing', 'no such alert channel');

function uuidOfChannel(id: string): AlertChannelId {
  const uuid = uuidOf('alc', id);
  if (uuid === null) throw missing();
  return uuid;
}

/** The record of a channel. Throws `resource_missing`. */
export async function getChannel(db: Reader, account: AccountId, id: string): Promise<Json<AlertChannel>> {
  const json = await readChannel(db, account, uuidOfChannel(id));
  if (json === null) throw missing();
  return json;
}

function checkUrl(url: string, addresses: AddressRules): void {
  const refusal = refusalOfUrl(url, addresses);
  if (refusal !== null) throw fail('invalid_url', `url must ${refusal}`);
}

/**
 * Creates a channel. The response has the secret of a webhook. Throws `invalid_url`, `invalid_body`, `too_many_channels`.
 */
export async function createChannel(
  tx: Tx,
  caller: Caller,
  { name, format, url, kinds = ALERT_KINDS }: AlertChannelInput,
): Promise<Json<NewAlertChannel>> {
  const { account, addresses } = caller;
  checkUrl(url, addresses);
  const { count, id } = await lockAndCount(tx, account);
  if (count >= MOST_CHANNELS) {
    throw fail(
      'too_many_channels',
      `the account has ${MOST_CHANNELS} alert channels, which is the maximum: delete one first`,
    );
  }
  const secret = format === 'webhook' ? newSecretFor('standard') : null;
  await insertChannel(tx, account, id, {
    name: nameFrom(name),
    format,
    target: sealTarget(caller, id, { url, secret }, await sealingKey(tx)),
    host: hostOf(url),
    kinds,
  });
  const json = await readChannel(tx, account, id);
  if (json === null) throw missing();
  return withSecret(json, secret);
}

/** Changes the given fields and keeps the secret. Throws `resource_missing`, `invalid_url`, `invalid_body`. */
export async function changeChannel(
  tx: Tx,
  caller: Caller,
  id: string,
  { name, url, kinds }: AlertChannelChange,
): Promise<Json<AlertChannel>> {
  const { account, addresses } = caller;
  const uuid = uuidOfChannel(id);
  const before = await lockTarget(tx, account, uuid);
  if (before === null) throw missing();
  if (url !== undefined) checkUrl(url, addresses);
  const target = url !== undefined && {
    target: sealTarget(caller, uuid, { ...openTarget(caller, uuid, before), url }, await sealingKey(tx)),
    host: hostOf(url),
  };
  const columns = {
    ...(name === undefined ? {} : { name: nameFrom(name) }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(target || {}),
  };
  if (Object.keys(columns).length > 0) await updateChannel(tx, account, uuid, columns);
  return getChannel(tx, account, id);
}

/** Deletes a channel and its waiting alerts. Throws `resource_missing`. */
export async function deleteChannel(tx: Tx, account: AccountId, id: string): Promise<void> {
  if (!(await deleteRow(tx, account, uuidOfChannel(id)))) throw missing();
}

/** Sends a test to a channel. Throws `resource_missing`. */
export async function testChannel(tx: Tx, account: AccountId, id: string): Promise<Json<AlertTest>> {
  const uuid = uuidOfChannel(id);
  if ((await lockTarget(tx, account, uuid)) === null) throw missing();
  return sendTest(tx, account, { channel: uuid });
}
