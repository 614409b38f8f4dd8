import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bookDebt,
  completePayout,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import type { Answer } from '../support/api.ts';
import { type Member, whyNoCitus } from '../support/citus.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { until } from '../support/wire.ts';
import { type Installation, type Shop, startInstallation } from './support-citus.ts';

describe.skipIf(!process.env.TEST_CITUS || whyNoCitus !== null)(
  'payouts in a cell on a node of a Citus cluster',
  () => {
    let installation: Installation;
    let node: Member;
    let shop: Shop;
    let affiliate: number;

    beforeAll(async () => {
      installation = await startInstallation();
      [node] = installation.cluster.nodes as [Member];
      shop = await installation.addCell();
      affiliate = (await makeAffiliate(shop.api)).id;
    });
    afterAll(() => installation.close());

    const earn = (amount: number) => makeCommission(shop.api, affiliate, { amount });
    const payouts = async () => (await shop.api.get(PAYOUTS)).body.data as { id: string; amount: number }[];
    const imbalances = async () => {
      const client = await installation.connect(shop.schema);
      try {
        return (await client.query(IMBALANCES)).rows;
      } finally {
        await client.end();
      }
    };
    /** Locks something in a transaction, and begins a payout that has to wait for it. */
    const beginPayout = async (
      client: pg.Client,
      locks: string,
      body = {},
    ): Promise<{ answer: Promise<Answer> }> => {
      client.on('error', () => undefined);
      await client.query('begin');
      await client.query(locks);
      const answer = shop.api.post(PAYOUTS, body);
      const waits = async (member: Member) => {
        const watch = await member.client('payhook');
        const { rowCount } = await watch.query(`select from pg_stat_activity where wait_event_type = 'Lock'`);
        await watch.end();
        return rowCount === 1;
      };
      const { coordinator } = installation.cluster;
      const isWaiting = until(
        'the payout to wait for the lock',
        async () => (await waits(node)) || waits(coordinator),
      );
      // if it is refused, the answer says why
      await Promise.race([isWaiting, answer.then(({ text }) => expect(text).toBe(''))]);
      return { answer };
    };

    test('a commission that arrives between the steps of a payout is not paid without the rules', async () => {
      await earn(1000);
      const [shard] = await installation.ask<{ id: string }>(
        `select shardid::text as id from citus_shards where table_name = '${shop.schema}.commissions'::regclass`,
      );
      // the steps that read are not stopped by this lock, and the first that writes waits for it
      const client = await node.client('payhook');
      await client.query(`set search_path to ${shop.schema}`);
      await client.query('set citus.enable_manual_changes_to_shards to on');
      const { answer } = await beginPayout(
        client,
        `lock table commissions_${shard?.id} in share row exclusive mode`,
        { filters: { currency: 'usd', total: { lte: 1000 } } },
      );
      const query = async <Row>(text: string, values: unknown[] = []) =>
        (await client.query(text, values)).rows as Row[];
      await bookDebt({ query }, affiliate, 1);
      await client.query('commit');
      await client.end();
      expectRefusal(await answer, 409, 'nothing_to_pay');
      expect(await payouts()).toEqual([]);
      expect(await imbalances()).toEqual([]);
    });

    test.each([
      ['while it claims commissions', 'select from commissions for update'],
      ['before it commits', 'lock table audit_log in exclusive mode'],
    ])(
      'when the node dies during a payout, %s, there is no payout, and it can be repeated',
      async (_, locks) => {
        const before = await payouts();
        await earn(5000);
        const client = await installation.connect(shop.schema);
        const { answer } = await beginPayout(client, locks);
        await node.kill();
        await client.end();
        expectRefusal(await answer, 503, 'cell_unavailable');
        await node.start();
        await until('the cell to answer', async () => (await shop.api.get(PAYOUTS)).status === 200);
        expect(await payouts()).toEqual(before);
        expect(await imbalances()).toEqual([]);
        await completePayout(shop.api, await makePayout(shop.api));
        expect(await imbalances()).toEqual([]);
      },
    );

    test('a payout that was answered is complete after the node died', async () => {
      await earn(700);
      const made = await makePayout(shop.api);
      await node.kill();
      await node.start();
      await until('the cell to answer', async () => (await shop.api.get(PAYOUTS)).status === 200);
      expect((await shop.api.get(`${PAYOUTS}/${made.id}`)).body).toEqual(made);
      expect(await imbalances()).toEqual([]);
    });
  },
);
