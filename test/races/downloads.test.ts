import pg from 'pg';
import { expect, inject, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { makeAffiliates, salesFor, sumOf, takeIn } from '../support/seed.ts';
import { COMMISSIONS, inArena, PAYOUTS, PLAIN, type Racers } from './support.ts';

/**
 * Locks a table so that its readers wait, runs `meanwhile` as soon as `waiting` statements wait, and unlocks it. The
 * order of a race that is hard to hit becomes certain.
 */
async function holdResponses(
  { world }: Racers,
  table: string,
  mode: string,
  start: () => Promise<unknown>[],
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const { host, port, superuser, superuserPassword } = inject('postgres');
  const [{ database } = { database: '' }] = await world.query<{ database: string }>(
    'select current_database() as database',
  );
  const holder = new pg.Client({
    host,
    port,
    user: superuser,
    database,
    ...(superuserPassword ? { password: superuserPassword } : {}),
  });
  await holder.connect();
  try {
    await holder.query(`begin; lock table ${table} in ${mode} mode`);
    const waiting = start();
    await untilLockWait(world, waiting.length);
    await meanwhile();
    await holder.query('commit');
    await Promise.allSettled(waiting);
  } finally {
    await holder.end();
  }
}

function amountsIn(csv: string): number[] {
  const [header = '', ...lines] = csv.trimEnd().split('\r\n');
  const column = header.split(',').indexOf('amount');
  return lines.map((line) => Math.round(Number(line.split(',')[column]) * 100));
}

/** Runs `meanwhile` when the server is about to send the COPY of a file, which waits for its end. */
async function downloadDuring(
  { api, world }: Racers,
  path: string,
  meanwhile: () => Promise<unknown>,
): Promise<Answer | undefined> {
  if (!world.latency) throw new Error('the arena has no proxy');
  let reached = false;
  world.latency.before = (message) => {
    if (reached || !message.includes('to stdout')) return undefined;
    reached = true;
    return meanwhile().then(() => undefined);
  };
  // a broken connection is a valid response too
  const file = await api.get(path).catch(() => undefined);
  world.latency.before = undefined;
  expect(reached).toBe(true);
  return file;
}

test('a file of a payout that is deleted meanwhile is the whole file or none, never an empty one', () =>
  inArena(PLAIN, async (racers) => {
    const { api } = racers;
    const sales = salesFor(await makeAffiliates(api, 2), 6);
    await takeIn(api, sales);
    const { body: payout } = await api.post(PAYOUTS);
    const one = `${PAYOUTS}/${payout.id}`;
    const file = await downloadDuring(racers, `${one}/download`, async () =>
      expect((await api.delete(one)).status).toBe(204),
    );
    if (file?.status === 200) expect(amountsIn(file.text)).toHaveLength(sales.length);
    racers.world.expectErrors(); // an interrupted download may be logged
  }));

test('a file created while its payout is completed is that of the revision in its name', () =>
  inArena(PLAIN, async (racers) => {
    const { api } = racers;
    const [first = 0, second = 0] = await makeAffiliates(api, 2);
    const sales = salesFor([first, second], 6);
    await takeIn(api, sales);
    const { body: payout } = await api.post(PAYOUTS);
    const one = `${PAYOUTS}/${payout.id}`;
    const file = await downloadDuring(racers, `${one}/download`, async () =>
      expect((await api.put(one, { commissions: [{ affiliate_id: first, is_paid: true }] })).status).toBe(
        200,
      ),
    );
    const etag = file?.headers.get('etag');
    expect(file?.headers.get('content-disposition')).toContain(`-r${etag?.replaceAll('"', '')}-`);
    const paid = sales.filter(({ affiliate_id }) => affiliate_id === first);
    const expected = etag === '"1"' ? sales : paid;
    expect(amountsIn(file?.text ?? '').toSorted((a, b) => a - b)).toEqual(
      expected.map((sale) => sale.amount),
    );
  }));

longRun.test('a file created while a destination changes shows the one of the revision in its name', () =>
  inArena(PLAIN, async (racers) => {
    const { api } = racers;
    const [affiliate = 0] = await makeAffiliates(api, 1);
    await takeIn(api, salesFor([affiliate], 3));
    const { body: payout } = await api.post(PAYOUTS);
    const file = await downloadDuring(racers, `${PAYOUTS}/${payout.id}/download`, async () => {
      const changed = await api.patch(`/v2/affiliates/${affiliate}`, { paypal_email: 'new@example.com' });
      expect(changed.status).toBe(200);
    });
    expect(file?.text.includes('new@example.com')).toBe(file?.headers.get('etag') === '"2"');
  }),
);

longRun.test(
  'a payment file created while an affiliate changes the payment method is that of the revision in its name',
  () =>
    inArena(PLAIN, async (racers) => {
      const { api } = racers;
      const [stays = 0, moves = 0] = await makeAffiliates(api, 2);
      await takeIn(api, salesFor([stays, moves], 2));
      await api.post(PAYOUTS);
      const path = `${PAYOUTS}/current/payment-files/paypal?allow_skipped=true`;
      const file = await downloadDuring(racers, path, async () => {
        const changed = await api.patch(`/v2/affiliates/${moves}`, { payout_method: 'wise' });
        expect(changed.status).toBe(200);
      });
      const isNew = file?.headers.get('etag') === '"2"';
      const references = [...(file?.text.matchAll(/,(P1-A\d+),/g) ?? [])].map(([, reference]) => reference);
      expect(references).toEqual((isNew ? [stays] : [stays, moves]).map((id) => `P1-A${id}`));
      expect(file?.headers.get('payhook-skipped-affiliates')).toBe(isNew ? '1' : '0');
      const wise = await api.get(`${PAYOUTS}/current/payment-files/wise?allow_skipped=true`);
      expect([wise.headers.get('etag'), wise.text.includes(`P1-A${moves}`)]).toEqual(['"2"', true]);
    }),
);

longRun.test('a page of a payout that is deleted meanwhile is its page or a 404, never an empty list', () =>
  inArena(PLAIN, async ({ api, world }) => {
    const affiliates = await makeAffiliates(api, 2);
    for (const part of ['affiliates', 'commissions']) {
      await takeIn(api, salesFor(affiliates, 6));
      const { body: payout } = await api.post(PAYOUTS);
      const one = `${PAYOUTS}/${payout.id}`;
      let reached = false;
      if (!world.latency) throw new Error('the arena has no proxy');
      world.latency.before = (message) => {
        if (reached || !message.includes('total as materialized')) return undefined;
        reached = true;
        return api.delete(one).then(() => undefined);
      };
      const list = await api.get(`${one}/${part}`);
      world.latency.before = undefined;
      expect(reached).toBe(true);
      if (list.status === 200) expect(list.body.data, part).not.toEqual([]);
      else expect(list.status).toBe(404);
    }
  }),
);

test('a commission created during a create is in the payout or left for the next, and never reported as on hold', () =>
  inArena(PLAIN, async (racers) => {
    const { api } = racers;
    const affiliates = await makeAffiliates(api, 1);
    const sales = salesFor(affiliates, 3);
    await takeIn(api, sales);
    const [late] = salesFor(affiliates, 1, 'late');
    let create: ReturnType<typeof api.post> | undefined;
    // the create has begun and waits to write its payout; reading payouts continues
    await holdResponses(
      racers,
      'payouts',
      'share',
      () => {
        create = api.post(PAYOUTS);
        return [create];
      },
      async () => expect((await api.post(COMMISSIONS, late)).status).toBe(201),
    );
    const made = (await create)?.body;
    const taken = made.commission_count === 4 ? [...sales, late] : sales;
    expect(made).toMatchObject({ amount: sumOf(taken as typeof sales), commission_count: taken.length });
    expect(made.excluded).toEqual([]);
  }));
