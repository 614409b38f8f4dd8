import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { openPlatform, type Platform, type RunningServer, serve } from '../../src/app.ts';
import { createKey } from '../../src/features/api-keys/service.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { type Api, apiOf } from './api.ts';
import { type LatencyProxy, latencyProxy } from './latency.ts';

/** A server of its own on a database of its own. */
export interface World {
  /** The first account's client. */
  readonly api: Api;
  readonly url: string;
  readonly platform: Platform;
  readonly latency: LatencyProxy | undefined;
  /** What the program logged, a JSON object a line. */
  readonly log: Record<string, unknown>[];
  /** Makes another account with a key; returns its client. */
  otherAccount(name?: string): Promise<Api>;
  /** A query as superuser, to look at what is stored. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Starts a second server process' worth of program on the same database. */
  secondServer(): Promise<{ api: Api; close(): Promise<void> }>;
  /** Errors that the test provokes on purpose are allowed in the log. */
  expectErrors(): void;
  /** Stops everything; throws when the books do not balance or an error was logged. */
  close(): Promise<void>;
}

const clientOf = (database: string) => {
  const { host, port, superuser, superuserPassword } = inject('postgres');
  return new pg.Client({
    host,
    port,
    user: superuser,
    database,
    ...(superuserPassword ? { password: superuserPassword } : {}),
  });
};

async function asAdmin(statement: string): Promise<void> {
  const admin = clientOf('postgres');
  await admin.connect();
  await admin.query(statement);
  await admin.end();
}

/** Starts a world. `databaseLatencyMs` delays every message to PostgreSQL: races need it. */
export async function startWorld(
  options: { databaseLatencyMs?: number; poolSize?: number } = {},
): Promise<World> {
  const postgres = inject('postgres');
  const database = `payhook_test_${randomBytes(8).toString('hex')}`;
  await asAdmin(`create database ${database} template ${postgres.template} owner ${postgres.user}`);
  const folder = mkdtempSync(join(tmpdir(), 'payhook-world-'));
  const latency =
    options.databaseLatencyMs === undefined
      ? undefined
      : await latencyProxy(postgres, options.databaseLatencyMs);
  const target = {
    host: latency ? '127.0.0.1' : postgres.host,
    port: latency?.port ?? postgres.port,
    user: postgres.user,
    ...(postgres.password ? { password: postgres.password } : {}),
    database,
  };
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    SECRET_KEY: postgres.secretKey,
    LOG_LEVEL: 'info',
    DATABASE_POOL_SIZE: String(options.poolSize ?? 10),
  });
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'info', base: null },
    { write: (line: string) => void log.push(JSON.parse(line)) },
  );
  const open = async (): Promise<{ platform: Platform; server: RunningServer }> => {
    const platform = await openPlatform(config, { purpose: 'command', target, log: logger });
    return { platform, server: await serve(platform, { listen: { host: '127.0.0.1', port: 0 } }) };
  };
  const { platform, server } = await open();
  const inspector = clientOf(database);
  await inspector.connect();
  let errorsExpected = false;
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await inspector.query(text, values)).rows as Row[];

  return {
    api: apiOf(server.address, postgres.firstKey),
    url: server.address,
    platform,
    latency,
    log,
    query,
    async otherAccount(name = 'Other') {
      const { id } = await platform.accounts.create(name);
      const { secret } = await platform.db.transaction((tx) =>
        createKey(tx, id, { name: 'key', createdBy: 'test' }),
      );
      return apiOf(server.address, secret);
    },
    async secondServer() {
      const second = await open();
      return {
        api: apiOf(second.server.address, postgres.firstKey),
        async close() {
          await second.server.close();
          await second.platform.close();
        },
      };
    },
    expectErrors() {
      errorsExpected = true;
    },
    async close() {
      const wrong = await query<{ what: string; detail: string }>(IMBALANCES);
      await inspector.end();
      await server.close();
      await platform.close();
      await latency?.close();
      await asAdmin(`drop database ${database} with (force)`);
      rmSync(folder, { recursive: true, force: true });
      if (wrong.length > 0) throw new Error(`the books do not balance: ${JSON.stringify(wrong)}`);
      const errors = log.filter((line) => Number(line.level) >= 50);
      if (errors.length > 0 && !errorsExpected)
        throw new Error(`errors were logged: ${JSON.stringify(errors)}`);
    },
  };
}

/** Whatever must never be true of stored money (quality.md, money invariants), found by plain counting. */
export const IMBALANCES = `
  with line as (
    select t.account_id, t.payout_id, t.affiliate_id, t.currency, t.amount, t.commission_count, l.is_paid, p.status
    from payout_line_totals t join payout_lines l using (account_id, payout_id, affiliate_id)
    join payouts p on p.account_id = t.account_id and p.id = t.payout_id),
  member as (
    select account_id, payout_id, affiliate_id, currency, sum(amount) as amount, count(*) as commission_count
    from commissions where payout_id is not null group by 1, 2, 3, 4)
  select 'a line is not the sum of its commissions' as what, to_json(line)::text as detail
  from line left join member m using (account_id, payout_id, affiliate_id, currency)
  where is_paid is distinct from false
    and (m.amount is distinct from line.amount or m.commission_count is distinct from line.commission_count)
  union all
  select 'a released line still holds commissions', to_json(line)::text
  from line join member m using (account_id, payout_id, affiliate_id, currency) where is_paid = false
  union all
  select 'a commission is in a payout without a line', to_json(m)::text
  from member m where not exists (select from line where (line.account_id, line.payout_id, line.affiliate_id,
    line.currency) = (m.account_id, m.payout_id, m.affiliate_id, m.currency))
  union all
  select 'a total of a payout is not the sum of its lines', to_json(p)::text
  from payouts p
  where (select coalesce(sum((t ->> 'amount')::numeric), 0) from json_array_elements(p.totals) t)
     <> (select coalesce(sum(amount), 0) from line where line.payout_id = p.id)
     or p.commission_count <> (select coalesce(sum(commission_count), 0) from line where line.payout_id = p.id)
     or p.affiliate_count <> (select count(*) from payout_lines l where l.payout_id = p.id)
  union all
  select 'paid and released are not the whole', to_json(p)::text
  from payouts p, json_array_elements(p.totals) t
  where p.status = 'paid'
    and (t ->> 'amount')::numeric <> (t ->> 'paid_amount')::numeric + (t ->> 'released_amount')::numeric
  union all
  select 'a line is decided before its payout is paid, or not after', to_json(line)::text
  from line where (status = 'paid') <> (is_paid is not null)
  union all
  select 'two unpaid payouts', account_id::text from payouts where status = 'unpaid' group by account_id having count(*) > 1
  union all
  select 'clawbacks exceed the original', c.id::text
  from commissions c
  where c.type <> 'clawback' and c.original_amount > 0 and c.original_amount + (
    select coalesce(sum(k.original_amount), 0) from commissions k
    where k.account_id = c.account_id and k.reverses_commission_id = c.id) < 0
`;
