import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import sql, { raw } from 'sql-template-tag';
import { settingsOfLogin } from '../db/citus.ts';
import type { ConnectionTarget } from '../db/connect.ts';
import { type Database, oneRow, rows, type Tx } from '../db/database.ts';
import { codeOf } from '../db/faults.ts';
import { CellError } from './accounts.ts';

/*
 * On a node of Citus only a login can select the schema of its cell, so each cell there has a login of its own. The command that
 * adds the cell creates it, if the login that it is given may do that.
 */

/** Citus copies roles and their settings to all nodes, and a schema is not placed before it has its tables. */
const DURING_CREATION = [
  'citus.enable_ddl_propagation = on',
  'citus.enable_create_role_propagation = on',
  'citus.enable_alter_role_propagation = on',
  'citus.enable_alter_role_set_propagation = on',
  'citus.enable_schema_based_sharding = off',
];
const INSUFFICIENT_PRIVILEGE = '42501';
const ITERATIONS = 4096; // as PostgreSQL

/** A login of a cell. Its schema has the same name. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/** A login with a random password. */
export const newLogin = (name: string): Login => ({ name, password: randomBytes(24).toString('base64url') });

/** The URL of a target, with another login. Throws CellError if it names several servers, or none before the path. */
export function urlWith(
  target: ConnectionTarget | readonly ConnectionTarget[],
  { name, password }: Login,
): string {
  const [only, ...others] = [target].flat();
  if (only === undefined || !('connectionString' in only) || others.length > 0)
    throw new CellError('DATABASE_URL names several servers: give cells add the URL of the coordinator');
  const url = new URL(only.connectionString);
  for (const parameter of ['user', 'password']) url.searchParams.delete(parameter);
  url.username = name;
  url.password = password;
  if (url.username !== name)
    throw new CellError(
      'the URL must name its server before the path: each cell on a node gets a login there',
    );
  return url.href;
}

/**
 * Creates the login and the schema of a cell, on the coordinator of Citus and all its nodes. If an earlier run created them, the
 * login gets the new password. Throws CellError if the role or the schema belongs to something else, or the login of the
 * database may not create them.
 */
export async function createLogin(
  db: Database,
  login: Login,
  { number, installation }: { readonly number: number; readonly installation: string },
): Promise<void> {
  const { name } = login;
  const purpose = `Payhook: cell ${number} of installation ${installation}`;
  const { comment, owner } = await findPlace(db, name);
  if (comment === null ? await isOnAnyNode(db, name) : comment !== purpose)
    throw new CellError(
      `the role ${name} exists already, and was not created for cell ${number}: choose another --schema, or drop the role on every server`,
    );
  if (owner !== null && owner !== name)
    throw new CellError(`the schema ${name} exists already and belongs to ${owner}: choose another --schema`);
  const role = pg.escapeIdentifier(name);
  const [first = '', ...others] = statementsFor(comment === null ? 'CREATE' : 'ALTER', {
    name,
    password: verifierOf(login.password),
  });
  try {
    await db.transaction(async (tx) => {
      for (const setting of DURING_CREATION) await run(tx, `SET LOCAL ${setting}`);
      await run(tx, first);
      await run(tx, `COMMENT ON ROLE ${role} IS ${pg.escapeLiteral(purpose)}`);
      // without being a superuser, only a member creates a schema for a role
      await run(tx, `GRANT ${role} TO CURRENT_USER`);
      for (const statement of others) await run(tx, statement);
      if (owner === null) await run(tx, schemaOf(name));
      await run(tx, `REVOKE ${role} FROM CURRENT_USER`);
    });
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new CellError(
      `${(error as Error).message}. Citus places each cell on a node, where only a login of its own can select the schema, and the ` +
        `login of the URL may not create one with its schema. Let an administrator run on the coordinator:\n` +
        `${[...statementsFor('CREATE', { name, password: '…' }), schemaOf(name)].join(';\n')};\nThen add each cell by the URL of its login, without --schema: ` +
        `payhook cells add postgres://${name}:…@coordinator/database`,
    );
  }
}

/** What creates a login with its settings, or changes them. */
const statementsFor = (verb: 'CREATE' | 'ALTER', { name, password }: Login): string[] => {
  const role = pg.escapeIdentifier(name);
  return [
    `${verb} ROLE ${role} LOGIN PASSWORD '${password}'`,
    ...settingsOfLogin(name).map((setting) => `ALTER ROLE ${role} SET ${setting}`),
  ];
};

const schemaOf = (name: string) => {
  const role = pg.escapeIdentifier(name);
  return `CREATE SCHEMA ${role} AUTHORIZATION ${role}`;
};

const run = (tx: Tx, statement: string) => rows(tx, raw(statement));

/** The comment on the role of a name ('' without one), and the owner of the schema; null = there is none. */
const findPlace = (db: Database, name: string) =>
  oneRow<{ comment: string | null; owner: string | null }>(
    db.reader,
    sql`select
          (select coalesce(shobj_description(oid, 'pg_authid'), '') from pg_roles where rolname = ${name}) as comment,
          (select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = ${name}) as owner`,
  );

/** Whether a node has the role. There Citus would change it instead of creating it. */
async function isOnAnyNode(db: Database, name: string): Promise<boolean> {
  const { found } = await oneRow<{ found: boolean }>(
    db.reader,
    sql`select exists (
          select from run_command_on_workers(format('select to_regrole(%L) is not null', quote_ident(${name}::text)))
          where result = 't') as found`,
  );
  return found;
}

/** What PostgreSQL stores of a password (RFC 5802). Statements contain it instead of the password, which no log then has. */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
