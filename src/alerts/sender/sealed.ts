import sql, { raw } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { type AccountId, type AlertChannelId, type EndpointId, idOf, type UserId } from '../../kernel/ids.ts';
import { type SealedIn, SecretKeyError, sealPrefix, type Vault } from '../../kernel/vault.ts';
import { placeOfLink } from '../../notices/notices.ts';
import { placeOfTarget } from '../channels/target.ts';

/* What alerts seal under the secret key: the targets of channels, and the links of waiting messages. */

/** Condition: not sealed under the key with this fingerprint. */
const isStale = (column: string, fingerprint: string) => {
  const prefix = sealPrefix(fingerprint);
  return sql`substring(${raw(column)} for ${prefix.length}::int) <> ${prefix}::bytea`;
};

/** Whether any alert data is sealed under another key. */
export async function hasStaleAlerts(db: Reader, fingerprint: string): Promise<boolean> {
  const found = await maybeRow(
    db,
    sql`select where exists (select from alert_channels where ${isStale('target', fingerprint)})
                  or exists (select from notices where ${isStale('link', fingerprint)})`,
  );
  return found !== null;
}

interface SealedRow {
  account: AccountId;
  id: string;
  channel: AlertChannelId | null;
  recipient: UserId | EndpointId | null;
  sealed: Buffer;
}

/**
 * Reseals up to `limit` channels and links under the current key, and skips rows locked by others. Returns their number.
 * Throws SecretKeyError if a channel's target cannot be opened. A link that cannot be opened is dropped together with its
 * message.
 */
export async function resealAlerts(
  tx: Tx,
  { vault, fingerprint, limit }: { vault: Vault; fingerprint: string; limit: number },
): Promise<number> {
  const channels = await rows<SealedRow>(
    tx,
    sql`select account_id as account, id, id as channel, target as sealed from alert_channels
        where ${isStale('target', fingerprint)} order by account_id, id limit ${limit} for no key update skip locked`,
  );
  for (const { account, id, channel, sealed } of channels) {
    const place = placeOfTarget(account, channel as AlertChannelId);
    const again = vault.seal(opened(vault, sealed, place, channel), place, fingerprint);
    await rows(
      tx,
      sql`update alert_channels set target = ${again} where account_id = ${account} and id = ${id}`,
    );
  }
  const letters = await rows<SealedRow>(
    tx,
    sql`select account_id as account, id, coalesce(user_id, endpoint_id) as recipient, link as sealed from notices
        where ${isStale('link', fingerprint)} order by account_id, id limit ${limit} for no key update skip locked`,
  );
  for (const { account, id, recipient, sealed } of letters) {
    const again = resealedLink(vault, sealed, placeOfLink(account, recipient as UserId), fingerprint);
    await rows(
      tx,
      sql`update notices
          set link = ${again}, failed_at = ${again === null ? sql`now_ms()` : sql`null`},
              error = case when ${again}::bytea is null then 'its link was sealed under a secret key that is lost' else error end
          where account_id = ${account} and id = ${id}`,
    );
  }
  return channels.length + letters.length;
}

function opened(vault: Vault, sealed: Buffer, place: SealedIn, channel: AlertChannelId | null): string {
  try {
    return vault.open(sealed, place);
  } catch (error) {
    throw new SecretKeyError(
      `the URL of ${channel ? idOf('alc', channel) : 'a channel'} cannot be opened (${(error as Error).message}): delete ` +
        'that alert channel, then run this again',
    );
  }
}

function resealedLink(vault: Vault, sealed: Buffer, place: SealedIn, fingerprint: string): Buffer | null {
  try {
    return vault.seal(vault.open(sealed, place), place, fingerprint);
  } catch {
    return null;
  }
}
