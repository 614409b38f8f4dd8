import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { isLong, rounds } from '../support/depth.ts';
import { statementsThat } from '../support/held.ts';
import { IMBALANCES, MISSING_EVENTS } from '../support/imbalances.ts';
import { makeAffiliates, salesFile, salesFor } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

const PAYOUTS = '/v2/affiliates/payouts';
const COMMISSIONS = '/v2/affiliates/commissions';
const LINES = rounds(300, 20_000);

interface Stored {
  readonly payouts: { id: string; status: string; commission_count: number }[];
  readonly commissions: number;
  readonly batched: number;
}

describe('kill -9', () => {
  let folder: DataFolder;
  let server: ServerProcess;
  let affiliates: number[];
  const acknowledged: string[] = [];
  /** How long each operation takes here, to spread the moments of a kill over it. */
  const took = new Map<string, number>();
  beforeAll(async () => {
    folder = dataFolder();
    server = await folder.start();
    affiliates = await makeAffiliates(server.api, 4);
    const file = salesFile(salesFor(affiliates, LINES, 'first'));
    expect((await server.api.upload(`${COMMISSIONS}/import`, file)).body.created).toBe(LINES);
  });
  afterAll(() => folder?.remove());

  const stored = async (): Promise<Stored> => {
    const [row] = await folder.query<{ state: Stored }>(
      `select json_build_object(
         'payouts', (select coalesce(json_agg(json_build_object('id', public_id('po', id), 'status', status,
            'commission_count', commission_count) order by number), '[]') from payouts),
         'commissions', (select count(*) from commissions),
         'batched', (select count(*) from events where type = 'order.batched')) as state`,
    );
    return row?.state as Stored;
  };

  const current = async (api: Api): Promise<string> => {
    const found = await api.get(`${PAYOUTS}/current`);
    const id = found.status === 200 ? found.body.id : (await api.post(PAYOUTS)).body.id;
    return `${PAYOUTS}/${id}`;
  };
  const noCurrent = async (api: Api): Promise<void> => {
    const found = await api.get(`${PAYOUTS}/current`);
    if (found.status === 200) await api.delete(`${PAYOUTS}/${found.body.id}`);
  };

  interface Operation {
    /** Brings the account into the state it works on; returns the request, the same however often it is sent. */
    prepare(api: Api, round: string): Promise<(api: Api) => Promise<Answer>>;
    /** The response to its repetition when the first one had its effect unseen, and when it had none. */
    readonly statuses: readonly number[];
  }
  const OPERATIONS: Record<string, Operation> = {
    'create a payout': {
      async prepare(api, round) {
        await noCurrent(api);
        return (next) => next.post(PAYOUTS, {}, { 'idempotency-key': round });
      },
      statuses: [201],
    },
    'complete a payout': {
      async prepare(api, round) {
        const one = await current(api);
        // nobody is paid: all lines are released and all rows written, and the next round has the same to do
        const commissions = affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: false }));
        return (next) => next.put(one, { commissions }, { 'idempotency-key': round });
      },
      statuses: [200],
    },
    'delete a payout': {
      async prepare(api) {
        const one = await current(api);
        return (next) => next.delete(one);
      },
      statuses: [204, 404],
    },
    'import a file': {
      async prepare(_, round) {
        const file = salesFile(salesFor(affiliates, LINES, round));
        return (next) => next.upload(`${COMMISSIONS}/import`, file, { 'idempotency-key': round });
      },
      statuses: [200],
    },
    'publish a batch': {
      async prepare(_, round) {
        const events = Array.from({ length: 1000 }, (_, n) => ({
          type: 'order.batched',
          data: { n },
          external_id: `${round} ${n}`,
        }));
        return (next) => next.post('/v2/events/batch', { events }, { 'idempotency-key': round });
      },
      statuses: [200],
    },
  };

  /** Writes one commission after the other until the server is gone; every response is a promise. */
  async function keepWriting(api: Api, round: string): Promise<void> {
    for (const sale of salesFor(affiliates, 10_000, `stream-${round}`)) {
      const answer = await api.post(COMMISSIONS, sale).catch(() => null);
      if (answer?.status !== 201) return;
      acknowledged.push(sale.external_id);
    }
  }

  async function expectWhole(when: string): Promise<void> {
    expect(await folder.query(IMBALANCES), when).toEqual([]);
    expect(await folder.query(MISSING_EVENTS), when).toEqual([]);
    const [lost] = await folder.query<{ lost: string[] | null }>(
      `select array_agg(acknowledged) as lost from unnest('{${acknowledged.join(',')}}'::text[]) acknowledged
       where not exists (select from commissions where external_id = acknowledged)`,
    );
    expect(lost?.lost, `${when}: acknowledged commissions are not there`).toBeNull();
  }

  /**
   * One operation, one kill, one restart. `ready` runs before the request is sent, `moment` is the kill's, `over` runs after it.
   */
  async function round(
    name: string,
    andPostgres: boolean,
    {
      ready,
      moment,
      over,
    }: {
      ready?: () => Promise<unknown>;
      moment: () => Promise<unknown>;
      over?: () => Promise<unknown> | undefined;
    },
  ): Promise<void> {
    const operation = OPERATIONS[name] as Operation;
    const label = `${name} ${Math.random().toString(36).slice(2, 10)}`.replaceAll(' ', '-');
    const send = await operation.prepare(server.api, label);
    const before = await stored();
    await ready?.();
    const writing = ready ? undefined : keepWriting(server.api, label);
    const answered = send(server.api).catch(() => null);
    try {
      await moment();
    } finally {
      await server.kill(andPostgres);
      await over?.();
    }
    const [answer] = await Promise.all([answered, writing]);
    if (answer) expect(operation.statuses).toContain(answer.status);

    server = await folder.start();
    await expectWhole(`${name}, after the restart`);
    const after = await stored();
    const from = performance.now();
    const again = await send(server.api);
    took.set(name, performance.now() - from);
    expect(operation.statuses, again.text).toContain(again.status);
    const replayed = again.headers.get('idempotent-replayed') === 'true';
    if (answer && answer.status !== 204) {
      expect(replayed, 'an acknowledged request was repeated').toBe(true);
      expect(again.text).toBe(answer.text);
    }
    if (answer?.status === 204) expect(again.status).toBe(404);
    await expectWhole(`${name}, done again`);
    const end = await stored();
    if (replayed) expect(end).toEqual(after);
    const effects = {
      'create a payout': () => expect(end.payouts.length).toBe(before.payouts.length + 1),
      'complete a payout': () => expect(end.payouts.at(-1)?.status).toBe('paid'),
      'delete a payout': () => expect(end.payouts.length).toBe(before.payouts.length - 1),
      'import a file': () => expect(again.body).toMatchObject({ created: LINES, unchanged: 0 }),
      'publish a batch': () => {
        expect([0, 1000]).toContain(after.batched - before.batched);
        expect(end.batched).toBe(before.batched + 1000);
      },
    };
    effects[name as keyof typeof effects]();
  }

  const names = Object.keys(OPERATIONS);
  const inShortRun = ['complete a payout', 'publish a batch'];

  test.each(isLong ? names : inShortRun)(
    'right before the commit of "%s" leaves nothing of it',
    async (name) => {
      // the event is written last: when it waits, everything else has been done
      let lock: Awaited<ReturnType<DataFolder['superuser']>> | undefined;
      await round(name, names.indexOf(name) % 2 === 0, {
        async ready() {
          lock = await folder.superuser();
          await lock.query('begin; lock table events in share mode');
        },
        moment: () =>
          until('the operation is about to publish its event', async () => {
            const waiting = `wait_event_type = 'Lock' and wait_event = 'relation'`;
            return (await statementsThat(folder, waiting)).length > 0;
          }),
        over: () => lock?.end().catch(() => undefined),
      });
    },
  );

  // each of these operations has been killed right before its commit
  test.each(isLong ? names : ['complete a payout'])(
    'at any moment of "%s" leaves it complete or undone, and loses nothing acknowledged',
    async (name) => {
      const ms = took.get(name) ?? 500;
      const andPostgres = names.indexOf(name) % 2 === 1;
      await round(name, andPostgres, { moment: () => delay(Math.random() * ms * 1.2) });
    },
  );
});
