import type { Answer, Api } from '../support/api.ts';
import { IMBALANCES, MISSING_EVENTS, WRONG_HISTORY } from '../support/imbalances.ts';
import type { World } from '../support/world.ts';
import type { Command, Filters, State } from './model.ts';

export const PAYOUTS = '/v2/affiliates/payouts';
const COMMISSIONS = '/v2/affiliates/commissions';

/** A new account for one run. */
export interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly account: string;
  readonly ids: readonly number[];
  /** The PayPal address of each affiliate. */
  readonly destinations: readonly string[];
}

function filtersBody(
  { currency: codes, affiliates, type, totalAtLeast, ignoreMinimum }: Filters,
  ids: readonly number[],
) {
  const which = affiliates?.which.map((each) => ids[each]);
  return {
    filters: {
      ...(codes ? { currency: codes } : {}),
      ...(affiliates ? { affiliate_id: affiliates.not ? { nin: which } : which } : {}),
      ...(type ? { type } : {}),
      ...(totalAtLeast === undefined ? {} : { total: { gte: totalAtLeast } }),
    },
    ...(ignoreMinimum === undefined ? {} : { ignore_minimum: ignoreMinimum }),
  };
}

export interface Observed {
  readonly commissions: Record<string, string>;
  readonly payouts: Record<number, string>;
  /** Paths of returns by name. */
  readonly returns: Record<string, string>;
  /** As returned by `stateOf`. */
  readonly state: unknown;
}

export async function send(stage: Stage, command: Command, before: Observed): Promise<Answer> {
  const { api, ids } = stage;
  const saleBody = (sale: {
    name: string;
    affiliate: number;
    amount: number;
    currency: string;
    type: string;
  }) => ({
    external_id: sale.name,
    affiliate_id: ids[sale.affiliate],
    amount: sale.amount,
    currency: sale.currency,
    type: sale.type,
  });
  switch (command.do) {
    case 'take in': {
      const [only] = command.sales;
      return only && command.sales.length === 1
        ? api.post(COMMISSIONS, saleBody(only))
        : api.post(`${COMMISSIONS}/batch`, { commissions: command.sales.map(saleBody) });
    }
    case 'preview':
      return api.post(`${PAYOUTS}/preview`, filtersBody(command.filters, ids));
    case 'create':
      return api.post(PAYOUTS, filtersBody(command.filters, ids));
    case 'complete':
      return api.put(`${PAYOUTS}/${before.payouts[command.payout]}`, {
        commissions: command.entries.map(({ affiliate: who, isPaid: is_paid, currency: code, amount }) => ({
          affiliate_id: ids[who],
          is_paid,
          ...(code === null ? {} : { currency: code }),
          ...(amount === null ? {} : { amount }),
        })),
      });
    case 'delete':
      return api.delete(`${PAYOUTS}/${before.payouts[command.payout]}`);
    case 'return':
      return api.post(
        `${PAYOUTS}/${before.payouts[command.payout]}/affiliates/${ids[command.affiliate]}/returned`,
        {
          reason: 'closed',
          ...(command.currency === null ? {} : { currency: command.currency }),
          ...(command.amount === null ? {} : { amount: command.amount }),
        },
      );
    case 'undo':
      return api.delete(before.returns[command.name] ?? '');
    case 'change':
      return api.patch(`/v2/affiliates/${ids[command.affiliate]}`, {
        ...(command.active === undefined ? {} : { status: command.active ? 'active' : 'inactive' }),
        ...(command.ready === undefined ? {} : { is_ready_for_payout: command.ready }),
        ...(command.minimum === undefined
          ? {}
          : { minimum_payout: command.minimum === null ? null : { usd: command.minimum } }),
        ...(command.destination === undefined
          ? {}
          : { paypal_email: command.destination ? stage.destinations[command.affiliate] : null }),
        // it decides nothing, but reports by country follow it
        country: ['DE', 'FR', null][(command.affiliate + Object.keys(before.commissions).length) % 3],
      });
    case 'settings':
      return api.patch('/v2/account', { minimum_payout: command.minimum ? { usd: command.minimum } : {} });
    case 'refund':
      return api.post(`${COMMISSIONS}/${before.commissions[command.row]}/refund`, {
        external_id: command.name,
        ...(command.amount === undefined ? {} : { amount: command.amount }),
      });
    case 'adjust':
      return api.post(`/v2/affiliates/${ids[command.affiliate]}/adjustments`, {
        external_id: command.name,
        amount: command.amount,
        currency: command.currency,
      });
    default:
      return api.post(`${COMMISSIONS}/${before.commissions[command.row]}/${command.do}`);
  }
}

