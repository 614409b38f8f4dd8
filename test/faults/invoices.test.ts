import { afterAll, beforeAll, expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { holdLocks } from '../support/held.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { makeAffiliates, takeIn } from '../support/seed.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

const PAYOUTS = '/v2/affiliates/payouts';
const LINES = 12;

let folder: DataFolder;
let server: ServerProcess;
let affiliates: number[];
beforeAll(async () => {
  folder = dataFolder();
  server = await folder.start();
  await letInvoice(server.api);
  affiliates = await makeAffiliates(server.api, LINES);
  for (const each of affiliates) await agree(server.api, each);
});
afterAll(() => folder?.remove());

/** A payout in which everyone was paid; returns its path. */
async function paid(round: string): Promise<string> {
  const { api } = server;
  const sale = { amount: 11_900, currency: 'eur' };
  await takeIn(
    api,
    affiliates.map((affiliate_id) => ({ ...sale, external_id: `${round}-${affiliate_id}`, affiliate_id })),
  );
  const path = `${PAYOUTS}/${(await api.post(PAYOUTS)).body.id}`;
  const commissions = affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: true }));
  expect((await api.put(path, { commissions })).status).toBe(200);
  return path;
}

const stored = () =>
  folder.query<{ number: string }>(
    `select document ->> 'number' as number from invoices order by account_id, series, position`,
  );

const KILLED = [
  ['the server and PostgreSQL', true],
  ['the server', false],
] as const;

test.each(someOf(KILLED, 1))(
  'kill -9 of %s while issuing leaves no invoice and no gap',
  async (_, andPostgres) => {
    const path = await paid(`killed ${andPostgres}`);
    const before = await stored();
    // the seventh of twelve waits: its number is taken, and six others are written
    const held = await holdLocks(folder, 'select pg_advisory_xact_lock(1)');
    await folder.query(`create or replace function wait_at_seven() returns trigger language plpgsql as $$
    begin
      if new.position % 12 = 7 then perform pg_advisory_xact_lock(1); end if;
      return new;
    end $$`);
    await folder.query(
      'create or replace trigger wait_at_seven before insert on invoices for each row execute function wait_at_seven()',
    );
    const answered = server.api.post(`${path}/invoices`).catch(() => null);
    await held.reached();
    await server.kill(andPostgres);
    expect(await answered).toBeNull();
    await held.letGo();

    server = await folder.start();
    await folder.query('drop trigger wait_at_seven on invoices');
    expect(await stored()).toEqual(before);
    const again = await server.api.post(`${path}/invoices`);
    expect([again.status, again.body.issued], again.text).toEqual([200, LINES]);
    const positions = (await stored()).map(({ number }) => Number(number.slice(-6)));
    expect(positions).toEqual(Array.from({ length: before.length + LINES }, (_one, index) => index + 1));
    expect((await server.api.post(`${path}/invoices`)).body.issued).toBe(0);
    expect(await folder.query(IMBALANCES)).toEqual([]);
  },
);
