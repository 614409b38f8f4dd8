import sql, { join, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { type AccountId, type EndpointId, idOf, nil } from '../../kernel/ids.ts';
import { SecretKeyError, sealPrefix, type Vault } from '../../kernel/vault.ts';
import { placeOf, type SealedPart } from '../../outbox/secrets.ts';
import { newSecretFor, readSigning } from '../signing/schemes.ts';

/*
 * What is sealed under the secret key in webhook_endpoints: signing secrets, previous secrets during an overlap, header
 * values, and how requests leave. This file moves them to another key, whether the old one is known or lost.
 */

/** An endpoint; endpoints are moved in this order. */
export interface EndpointKey {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

interface SealedRow {
  account_id: AccountId;
  id: EndpointId;
  url: string;
  signing: string | null;
  secret: Buffer;
  previous_secret: Buffer | null;
  header_names: string[];
  header_values: Buffer | null;
  egress_sealed: Buffer | null;
}

const FIRST: EndpointKey = {
  account: nil(),
  endpoint: nil(),
};

/** Rows of webhook_endpoints with something not sealed under the key. Deleted endpoints hold nothing. */
const isStale = (fingerprint: string) => {
  const prefix = sealPrefix(fingerprint);
  const differs = (column: Sql) => sql`substring(${column} for ${prefix.length}::int) <> ${prefix}::bytea`;
  const stale = [sql`secret`, sql`previous_secret`, sql`header_values`, sql`egress_sealed`].map(differs);
  return sql`deleted_at is null and (${join(stale, ' or ')})`;
};

const columns = sql`account_id, id, url, signing, secret, previous_secret, header_names, header_values, egress_sealed`;

/** Whether anything is sealed under another key. */
export async function hasStale(db: Reader, fingerprint: string): Promise<boolean> {
  const found = await maybeRow(db, sql`select from webhook_endpoints where ${isStale(fingerprint)} limit 1`);
  return found !== null;
}

/**
 * Seals the values of the next endpoints after a cursor again, at most `limit`, skipping those that another transaction has locked.
 * Returns the new cursor, null when none was left, and their number. Throws SecretKeyError when a value cannot be opened.
 */
export async function resealSlice(
  tx: Tx,
  {
    vault,
    fingerprint,
    after = FIRST,
    limit,
  }: { vault: Vault; fingerprint: string; after?: EndpointKey; limit: number },
): Promise<{ last: EndpointKey | null; count: number }> {
  const found = await rows<SealedRow>(
    tx,
    sql`select ${columns} from webhook_endpoints
        where (account_id, id) > (${after.account}, ${after.endpoint}) and ${isStale(fingerprint)}
        order by account_id, id limit ${limit} for no key update skip locked`,
  );
  const changed = found.map((row) => {
    const again = <Sealed extends Buffer | null>(sealed: Sealed, what: SealedPart) =>
      sealed &&
      vault.seal(opened(vault, row, sealed, what), placeOf(row.account_id, row.id, what), fingerprint);
    return {
      ...row,
      secret: again(row.secret, 'secret') ?? row.secret,
      previous_secret: again(row.previous_secret, 'secret'),
      header_values: again(row.header_values, 'headers'),
      egress_sealed: again(row.egress_sealed, 'egress'),
    };
  });
  await write(tx, changed);
  const last = changed.at(-1);
  return { last: last ? { account: last.account_id, endpoint: last.id } : null, count: changed.length };
}

const NAMES: Readonly<Record<SealedPart, string>> = {
  secret: 'the signing secret',
  headers: 'the header values',
  egress: 'how requests leave (proxy, client certificate and client credentials)',
};

function opened(vault: Vault, { account_id, id }: SealedRow, sealed: Buffer, what: SealedPart): string {
  try {
    return vault.open(sealed, placeOf(account_id, id, what));
  } catch (error) {
    const whose = `${NAMES[what]} of ${idOf('we', id)}`;
    throw new SecretKeyError(
      `${whose} cannot be opened (${(error as Error).message}): delete that endpoint, then run this again`,
    );
  }
}

/** What an endpoint lost with the key. */
export interface Loss extends EndpointKey {
  readonly url: string;
  /** It gets a new signing secret. */
  readonly secret: boolean;
  /** The previous secret, which was still signing, is dropped. */
  readonly previousSecret: boolean;
  /** Names of headers whose values are lost; they are no longer sent. */
  readonly headers: readonly string[];
  /** Requests leave in the usual way from now on. */
  readonly egress: boolean;
}

const isAny = (loss: Loss) => loss.secret || loss.previousSecret || loss.headers.length > 0 || loss.egress;

/** What the endpoints would lose if everything this vault cannot open were given up. */
export async function findLosses(db: Reader, vault: Vault): Promise<Loss[]> {
  const all = await rows<SealedRow>(
    db,
    sql`select ${columns} from webhook_endpoints where deleted_at is null order by account_id, id`,
  );
  return all.map((row) => lossOf(vault, row)).filter(isAny);
}

/**
 * Gives up what this vault cannot open, and seals the rest under the key with this fingerprint. Returns the
 * losses.
 */
export async function giveUp(tx: Tx, vault: Vault, fingerprint: string): Promise<Loss[]> {
  const all = await rows<SealedRow>(
    tx,
    sql`select ${columns} from webhook_endpoints where deleted_at is null order by account_id, id for no key update`,
  );
  const losses: Loss[] = [];
  const changed = all.map((row) => {
    const loss = lossOf(vault, row);
    if (isAny(loss)) losses.push(loss);
    const seal = (text: string, what: SealedPart) =>
      vault.seal(text, placeOf(row.account_id, row.id, what), fingerprint);
    const again = (sealed: Buffer, what: SealedPart) =>
      seal(vault.open(sealed, placeOf(row.account_id, row.id, what)), what);
    const values =
      row.header_values && opens(vault, row, row.header_values, 'headers') ? row.header_values : null;
    return {
      ...row,
      secret: loss.secret
        ? seal(newSecretFor(readSigning(row.signing)), 'secret')
        : again(row.secret, 'secret'),
      previous_secret:
        row.previous_secret && !loss.previousSecret ? again(row.previous_secret, 'secret') : null,
      header_names: values ? row.header_names : [],
      header_values: values && again(values, 'headers'),
      egress_sealed: row.egress_sealed && !loss.egress ? again(row.egress_sealed, 'egress') : null,
    };
  });
  await write(tx, changed);
  return losses;
}

function lossOf(vault: Vault, row: SealedRow): Loss {
  const isLost = (sealed: Buffer | null, what: SealedPart) =>
    sealed !== null && !opens(vault, row, sealed, what);
  return {
    account: row.account_id,
    endpoint: row.id,
    url: row.url,
    secret: isLost(row.secret, 'secret'),
    previousSecret: isLost(row.previous_secret, 'secret'),
    headers: isLost(row.header_values, 'headers') ? row.header_names : [],
    egress: isLost(row.egress_sealed, 'egress'),
  };
}

function opens(vault: Vault, { account_id, id }: SealedRow, sealed: Buffer, what: SealedPart): boolean {
  try {
    vault.open(sealed, placeOf(account_id, id, what));
    return true;
  } catch {
    return false;
  }
}

async function write(tx: Tx, changed: readonly SealedRow[]): Promise<void> {
  if (changed.length === 0) return;
  const json = changed.map((row) => ({
    account_id: row.account_id,
    id: row.id,
    secret: row.secret.toString('hex'),
    previous_secret: row.previous_secret?.toString('hex') ?? null,
    header_names: row.header_names,
    header_values: row.header_values?.toString('hex') ?? null,
    egress_sealed: row.egress_sealed?.toString('hex') ?? null,
  }));
  await rows(
    tx,
    sql`update webhook_endpoints e
        set secret = decode(c.secret, 'hex'), previous_secret = decode(c.previous_secret, 'hex'),
            previous_secret_until = case when c.previous_secret is not null then e.previous_secret_until end,
            previous_signing = case when c.previous_secret is not null then e.previous_signing end,
            header_names = c.header_names, header_values = decode(c.header_values, 'hex'),
            egress = case when c.egress_sealed is not null then e.egress end,
            egress_sealed = decode(c.egress_sealed, 'hex')
        from json_to_recordset(${JSON.stringify(json)}::json) as c (
          account_id uuid, id uuid, secret text, previous_secret text, header_names text[], header_values text,
          egress_sealed text)
        where e.account_id = c.account_id and e.id = c.id`,
  );
}
