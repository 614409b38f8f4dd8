import sql, { join, raw, type Sql } from 'sql-template-tag';
import { filtersOf } from '../../contract/fields.ts';
import {
  currency,
  type Filter,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import type { PageCut } from '../../contract/page-cuts.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';
import { balanceJoin, earnedIn, earnersIn, fresh } from '../ledger/balances.ts';
import { hasDestination, paidThroughInAny } from '../ledger/destinations.ts';
import { AFFILIATE_FIELDS } from './fields.ts';
import { type AffiliateWithBalance, recordWithBalance } from './record.ts';
import { searchCondition } from './search.ts';

const program = numberId((id) => sql`${id}`);
const earnedInProgram: Filter = {
  ...program,
  condition: (value, scope) => program.condition(value, scope) && earnedIn(scope.account, value),
};

/** The currency in which the list is sorted by `unpaid`; not a condition on rows. */
const balanceCurrency: Filter = {
  ...currency(''),
  condition: (value) => (normalizeCurrency(value) === null ? null : sql`true`),
};

export const affiliateList: ListDefinition = {
  id: 'a.id',
  sort: { id: 'a.id', created_at: 'a.created_at', email: 'lower(a.email)', unpaid: 'a.unpaid' },
  filters: {
    ...filtersOf(AFFILIATE_FIELDS, 'a'),
    payout_method: oneOf([...DESTINATION_TYPES, 'none'], (method) =>
      method === 'none' ? sql`${raw(paidThroughInAny)} is null` : sql`${raw(paidThroughInAny)} = ${method}`,
    ),
    has_destination: oneOf(['true', 'false'], (has) => sql`${hasDestination(null)} = ${has}::boolean`),
    program_id: earnedInProgram,
    email: {
      rule: 'an e-mail address',
      schema: { type: 'string' },
      condition: (email) =>
        /^[^\s@]+@[^\s@]+$/.test(email) ? sql`lower(a.email) = lower(${email.normalize('NFC')})` : null,
    },
    search: {
      rule: 'at most 200 characters',
      schema: { type: 'string', maxLength: 200 },
      condition: (search) =>
        search.trim().length > 200 ? null : (searchCondition(search.trim()) ?? sql`true`),
    },
    balance_currency: balanceCurrency,
    ...instants('created_at', 'a.created_at'),
  },
};

/** Up to this many matching affiliates are sorted; of more, the first ones are found along the sums. */
const FEW = 5000;

/** A page of affiliates with their balances. */
export function listAffiliates(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<AffiliateWithBalance>> {
  const conditions = join([sql`a.account_id = ${account}`, ...list.conditions], ' and ');
  const source = {
    list,
    name: 'affiliates',
    table: 'affiliates',
    alias: 'a',
    where: sql`a.account_id = ${account}`,
    record: recordWithBalance,
    ctes: fresh(account),
    join: balanceJoin(account),
    fromBothEnds: true,
  };
  if (!/unpaid$/.test(list.sort)) return listPage(db, source);
  const filters = [...list.given.keys()].filter((name) => name !== 'balance_currency');
  const sorting = { account, list, conditions, isFiltered: filters.length > 0 };
  if (filters.length === 0)
    return listPage(db, { ...source, find: (cut) => shown(sorting, alongSums(sorting, cut)) });
  // a program knows its affiliates: it is not asked about each of the account
  const program = filters.join() === 'program_id' ? list.given.get('program_id') : undefined;
  const matching =
    program === undefined
      ? sql`select a.id from affiliates a where ${conditions}`
      : earnersIn(account, program);
  const isFew = sql`(select n from total) <= ${FEW}::int8`;
  return listPage(db, {
    ...source,
    ctes: sql`${fresh(account)}, few as materialized (select id from (${matching}) m limit ${FEW + 1}::int)`,
    total: sql`
      select case when n <= ${FEW}::int8 then n else (select count(*)::int8 from (${matching}) m) end as n
      from (select count(*)::int8 as n from few) counted`,
    find: (cut) =>
      shown(
        sorting,
        sql`select * from (${sorted(sorting, cut)}) few_found where ${isFew}
            union all
            select * from (${alongSums(sorting, cut)}) many_found where not (${isFew})`,
      ),
  });
}

/** A sort by the unpaid balance in one currency. */
interface Sorting {
  readonly account: AccountId;
  readonly list: ListQuery;
  /** Of the affiliates `a`. */
  readonly conditions: Sql;
  /** Whether some affiliates of the account do not match them. */
  readonly isFiltered: boolean;
}

/** The affiliates `found` (id, unpaid). */
const shown = ({ account }: Sorting, found: Sql): Sql => sql`
  select a.*, found.unpaid from (${found}) found join affiliates a on a.account_id = ${account} and a.id = found.id`;

/** The currency, and the condition of its sums `b`. */
function currencyOf({ account, list }: Sorting): { code: Sql; ofSums: Sql } {
  const given = normalizeCurrency(list.given.get('balance_currency') ?? '');
  const code = sql`coalesce(${given}::text, (select default_currency from accounts where id = ${account}))`;
  return { code, ofSums: sql`b.account_id = ${account} and b.currency = ${code}` };
}

/** The page of the affiliates `few`, with the balance of each looked up. */
function sorted(sorting: Sorting, { after, page }: PageCut): Sql {
  const { code, ofSums } = currencyOf(sorting);
  return sql`
    select * from (
      select few.id, coalesce(b.unpaid, 0) + coalesce(f.unpaid, 0) as unpaid from few
      left join affiliate_balances b on ${ofSums} and b.affiliate_id = few.id
      left join fresh f on f.affiliate_id = few.id and f.currency = ${code}) a
    where ${after} ${page}`;
}

/**
 * The page of all affiliates that match the conditions. It merges the sums, which an index has in that order, with those
 * that have changed since, and with affiliates without a balance in the currency. The latter count as 0 and are read only
 * when the page gets that far.
 */
function alongSums(sorting: Sorting, { after, upTo, page, end, isDescending }: PageCut): Sql {
  const { conditions, isFiltered } = sorting;
  const { code, ofSums } = currencyOf(sorting);
  const changed = sql`select affiliate_id from fresh where currency = ${code}`;
  // `currency > ''` holds for every balance, and lets the index be used: see its migration
  const ofIndex = sql`${ofSums} and b.currency > ''`;
  // without filters the index alone has the page, and the affiliates before it are not looked up
  const sums = isFiltered
    ? sql`select a.id, b.unpaid from affiliate_balances b join affiliates a on a.id = b.affiliate_id
          where ${ofIndex} and ${conditions}`
    : sql`select b.affiliate_id as id, b.unpaid from affiliate_balances b where ${ofIndex}`;
  return sql`
    select * from (
      (select * from (${sums} and (b.affiliate_id in (${changed})) is not true) a where ${after} ${upTo})
      union all
      select * from (
        select a.id, f.unpaid + coalesce(b.unpaid, 0) as unpaid from fresh f join affiliates a on a.id = f.affiliate_id
        left join affiliate_balances b on ${ofSums} and b.affiliate_id = f.affiliate_id
        where f.currency = ${code} and ${conditions}) a where ${after}
      union all
      (select * from (
         select a.id, 0::numeric as unpaid from affiliates a
         where ${conditions} and (a.id in (${changed})) is not true
           and not exists (select from affiliate_balances b where ${ofSums} and b.affiliate_id = a.id)
           and ${end} > (
             select count(*) from (
               select from (${sums} and b.unpaid ${raw(isDescending ? '>' : '<')} 0) a where ${after}
               limit ${end}) b) - (select count(*) from fresh)) a
       where ${after} ${upTo})) a
    ${page}`;
}
