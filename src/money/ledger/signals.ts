import sql, { join, raw, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import {
  DEFAULT_SIGNALS,
  HISTORY_MONTHS,
  SIGNAL_RULE_NAMES,
  type SignalRule,
  type SignalSetting,
  signalRule,
} from '../../terms/payout-signals.ts';
import { destinationsInForce, paidThrough, paidThroughInForce } from './destinations.ts';
import { MOST_AFFILIATES, sharedAccounts } from './shared-destinations.ts';
import { duePaid } from './tax-on-top.ts';

/*
 * Finds what may point to fraud in the lines of a payout: one statement for rules about a line, and one for rules about several. Signals of an unpaid payout are
 * found when it is created, and again for what a revision changed. A signal is never changed: it ends, and another is found.
 */

/** A rule that is not off. */
export interface ActiveRule {
  readonly name: SignalRule;
  readonly setting: SignalSetting;
}

/** The rules of an account that are not off. */
export async function readSignalRules(db: Reader, account: AccountId): Promise<ActiveRule[]> {
  const row = await maybeRow<{ json: Json<Partial<Record<SignalRule, SignalSetting>>> }>(
    db,
    sql`select payout_signals::text as json from accounts where id = ${account}`,
    'signal_rules',
  );
  const settings = { ...DEFAULT_SIGNALS, ...(row === null ? {} : fromJson(row.json)) };
  return SIGNAL_RULE_NAMES.map((name) => ({ name, setting: settings[name] })).filter(
    ({ setting }) => setting.action !== 'off',
  );
}

const isOfLine = (name: SignalRule): boolean => signalRule(name).about === 'line';

/** A field of the destination in force of a row joined to `destinationsInForce`. */
const inForce = (field: string) => `case when own.id is not null then own.${field} else every.${field} end`;
const PREVIOUS = paidThrough('d.type', 'l');

/** Whether what was paid last, to `d` or as the line `l` says, is another account or address than the one in force. */
const IS_ELSEWHERE = `case ${paidThroughInForce} when ${PREVIOUS} then case ${PREVIOUS}
    when 'paypal' then lower(a.paypal_email) is distinct from lower(l.paypal_email)
    when 'wise' then lower(a.email) is distinct from lower(l.email)
    else ${inForce('id')} is distinct from d.id and (${inForce('number_mark')}, ${inForce('routing_number')})
      is distinct from (d.number_mark, d.routing_number) end
  else ${PREVIOUS} is not null and ${paidThroughInForce} is not null end`;

const limitOf = ({ amounts = {} }: SignalSetting) =>
  sql`(${JSON.stringify(amounts)}::jsonb ->> t.currency)::int8`;
const sameLine = raw('g.affiliate_id = t.affiliate_id and g.currency = t.currency');

/**
 * The query of the lines that a rule finds: affiliate_id, currency, amount, details. Over the CTEs `line`, lines of the payout, and
 * their `history`.
 */
const FINDERS: Readonly<Record<SignalRule, (account: AccountId, setting: SignalSetting) => Sql>> = {
  destination_changed: (account) => sql`
    select t.affiliate_id, t.currency, t.amount, jsonb_build_object(
      'previous_destination', jsonb_build_object('type', ${raw(PREVIOUS)}, 'last_four', d.last_four),
      'destination', jsonb_build_object('type', ${raw(paidThroughInForce)}, 'last_four', ${raw(inForce('last_four'))})) as details
    from line t join history g on ${sameLine}
    join affiliates a on a.account_id = ${account} and a.id = t.affiliate_id
    join payout_lines l on l.account_id = ${account} and l.payout_id = g.last_payout and l.affiliate_id = t.affiliate_id
    join payout_line_totals h on h.account_id = ${account} and h.payout_id = g.last_payout
      and h.affiliate_id = t.affiliate_id and h.currency = t.currency
    left join affiliate_destinations d on d.account_id = ${account} and d.id = h.destination_id
    ${destinationsInForce(account)}
    where ${raw(IS_ELSEWHERE)}`,

  shared_destination: (account) => sql`
    select t.affiliate_id, t.currency, t.amount, jsonb_build_object(
      'destination', jsonb_build_object('type', g.type, 'last_four', g.last_four),
      'affiliates', to_jsonb(g.ids[:${MOST_AFFILIATES}::int]), 'affiliate_count', cardinality(g.ids)) as details
    from (${sharedAccounts(sql`${account}::uuid`, sql`select * from line`)}) g
    cross join jsonb_to_recordset(g.lines) t (affiliate_id int8, currency text, amount int8)`,

  first_payout_above: (_, setting) => sql`
    select t.affiliate_id, t.currency, t.amount, jsonb_build_object('limit', ${limitOf(setting)}) as details
    from line t left join history g on ${sameLine}
    where g.affiliate_id is null and t.amount > ${limitOf(setting)}`,

  amount_above_history: (_, setting) => sql`
    select t.affiliate_id, t.currency, t.amount, jsonb_build_object(
      'limit', ${setting.times}::int8 * g.largest, 'largest_payment', g.largest) as details
    from line t join history g on ${sameLine}
    where t.amount > ${setting.times}::int8 * g.largest and t.amount > coalesce(${limitOf(setting)}, 0)`,

  imported_together: (account, { affiliates, days }) => sql`
    select affiliate_id, currency, amount, jsonb_build_object(
      'import_id', public_id('imp', import_id), 'affiliate_count', affiliate_count) as details
    from (
      select t.*, max(t.place) over (partition by t.import_id) as affiliate_count
      from (
        select t.*, m.import_id, dense_rank() over (partition by m.import_id order by t.affiliate_id) as place
        from import_affiliates m join line t on t.affiliate_id = m.affiliate_id
        where m.account_id = ${account} and m.before is null and not exists (
          select from payout_lines l
          join payout_line_totals h on h.account_id = l.account_id and h.payout_id = l.payout_id
            and h.affiliate_id = l.affiliate_id and h.is_paid
          where l.account_id = ${account} and l.affiliate_id = t.affiliate_id)) t
      join imports i on i.account_id = ${account} and i.id = t.import_id and i.status = 'completed'
        and i.id > id_floor(now() - make_interval(days => ${days}::int))) t
    where affiliate_count >= ${affiliates}::int`,
};

/** CTEs up to `found`: rule, affiliate_id, currency, amount, details, blocks. `lines` is a query of lines. */
export function signalCtes(account: AccountId, rules: readonly ActiveRule[], lines: Sql): Sql {
  const found = rules.map(
    ({ name, setting }) => sql`
      select ${name}::text as rule, f.*, ${setting.action === 'block'}::boolean as blocks
      from (${FINDERS[name](account, setting)}) f`,
  );
  const none = sql`select ''::text as rule, affiliate_id, currency, amount, '{}'::jsonb as details, false as blocks
    from line where false`;
  return sql`
    line as materialized (${lines}),
    history as materialized (
      select h.affiliate_id, h.currency, max(${raw(duePaid('h'))}) as largest,
             (array_agg(h.payout_id order by p.paid_at desc, p.number desc) filter (where p.import_id is null))[1] as last_payout
      from payouts p
      join payout_line_totals h on h.account_id = p.account_id and h.payout_id = p.id and h.is_paid
      where p.account_id = ${account} and p.status = 'paid' and p.paid_at > now() - make_interval(months => ${HISTORY_MONTHS})
        and (h.affiliate_id, h.currency) in (select affiliate_id, currency from line)
      group by 1, 2),
    found as materialized (${join([none, ...found], ' union all ')})`;
}

/** What a revision changed. */
export interface Revised {
  /** A condition over the lines `l` of the payout whose signals are found again; null = all. */
  readonly lines: Sql | null;
  /** Whether rules that look at several lines together may have another result. */
  readonly regroups: boolean;
}

/**
 * Finds the signals of the current revision of an unpaid payout, and ends those that no longer hold. One that was found with a
 * smaller amount is found again. The caller has locked the books.
 */
export async function noteSignals(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  { lines, regroups }: Revised,
): Promise<void> {
  const rules = await readSignalRules(tx, account);
  const ofLines = SIGNAL_RULE_NAMES.filter(isOfLine);
  const ofGroups = SIGNAL_RULE_NAMES.filter((name) => !isOfLine(name));
  await note(tx, { account, payout, rules, names: ofLines, lines });
  if (regroups) await note(tx, { account, payout, rules, names: ofGroups, lines: null });
}

/** The same for the rules with these names, over lines `l` of the payout; null = all of them. `rules` are those that are not off. */
async function note(
  tx: Tx,
  {
    account,
    payout,
    rules,
    names,
    lines,
  }: Pick<Revised, 'lines'> & {
    readonly account: AccountId;
    readonly payout: PayoutId;
    readonly rules: readonly ActiveRule[];
    readonly names: readonly SignalRule[];
  },
): Promise<void> {
  const ofPayout = (alias: string) =>
    sql`${raw(alias)}.account_id = ${account} and ${raw(alias)}.payout_id = ${payout}`;
  const changed =
    lines === null
      ? sql`true`
      : sql`t.affiliate_id in (select l.affiliate_id from payout_lines l where ${ofPayout('l')} and ${lines})`;
  const isSame = sql`s.rule = f.rule and s.affiliate_id = f.affiliate_id and s.currency = f.currency
    and s.details = f.details and s.blocks = f.blocks and s.amount >= f.amount`;
  const active = rules.filter(({ name }) => names.includes(name));
  // the planner knows nothing of a payout that was just created
  if (lines === null) await rows(tx, sql`set local enable_nestloop = off`);
  await rows(
    tx,
    sql`with ${signalCtes(
      account,
      active,
      sql`select t.affiliate_id, t.currency, t.amount + t.tax_amount as amount from payout_line_totals t
          where ${ofPayout('t')} and ${changed}`,
    )},
        present as (select revision from payouts where account_id = ${account} and id = ${payout}),
        ended as (
          update payout_signals s set ended_revision = present.revision from present
          where ${ofPayout('s')} and s.ended_revision is null and s.rule = any(${names})
            and (${lines === null}::boolean or s.affiliate_id in (select affiliate_id from line) or not exists (
              select from payout_line_totals t
              where ${ofPayout('t')} and t.affiliate_id = s.affiliate_id and t.currency = s.currency))
            and not exists (select from found f where ${isSame})),
        begun as materialized (
          select f.affiliate_id, f.currency, f.rule, present.revision, f.amount, f.details, f.blocks
          from found f cross join present
          where not exists (
            select from payout_signals s where ${ofPayout('s')} and s.ended_revision is null and ${isSame}))
        insert into payout_signals (account_id, payout_id, affiliate_id, currency, rule, revision, amount, details, blocks)
        select ${account}::uuid, ${payout}::uuid, affiliate_id, currency, rule, revision, amount, details, blocks from begun`,
  );
  if (lines === null) await rows(tx, sql`set local enable_nestloop to default`);
}
