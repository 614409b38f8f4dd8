import sql, { raw, type Sql } from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Span } from '../../kernel/time.ts';
import { type Months, movedByCountry, movedIn } from '../ledger/affiliate-series.ts';
import { readMethods as readPaidByMethod } from '../ledger/paid-by-method.ts';
import { ALL_PROGRAMS, readSeries } from '../ledger/series.ts';
import type { Figure } from './summary-record.ts';

/** Minor units; null = a group does not have this figure. */
export type Figures = Readonly<Record<Figure, bigint | null>>;

/** The sums of a group in one currency. */
export interface Group extends Figures {
  readonly key: string | null;
  readonly name: string | null;
  readonly currency: string;
}

/** A page of groups, and the number of all. */
export interface Groups {
  readonly groups: readonly Group[];
  readonly count: number;
}

/** Which groups to read, in the order of a summary. */
export interface Cut {
  readonly offset: number;
  /** Null = all. */
  readonly limit: number | null;
}

/** Which affiliates and currencies to read; null = all. */
export interface Only {
  /** ISO 3166-1 alpha-2, or `none`: affiliates without one. */
  readonly country: string | null;
  readonly currency: string | null;
}

const FIRST_INSTANT = 0;

/** The sums of the series in a period and the effect on what is owed before it, by program and currency. */
async function sumsOf(db: Reader, account: AccountId, span: Span, programs: readonly number[]) {
  const buckets = [{ from: FIRST_INSTANT, until: span.from }, span];
  const found = new Map<string, { program: bigint; currency: string; sums: Record<Figure, bigint> }>();
  for (const { bucket, program, currency, kind, amount } of await readSeries(db, account, {
    buckets,
    currency: null,
    programs,
  })) {
    const key = `${program} ${currency}`;
    const none = {
      opening: 0n,
      earned: 0n,
      adjusted: 0n,
      refunded: 0n,
      voided: 0n,
      paid: 0n,
      returned: 0n,
      closing: 0n,
    };
    const { sums } = found.get(key) ??
      found.set(key, { program, currency, sums: none }).get(key) ?? { sums: none };
    const effect = kind === 'refunded' || kind === 'voided' || kind === 'paid' ? -amount : amount;
    sums.closing += effect;
    if (bucket === 0) sums.opening += effect;
    else sums[kind] += amount;
  }
  return [...found.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** The sums of a period by currency. */
export async function readCurrencies(db: Reader, account: AccountId, span: Span): Promise<Group[]> {
  const found = await sumsOf(db, account, span, [ALL_PROGRAMS]);
  return found
    .map(({ currency, sums }) => ({ key: currency, name: null, currency, ...sums }))
    .filter(isSomething);
}

/** Whether any figure of a group is not zero. */
const isSomething = ({ key: _, name: __, currency: ___, ...figures }: Group): boolean =>
  Object.values(figures).some((figure) => figure !== null && figure !== 0n);

/** The figures of a program: payments belong to an affiliate and a currency, so nothing is known of what it was paid. */
const OF_PROGRAM = { opening: null, paid: null, returned: null, closing: null };

/** The sums of a period by program; one group is of no program. */
export async function readPrograms(db: Reader, account: AccountId, span: Span): Promise<Group[]> {
  const programs = await rows<{ id: bigint; name: string }>(
    db,
    sql`select id, name from affiliate_programs where account_id = ${account}`,
    'programs_of_report',
  );
  const names = new Map(programs.map(({ id, name }) => [id, name]));
  const found = await sumsOf(db, account, span, [ALL_PROGRAMS, ...programs.map(({ id }) => Number(id))]);
  const rest = new Map<string, Record<'earned' | 'adjusted' | 'refunded' | 'voided', bigint>>();
  for (const { program, currency, sums } of found) {
    if (program === BigInt(ALL_PROGRAMS)) rest.set(currency, { ...sums });
  }
  const groups = found.flatMap(({ program, currency, sums }): Group[] => {
    if (program === BigInt(ALL_PROGRAMS)) return [];
    const left = rest.get(currency);
    for (const name of ['earned', 'adjusted', 'refunded', 'voided'] as const)
      if (left) left[name] -= sums[name];
    return [{ key: String(program), name: names.get(program) ?? null, currency, ...sums, ...OF_PROGRAM }];
  });
  const others = [...rest].map(([currency, { earned, adjusted, refunded, voided }]): Group => {
    return { key: null, name: null, currency, earned, adjusted, refunded, voided, ...OF_PROGRAM };
  });
  return [...groups, ...others].filter(isSomething);
}

/** The figures of a method, which belongs to a payment: nothing else is known of it. */
const OF_METHOD = {
  opening: null,
  earned: null,
  adjusted: null,
  refunded: null,
  voided: null,
  closing: null,
};

/** The sums of a period by the method of the payment. */
export async function readMethods(db: Reader, account: AccountId, span: Span): Promise<Group[]> {
  const found = await readPaidByMethod(db, account, span);
  return found.map(({ method, ...sums }) => ({ key: method, name: null, ...sums, ...OF_METHOD }));
}

const ORDER = sql`currency, paid desc, earned desc, closing desc`;
const FIGURES = raw('opening, earned, adjusted, refunded, voided, paid, returned, closing');
const OPENING = raw('closing - earned - adjusted + refunded + voided + paid - returned as opening');
const IS_SOMETHING = raw(
  '(closing, earned, adjusted, refunded, voided, paid, returned) <> (0, 0, 0, 0, 0, 0, 0)',
);

/** The sums of a period by the current country of the affiliate. `db` is a snapshot. */
export async function readCountries(db: Reader, account: AccountId, period: Months): Promise<Group[]> {
  return rows(
    db,
    sql`select country as key, null as name, currency, ${FIGURES}
        from (select *, ${OPENING} from (${await movedByCountry(db, account, period)}) m) s
        where ${IS_SOMETHING}`,
  );
}

/** A page of the sums of a period by affiliate, of one country and currency or all. `db` is a snapshot. */
export async function readAffiliates(
  db: Reader,
  account: AccountId,
  period: Months & Only,
  { offset, limit }: Cut,
): Promise<Groups> {
  const { country, currency } = period;
  const ofCountry = country === 'none' ? sql`country is null` : sql`country = ${country}`;
  const isThere =
    country === null
      ? sql`true`
      : sql`affiliate_id in (select id from affiliates where account_id = ${account} and ${ofCountry})`;
  const all: Sql = sql`all_groups as materialized (
    select * from (${await movedIn(db, account, period)}) m where ${IS_SOMETHING} and ${isThere}
      and (${currency}::text is null or currency = ${currency}))`;
  const found = await rows<Group & { row_count: bigint }>(
    db,
    sql`with ${all}
        select s.affiliate_id::text as key,
               coalesce(nullif(trim(concat_ws(' ', a.name_first, a.name_last)), ''), a.email) as name, s.currency, ${FIGURES},
               n.row_count
        from (select count(*) as row_count from all_groups) n
        left join (
          select *, ${OPENING} from all_groups order by ${ORDER}, affiliate_id
          limit ${limit}::int8 offset ${offset}::int8) s on true
        left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
        order by ${ORDER}, affiliate_id`,
  );
  return {
    // without rows on the page there is one, with the count alone
    groups: found.filter(({ key }) => key !== null).map(({ row_count: _, ...group }) => group),
    count: Number(found[0]?.row_count ?? 0),
  };
}
