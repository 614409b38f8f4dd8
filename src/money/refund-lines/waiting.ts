import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, RefundId } from '../../kernel/ids.ts';
import { NOTED, noteChanged } from '../ledger/balances.ts';
import { noteSeries, refundedBy } from '../ledger/series.ts';
import { type Candidate, requestedShareOf, settleLine } from './lines.ts';
import { lockOutRefunds, type Orders } from './locks.ts';
import { after, shareOf, type Taken } from './rule.ts';
import { followLines } from './status.ts';

/** An open line of a refund and a commission of it that has just come in. */
interface Meeting extends Candidate {
  readonly refund_id: RefundId;
  readonly position: number;
  readonly reason: string | null;
  readonly amount: bigint | null;
  readonly refunded_sale: bigint | null;
  readonly line_id: string | null;
  readonly line_external_id: string | null;
  readonly line_currency: string | null;
  readonly original_amount: bigint;
}

/** What is written once all is decided; amounts as text, since JSON carries no bigint. */
interface Outcome {
  readonly commissions: Map<string, { taken: Taken; amount: bigint; voidReason: string | null }>;
  readonly items: object[];
  readonly lines: object[];
}

/**
 * Applies refunds that arrived before their commissions to the new rows of a source, which begin voided or reduced.
 * Everything that records commissions calls it after its insert. Nobody else can see the rows yet, and they are in no
 * payout.
 */
export async function applyWaiting(tx: Tx, account: AccountId, source: Sql, orders: Orders): Promise<void> {
  if (orders === 'none') return;
  await lockOutRefunds(tx, account, orders);
  const byLine = new Map<string, Map<string, Meeting>>();
  for (const meeting of oneLineEach(await meetingsOf(tx, account, source))) {
    const key = `${meeting.refund_id} ${meeting.position}`;
    // a commission that appears twice in the input counts once
    byLine.set(key, (byLine.get(key) ?? new Map()).set(meeting.id, meeting));
  }
  if (byLine.size === 0) return;
  const outcome: Outcome = { commissions: new Map(), items: [], lines: [] };
  for (const meetings of byLine.values()) settle([...meetings.values()], outcome);
  await write(tx, account, outcome);
}

/** A refund takes a commission once: where one of its lines names the commission, that one does. */
function oneLineEach(meetings: readonly Meeting[]): Meeting[] {
  const isNaming = ({ line_external_id }: Meeting) => line_external_id !== null;
  const pair = ({ refund_id, id }: Meeting) => `${refund_id} ${id}`;
  const named = new Set(meetings.filter(isNaming).map(pair));
  return meetings.filter((meeting) => isNaming(meeting) || !named.has(pair(meeting)));
}

/** In the order of refunds. A line that another transaction changes meanwhile is waited for and read again. */
function meetingsOf(tx: Tx, account: AccountId, source: Sql): Promise<Meeting[]> {
  return rows(
    tx,
    sql`select l.refund_id, l.position, r.reason, l.amount, l.sale_amount as refunded_sale, l.order_line_id as line_id,
          l.commission_external_id as line_external_id, l.currency as line_currency,
          c.id, c.external_id, c.order_line_id, c.product_id, c.currency, c.sale_amount, c.original_amount
        from refund_lines l
        join refunds r on r.account_id = l.account_id and r.id = l.refund_id
        join ${source} on s.order_id = l.order_id
        join commissions c on c.account_id = l.account_id and c.external_id = s.external_id
          and c.order_id = l.order_id
        where l.account_id = ${account} and l.is_open
          and c.type in ('sale', 'recurring', 'bonus') and c.payout_id is null and c.voided_at is null
          and (l.product_id is null or l.product_id = c.product_id)
          and (l.order_line_id is null or l.order_line_id = c.order_line_id)
          and (l.commission_external_id is null or l.commission_external_id = c.external_id)
          and not exists (
            select from refund_items i
            where i.account_id = l.account_id and i.refund_id = l.refund_id and i.commission_id = c.id)
        order by l.refund_id, l.position, c.id
        for update of l`,
  );
}