/** The model's state in the shape of the database's. */
export function stateOf(state: State): unknown {
  const by = <Item>(items: readonly Item[], key: (item: Item) => string) =>
    [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return {
    rows: by(
      state.rows.map((row) => [
        row.name,
        row.amount,
        row.original,
        row.refunded,
        row.payout,
        row.voided,
        row.held,
      ]),
      ([name]) => String(name),
    ),
    payouts: by(state.payouts, ({ number }) => String(number).padStart(6, '0')).map((payout) => [
      payout.number,
      payout.status,
      payout.revision,
      by(payout.lines, (line) => `${line.affiliate} ${line.currency}`).map((line) => [
        line.affiliate,
        line.currency,
        line.amount,
        line.count,
        line.isPaid,
        line.carried,
        line.returned,
      ]),
      payout.excluded.map((each) => [each.affiliate, each.currency, each.reason, each.amount, each.count]),
    ]),
    // the effects of two concurrent changes decide the next payout
    minimum: state.minimum,
    affiliates: state.affiliates.map((each) => [each.active, each.ready, each.minimum, each.destination]),
  };
}

export async function observe({ world, account, ids }: Stage): Promise<Observed> {
  const [row] = await world.query<{
    seen: {
      rows: unknown[][];
      payouts: unknown[][];
      returns: [string, string][];
      minimum: number;
      affiliates: unknown[][];
    };
  }>(
    `with own as (select id from accounts where public_id('acc', id) = $1),
       who as (select id, (ord - 1)::int as n from unnest($2::int8[]) with ordinality u (id, ord)),
       back as (select *, row_number() over (partition by payout_id, affiliate_id, currency order by id) as nth
                from payout_returns where account_id = (select id from own)),
       c as (select c.*, r.number as returned_number, who.n, back.nth from commissions c join who on who.id = c.affiliate_id
             left join payouts r on r.account_id = c.account_id and r.id = c.returns_payout_id
             left join back on back.commission_id = c.id
             where c.account_id = (select id from own)),
       named as (select *, case when returned_number is not null 
                                then concat_ws(':', case when nth is null then 'carried' else 'returned' end, returned_number, n, currency, nth)
                                else regexp_replace(external_id, '^payhook:|:com_.*', '', 'g') end as name from c)
     select json_build_object(
       'rows', (select coalesce(json_agg(json_build_array(name, amount, original_amount, refunded_amount,
                  (select number from payouts p where p.account_id = named.account_id and p.id = payout_id),
                  voided_at is not null, available_at = 'infinity', public_id('com', id)) order by name collate "C"), '[]') from named),
       'payouts', (select coalesce(json_agg(json_build_array(number, status, revision,
           (select coalesce(json_agg(json_build_array(n, t.currency, t.amount, t.commission_count, t.is_paid, t.carried_amount,
                                                      t.returned_amount)
                                     order by n, t.currency), '[]')
            from payout_lines l join payout_line_totals t using (account_id, payout_id, affiliate_id)
            join who on who.id = l.affiliate_id where l.account_id = p.account_id and l.payout_id = p.id),
           (select coalesce(json_agg(json_build_array(n, x.currency, x.reason, x.amount, x.commission_count)
                                     order by n, x.currency, x.reason), '[]')
            from payout_exclusions x join who on who.id = x.affiliate_id
            where x.account_id = p.account_id and x.payout_id = p.id),
           public_id('po', id)) order by number), '[]') from payouts p where account_id = (select id from own)),
       'returns', (select coalesce(json_agg(json_build_array(named.name, concat('${PAYOUTS}/', public_id('po', back.payout_id),
                     '/affiliates/', back.affiliate_id, '/returned/', public_id('ret', back.id)))), '[]')
                   from back join named on named.id = back.commission_id),
       'minimum', (select coalesce((minimum_payout ->> 'usd')::int, 0) from accounts where id = (select id from own)),
       'affiliates', (select json_agg(json_build_array(status = 'active', is_ready_for_payout,
                                (minimum_payout ->> 'usd')::int, paypal_email is not null) order by n)
                      from affiliates a join who on who.id = a.id
                      where account_id = (select id from own))) as seen`,
    [account, ids],
    'observed',
  );
  const { rows = [], payouts = [], returns = [], minimum, affiliates } = row?.seen ?? {};
  return {
    commissions: Object.fromEntries(rows.map((each) => [each[0], each.at(-1)])),
    payouts: Object.fromEntries(payouts.map((each) => [each[0], each.at(-1)])),
    returns: Object.fromEntries(returns),
    state: {
      rows: rows.map((each) => each.slice(0, -1)),
      payouts: payouts.map((each) => each.slice(0, -1)),
      minimum,
      affiliates,
    },
  };
}

/** Books that do not balance and missing events, except known ones. */
export async function wrongIn(world: World, known: ReadonlySet<string> = new Set()): Promise<Set<string>> {
  const found = await world.query<{ what: string; detail: string }>(
    `${IMBALANCES} union all select * from (${MISSING_EVENTS}) untold union all select * from (${WRONG_HISTORY}) mistold`,
    [],
    'wrong',
  );
  return new Set(found.map(({ what, detail }) => `${what}: ${detail}`).filter((each) => !known.has(each)));
}
