import { randomBytes } from 'node:crypto';
import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';
import { noteCommand } from './audit/service.ts';
import { IDLE } from './sessions/record.ts';

/*
 * A backup has the credentials of its instant. Those that were revoked since are valid again in the restored database, and it
 * cannot know which they are.
 */

/** What opens an account. */
export type CredentialKind =
  | 'api_key'
  | 'session'
  | 'oauth_grant'
  | 'oauth_client_secret'
  | 'user_link'
  | 'portal_link'
  | 'endpoint_token';

/** A credential that a restore brought back. */
export interface Credential {
  readonly kind: CredentialKind;
  readonly account_id: string;
  /** null = it has none: a link for a user. */
  readonly id: string | null;
  /** Of the key, the application, the user, or the owner of a portal. */
  readonly name: string | null;
}

interface Table {
  readonly kind: CredentialKind;
  /** SQL: the rows that are valid now, as `account`, `id` and `name`. */
  readonly live: Sql;
  /** SQL: ends all of them. */
  readonly end: () => Sql;
}

const liveSession = sql`s.revoked_at is null and s.expires_at > now() and s.last_seen_at > now() - ${IDLE}`;
const openPortal = sql`p.revoked_at is null and coalesce(p.ends_at, p.expires_at) > now()`;

const TABLES: readonly Table[] = [
  {
    kind: 'api_key',
    live: sql`select k.account_id as account, public_id('key', k.id) as id, k.name from api_keys k where k.revoked_at is null`,
    end: () => sql`update api_keys set revoked_at = now() where revoked_at is null`,
  },
  {
    kind: 'session',
    live: sql`select s.account_id as account, public_id('ses', s.id) as id, u.name
              from sessions s join users u on u.account_id = s.account_id and u.id = s.user_id where ${liveSession}`,
    end: () => sql`update sessions s set revoked_at = now_ms() where s.revoked_at is null`,
  },
  {
    kind: 'oauth_grant',
    live: sql`select g.account_id as account, public_id('grant', g.id) as id, a.name
              from oauth_grants g join oauth_applications a on a.id = g.application_id where g.revoked_at is null`,
    end: () =>
      sql`update oauth_grants set revoked_at = now_ms(), revoked_because = 'merchant' where revoked_at is null`,
  },
  {
    kind: 'oauth_client_secret',
    live: sql`select a.account_id as account, public_id('app', a.id) as id, a.name
              from oauth_applications a where a.secret_hash is not null and a.deleted_at is null`,
    // the hash of nothing that anybody knows: the owner makes another secret
    end: () =>
      sql`update oauth_applications set secret_hash = ${randomBytes(32)}, secret_hint = null where secret_hash is not null`,
  },
  {
    kind: 'user_link',
    live: sql`select l.account_id as account, null as id, u.name from user_links l
              left join users u on u.account_id = l.account_id and u.id = l.user_id
              where l.used_at is null and l.expires_at > now()`,
    end: () => sql`update user_links set used_at = now_ms() where used_at is null`,
  },
  {
    kind: 'portal_link',
    live: sql`select p.account_id as account, public_id('pl', p.id) as id, p.owner as name from portal_links p where ${openPortal}`,
    end: () => sql`update portal_links set revoked_at = now() where revoked_at is null`,
  },
  {
    kind: 'endpoint_token',
    live: sql`select e.account_id as account, public_id('we', e.id) as id, e.description as name
              from webhook_endpoints e where e.token_hash is not null`,
    end: () => sql`update webhook_endpoints set token_hash = null, previous_token_hash = null, previous_token_until = null
                   where token_hash is not null`,
  },
];

/** The credentials that are valid in a database, by kind, account and name. */
export async function findCredentials(tx: Tx): Promise<Credential[]> {
  const all: Credential[] = [];
  for (const { kind, live } of TABLES) {
    const found = await rows<Omit<Credential, 'kind'>>(
      tx,
      sql`select public_id('acc', account) as account_id, id, name from (${live}) c order by account, name, id`,
    );
    all.push(...found.map((one) => ({ kind, ...one })));
  }
  return all;
}

/** Ends every credential, and notes it in the audit log of each account. Passwords stay. */
export async function endCredentials(tx: Tx): Promise<void> {
  for (const { end } of TABLES) await rows(tx, end());
  const accounts = await rows<{ id: AccountId }>(tx, sql`select id from accounts`);
  for (const { id } of accounts) await noteCommand(tx, id, { action: 'endCredentials', target: null });
}
