import sql, { type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import { destinationTypes } from './destinations.ts';

const MOST_ACCOUNTS = 100;
/** At most this many affiliates of a shared account are named. */
export const MOST_AFFILIATES = 20;

/** Affiliates of one payout with the same bank account, as the field `shared_destinations` of an unpaid payout. */
export const sharedDestinationsField = Type.Array(
  strict(
    {
      type: destinationTypes,
      last_four: Type.String({ description: 'the last four characters of the IBAN or account number' }),
      affiliate_count: Type.Integer(),
      affiliates: Type.Array(
        strict(
          {
            affiliate_id: Type.Integer(),
            name: nullable(Type.String()),
            email: nullable(Type.String()),
          },
          { title: 'SharedDestinationAffiliate' },
        ),
        { description: `the first ${MOST_AFFILIATES}` },
      ),
    },
    { title: 'SharedDestination' },
  ),
  {
    description:
      'bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several ' +
      `affiliate accounts; the first ${MOST_ACCOUNTS}, empty once the payout is paid`,
  },
);

/**
 * A query of the lines that are paid to an account which several destinations share: affiliate_id, currency, amount,
 * number_mark, type, last_four. Takes SQL for the account, and a query of `affiliate_id`, `currency` and `amount` of each line. It
 * begins with the shared accounts, which an index finds, so a payout of many lines is not joined to all destinations.
 */
const linesAtShared = (account: Sql, lines: Sql): Sql => sql`
  select t.affiliate_id, t.currency, t.amount, x.number_mark, x.type, x.last_four
  from (
    select number_mark from affiliate_destinations
    where account_id = ${account} and replaced_at is null and number_mark is not null
    group by number_mark having count(*) > 1) m
  join affiliate_destinations x on x.account_id = ${account} and x.number_mark = m.number_mark and x.replaced_at is null
  join (${lines}) t on t.affiliate_id = x.affiliate_id and (x.currency = t.currency or x.currency is null and not exists (
    select from affiliate_destinations o where o.account_id = ${account} and o.affiliate_id = t.affiliate_id
      and o.replaced_at is null and o.currency = t.currency))`;

/** A query of the accounts of such lines that several affiliates of the payout share: number_mark, type, last_four, ids, lines. */
export const sharedAccounts = (account: Sql, lines: Sql): Sql => sql`
  select number_mark, min(type) as type, min(last_four) as last_four,
         array_agg(distinct affiliate_id order by affiliate_id) as ids,
         jsonb_agg(jsonb_build_object('affiliate_id', affiliate_id, 'currency', currency, 'amount', amount)) as lines
  from (${linesAtShared(account, lines)}) s
  group by number_mark having count(distinct affiliate_id) > 1`;

/** Subquery for `sharedDestinationsField`, with the parameters of `sharedAccounts`. */
export const sharedDestinations = (account: Sql, lines: Sql): Sql => sql`(
  select coalesce(json_agg(json_build_object('type', g.type, 'last_four', g.last_four,
    'affiliate_count', cardinality(g.ids), 'affiliates', (
      select json_agg(json_build_object('affiliate_id', a.id,
        'name', nullif(trim(concat_ws(' ', a.name_first, a.name_last)), ''), 'email', a.email) order by a.id)
      from affiliates a where a.account_id = ${account} and a.id = any (g.ids[:${MOST_AFFILIATES}::int])))
    order by g.ids[1], g.type), '[]')
  from (${sharedAccounts(account, lines)} order by ids limit ${MOST_ACCOUNTS}) g)`;
