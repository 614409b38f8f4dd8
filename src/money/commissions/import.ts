import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import type { BadLines } from '../files/csv-import.ts';
import {
  type ImportOutcome,
  type ImportRequest,
  type ReaderSettings,
  refuseBadLines,
  stageCsv,
  takeOutBad,
} from '../files/csv-stage.ts';
import { changeCommissions } from '../ledger/balances.ts';
import {
  type BeyondLimit,
  beginLocked,
  beyondLimitIn,
  beyondLimitRule,
  isNearLimit,
  lockBalances,
  MOST_UNLOCKED,
} from '../ledger/limit.ts';
import { AFFILIATE_NAMES, type AffiliateName } from '../ledger/references.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { AFFILIATE_COLUMNS, commissionsFormat, IMPORTED } from './import-format.ts';
import { imported } from './service.ts';
import { columnsOf, contradictionsIn, insertCommissions, sumsOf, unknownIn } from './store.ts';

/**
 * Creates commissions from a CSV file of any size in the request's transaction. Lines that are already stored with the
 * same content count as unchanged. The caller rolls back a dry run. Throws `invalid_file`, and `invalid_lines` unless
 * `partial` or `dryRun`, which report the bad lines instead.
 */
export async function importCommissions(
  tx: Tx,
  account: AccountId,
  request: ImportRequest,
  settings: ReaderSettings,
): Promise<ImportOutcome> {
  const { dryRun, partial, provided, importId, enter } = request;
  const { staged } = commissionsFormat(settings, provided !== null);
  await enter('reading');
  const { header, lines, skipped, bad } = await stageCsv(tx, request, staged, settings);
  await enter('writing');
  const source = sourceOf(account, header);
  const stop = () => bad.count > 0 && !partial && !dryRun && refuseBadLines(bad, lines);
  await dropUnknown(tx, account, source, header, bad);
  if (header.has('paid_at')) await dropImpossible(tx, bad);
  await dropBeyond(tx, account, source, bad);
  stop();
  const orders = header.has('order_id') ? 'many' : 'none';
  const created = await insertCommissions(tx, account, source, { orders, importId });
  if (created > 0) await beginLockedIfNear(tx, account);
  if (created < lines - skipped - bad.count) await dropContradictions(tx, account, source, bad);
  if (header.has('paid_at') && importId !== null) await dropUnpaid(tx, account, importId, bad);
  stop();
  const { json: totals, largest } = await sumsOf(tx, source);
  refuseInexact(largest);
  if (header.has('is_pending') && importId !== null) await holdPending(tx, account, importId);
  const unchanged = lines - skipped - bad.count - created;
  if (created > 0 && !dryRun) {
    const data = imported({ source: 'file', created, unchanged, failed: bad.count }, totals);
    await publish(tx, { account, type: 'commissions.imported', data });
  }
  return { lines, created, updated: 0, unchanged, skipped, totals: fromJson(totals), bad };
}

/** Removes lines that would bring the balance of an affiliate over the limit. */
async function dropBeyond(tx: Tx, account: AccountId, source: Sql, bad: BadLines): Promise<void> {
  await rows(
    tx,
    sql`create temporary table staged_sums on commit drop as
        select affiliate_id, currency, sum(amount) as amount from ${source} group by affiliate_id, currency`,
  );
  const much = await rows<{ affiliate_id: bigint }>(
    tx,
    sql`select distinct affiliate_id from staged_sums where amount > ${MOST_UNLOCKED}::int8`,
  );
  await lockBalances(
    tx,
    account,
    much.map(({ affiliate_id: id }) => id),
  );
  const found = beyondLimitIn(tx, account, source);
  const messagesOf = (line: BeyondLimit) => [`amount: ${beyondLimitRule(line)}`];
  if (found !== null) await takeOutBad<BeyondLimit>(tx, bad, { found, messagesOf });
}

/** Begins again with locks if the balance of an affiliate is near the limit now. */
async function beginLockedIfNear(tx: Tx, account: AccountId): Promise<void> {
  const near = await rows<{ affiliate_id: bigint }>(
    tx,
    sql`with s as materialized (select affiliate_id, currency from staged_sums)
        select distinct affiliate_id from s where ${isNearLimit(account, sql`s.affiliate_id`, sql`s.currency`)}`,
  );
  beginLocked(
    tx,
    account,
    near.map(({ affiliate_id: id }) => id),
  );
}

