import { expect, test } from 'vitest';
import { keepHouse } from '../support/chores.ts';
import { rounds } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';

/** More than a slice of a chore. */
const OLD = rounds(6000, 25_000);
const YOUNG = 7;

/** Fills a table of the account with old rows and a few recent ones. */
const FILL = {
  idempotency_keys: `insert into idempotency_keys (account_id, credential, key, request_hash, created_at, status, headers)
    select id, 'key', $2::text || n, '', now() - $2::text::interval, 204, '{}' from accounts, generate_series(1, $1::int) n`,
  sign_in_failures: `insert into sign_in_failures (subject, failed_at)
    select 'address 10.0.0.1', now() - $2::interval from generate_series(1, $1::int) n`,
  user_links: `insert into user_links (hash, account_id, purpose, expires_at)
    select uuid_send(gen_random_uuid()), id, 'setup', now() - $2::interval from accounts, generate_series(1, $1::int) n`,
  sessions: `insert into sessions (hash, csrf_token, account_id, user_id, expires_at)
    select uuid_send(gen_random_uuid()), '', u.account_id, u.id, now() - $2::interval from users u, generate_series(1, $1::int) n`,
  oauth_tokens: `insert into oauth_tokens (hash, kind, grant_id, scopes, expires_at)
    select uuid_send(gen_random_uuid()), 'access', g.id, '{webhooks}', now() - $2::interval
    from (select id from oauth_grants order by id limit 1) g, generate_series(1, $1::int) n`,
  oauth_codes: `insert into oauth_codes (hash, grant_id, redirect_uri, expires_at, used_at)
    select uuid_send(gen_random_uuid()), g.id, 'x', now() - $2::interval, now()
    from (select id from oauth_grants order by id limit 1) g, generate_series(1, $1::int) n`,
  oauth_grants: `insert into oauth_grants (account_id, application_id, user_id, scopes, activated_at)
    select account_id, application_id, user_id, scopes, now() - 4 * $2::interval
    from (select * from oauth_grants order by id limit 1) g, generate_series(1, $1::int) n`,
  nacha_days: `insert into nacha_days (account_id, immediate_destination, immediate_origin, day, files, entries)
    select id, '091000019', n, to_char(now() - $2::interval, 'YYMMDD'), 1, 1 from accounts, generate_series(1, $1::int) n`,
} as const;

async function counts(world: World): Promise<Record<string, number>> {
  const each = Object.keys(FILL).map((table) => `'${table}', (select count(*) from ${table})`);
  const [row] = await world.query<{ counts: Record<string, number> }>(
    `select json_build_object(${each.join(', ')}) as counts`,
  );
  return row?.counts ?? {};
}

test('one run deletes everything old, however much it is, and keeps the rest', async () => {
  const world = await borrowWorld();
  try {
    await world.query(
      `with h as (insert into people (email) values ('a@example.com') returning id),
            u as (insert into users (account_id, person_id, name, role) select a.id, h.id, 'A', 'owner' from accounts a, h
                  returning account_id, id),
            p as (insert into oauth_applications (account_id, name, kind, redirect_uris, scopes)
                  select account_id, 'app', 'public', '{https://example.com/}', '{webhooks}' from u returning id)
       insert into oauth_grants (account_id, application_id, user_id, scopes, activated_at)
       select u.account_id, p.id, u.id, '{webhooks}', now() from u, p`,
    );
    const before = await counts(world);
    for (const [count, age] of [
      [OLD, '100 days'],
      [YOUNG, '1 minute'],
    ] as const) {
      for (const fill of Object.values(FILL)) await world.query(fill, [count, age]);
    }
    // notes of new commissions are merged into one, and their sum stays
    await world.query(
      'insert into commission_arrivals (account_id, count) select id, 1 from accounts, generate_series(1, $1::int)',
      [OLD],
    );
    await keepHouse(world);
    expect(await counts(world)).toEqual(
      Object.fromEntries(Object.entries(before).map(([table, count]) => [table, count + YOUNG])),
    );
    expect(
      await world.query('select count(*)::int as notes, sum(count)::int as arrived from commission_arrivals'),
    ).toEqual([{ notes: 1, arrived: OLD }]);
    await world.query('delete from commission_arrivals');
  } finally {
    await world.close();
  }
});

test('a database whose clock jumps ahead does not lose what is deleted by age', async () => {
  const world = await borrowWorld();
  try {
    await keepHouse(world, 'idempotency keys'); // the slow clock begins
    // a day that passed within one hour is not believed
    await world.query(FILL.idempotency_keys, [YOUNG, '25 hours']);
    await world.query(`update server_settings
      set value = json_build_object('time', iso(now() - interval '25 hours'), 'looked_at', iso(now() - interval '1 minute'))::text
      where key = 'slow_clock'`);
    await keepHouse(world, 'idempotency keys');
    expect((await counts(world)).idempotency_keys).toBe(YOUNG);
  } finally {
    await world.close();
  }
});