/** Decides what one line takes of the commissions that came in for it. */
function settle(meetings: readonly Meeting[], { commissions, items, lines }: Outcome): void {
  const [first] = meetings;
  if (!first) return;
  const { refund_id, position, amount, refunded_sale: saleAmount } = first;
  const settled = settleLine(
    {
      productId: null,
      orderLineId: first.line_id,
      externalId: first.line_external_id,
      currency: first.line_currency,
      amount,
      saleAmount,
    },
    meetings,
  );
  if (settled.status !== 'applied') {
    const { line_id: order_line_id, line_currency: currency } = first;
    lines.push({ refund_id, position, status: 'in_doubt', order_line_id, currency, is_open: false });
    return;
  }
  const { orderLineId: order_line_id, currency, isOpen: is_open } = settled;
  lines.push({ refund_id, position, status: 'applied', order_line_id, currency, is_open });
  const asked = requestedShareOf({ amount, saleAmount });
  for (const { id, original_amount: original, sale_amount: sale, reason } of settled.take) {
    const born = commissions.get(id) ?? {
      taken: { original, sale, refunded: 0n, refundedSale: 0n, byAmount: 0n },
      amount: original,
      voidReason: null,
    };
    const share = shareOf(born.taken, asked);
    if (asked.of === 'rest' && share.amount === 0n) continue;
    const taken = after(born.taken, share);
    const isVoided = share.amount > 0n && taken.refunded === original;
    commissions.set(id, {
      taken,
      // a voided commission shows what was owed before
      amount: isVoided ? born.amount : born.amount - share.amount,
      voidReason: isVoided ? (reason ?? 'refunded') : born.voidReason,
    });
    items.push({
      refund_id,
      commission_id: id,
      amount: String(share.amount),
      sale_amount: share.sale === null ? null : String(share.sale),
      capped: share.capped,
    });
  }
}

async function write(tx: Tx, account: AccountId, { commissions, items, lines }: Outcome): Promise<void> {
  const born = [...commissions].map(([id, { taken, amount, voidReason: void_reason }]) => ({
    ...{ id, amount: String(amount), refunded: String(taken.refunded), void_reason },
  }));
  await rows(
    tx,
    sql`with item as (
          insert into refund_items (account_id, refund_id, commission_id, amount, sale_amount, capped)
          select ${account}, refund_id, commission_id, amount, sale_amount, capped
          from json_to_recordset(${JSON.stringify(items)}::json)
            as i (refund_id uuid, commission_id uuid, amount int8, sale_amount int8, capped boolean)
          returning refund_id, commission_id, amount),
        noted as (${noteSeries(account, refundedBy(account, '', sql`item`))})
        select 1`,
  );
  await rows(
    tx,
    sql`with born as materialized (
          select b.*, clock_time() as now from json_to_recordset(${JSON.stringify(born)}::json)
            as b (id uuid, amount int8, refunded int8, void_reason text)),
        before as materialized (
          select ${NOTED} from commissions where account_id = ${account} and id in (select id from born)),
        after as (
          update commissions c set amount = b.amount, refunded_amount = b.refunded, void_reason = b.void_reason,
            voided_at = case when b.void_reason is not null then b.now end, updated_at = b.now
          from born b where c.account_id = ${account} and c.id = b.id returning c.*),
        balanced as (${noteChanged(account)})
        select 1`,
  );
  await rows(
    tx,
    sql`with noted as (
          select * from json_to_recordset(${JSON.stringify(lines)}::json)
            as t (refund_id uuid, position int, status text, order_line_id text, currency text, is_open boolean)),
        changed as (
          update refund_lines l set status = t.status, order_line_id = t.order_line_id, currency = t.currency,
            is_open = t.is_open
          from noted t where l.account_id = ${account} and l.refund_id = t.refund_id and l.position = t.position)
        select 1`,
  );
  const ids = lines.map((line) => (line as { refund_id: RefundId }).refund_id);
  await followLines(tx, account, [...new Set(ids)]);
}