/** Removes lines that were paid in the future, or contradict an earlier line for the same commission. */
const dropImpossible = (tx: Tx, bad: BadLines): Promise<void> =>
  takeOutBad<{ line: number; message: string }>(tx, bad, {
    found: sql`
      select line, case when paid_at > now() then 'paid_at must not be in the future'
          else concat('external_id ', to_json(external_id), ' is also in line ', first, ', paid at another time or not') end
          as message
      from (
        select line, external_id, paid_at, first_value(line) over same as first,
               (paid_at, payment_reference, is_pending) is distinct from first_value((paid_at, payment_reference, is_pending)) over same
                 as is_other
        from staged window same as (partition by external_id order by line)) compared
      where paid_at > now() or is_other`,
    messagesOf: ({ message }) => [message],
  });

/** Removes lines marked as paid whose commissions exist here and are not paid. */
const dropUnpaid = (tx: Tx, account: AccountId, importId: ImportId, bad: BadLines): Promise<void> =>
  takeOutBad<{ line: number; external_id: string }>(tx, bad, {
    found: sql`
      select s.line, s.external_id from staged s
      join commissions c on c.account_id = ${account} and c.external_id = s.external_id
      left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
      where s.paid_at is not null and c.import_id is distinct from ${importId}::uuid
        and p.status is distinct from 'paid'`,
    messagesOf: ({ external_id }) => {
      const what = `commission ${quote(external_id)} is here already and not paid: complete its payout`;
      return [`paid_at: ${what}`];
    },
  });

/** Holds lines that await approval, as `hold` does. */
async function holdPending(tx: Tx, account: AccountId, importId: ImportId): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`import_id = ${importId} and external_id in (
      select external_id from staged where is_pending and paid_at is null)`,
    set: sql`held_available_at = available_at, available_at = 'infinity'`,
  });
}

const affiliateColumn = (header: ReadonlySet<string>): AffiliateName =>
  AFFILIATE_COLUMNS.find((name) => header.has(name)) ?? 'affiliate_id';

/** The staged lines with their affiliates. */
function sourceOf(account: AccountId, header: ReadonlySet<string>): Sql {
  return sql`(select f.line, f.affiliate, a.id as affiliate_id, ${columnsOf(IMPORTED, 'f.')}, null::jsonb as metadata from staged f
    left join affiliates a on a.account_id = ${account} and ${AFFILIATE_NAMES[affiliateColumn(header)](sql`f.affiliate`)}) s`;
}

function dropUnknown(
  tx: Tx,
  account: AccountId,
  source: Sql,
  header: ReadonlySet<string>,
  bad: BadLines,
): Promise<void> {
  const column = affiliateColumn(header);
  return takeOutBad<{ line: number; what: string; affiliate: string; program_id: bigint | null }>(tx, bad, {
    found: unknownIn(account, source, sql`s.line, s.affiliate, s.program_id`),
    messagesOf: ({ what, affiliate, program_id }) => {
      const [name, value] = what === 'affiliate' ? [column, affiliate] : ['program_id', program_id];
      return [`${name} belongs to no ${what}: ${quote(String(value))}`];
    },
  });
}

/** Removes lines whose commission exists with other content, here or by an earlier line of the file. */
const dropContradictions = (tx: Tx, account: AccountId, source: Sql, bad: BadLines): Promise<void> =>
  takeOutBad<{ line: number; external_id: string; good: number | null }>(tx, bad, {
    found: contradictionsIn(account, source),
    reported: {
      columns: sql`f.line, f.external_id, g.line as good`,
      joined: sql`left join (
        select external_id, min(line) as line from staged where line not in (select line from found) group by 1) g
        using (external_id)`,
    },
    messagesOf: ({ external_id, good }) => {
      const where = good === null ? 'exists' : `is also in line ${good}`;
      return [`external_id ${quote(external_id)} ${where} with other content`];
    },
  });
