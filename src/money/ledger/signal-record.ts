import sql, { raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { SIGNAL_RULE_NAMES } from '../../terms/payout-signals.ts';
import { destinationTypes, lineDestination } from './destinations.ts';
import { MOST_AFFILIATES } from './shared-destinations.ts';

const rule = Type.Enum([...SIGNAL_RULE_NAMES], {
  title: 'SignalRule',
  description: 'what was found: `payout_signals` of the account has the rules',
});

const place = strict(
  { type: destinationTypes, last_four: lineDestination.properties.last_four },
  { title: 'SignalDestination' },
);

/** What the signal of a line was found by. */
const details = strict(
  {
    limit: nullable({
      ...amount,
      description: 'first_payout_above, amount_above_history: the amount is above it',
    }),
    largest_payment: nullable({ ...amount, description: 'amount_above_history: the largest payment before' }),
    previous_destination: nullable(place),
    destination: nullable(place),
    affiliates: nullable(
      Type.Array(Type.Integer(), {
        description: `shared_destination: the affiliates with this account, the first ${MOST_AFFILIATES}`,
      }),
    ),
    affiliate_count: nullable(
      Type.Integer({ description: 'shared_destination, imported_together: how many affiliates' }),
    ),
    import_id: nullable(Type.String({ description: 'imported_together: the import' })),
  },
  { title: 'SignalDetails', description: 'why; null for what the rule does not look at' },
);
const NO_DETAILS = JSON.stringify(
  Object.fromEntries(Object.keys(details.properties).map((name) => [name, null])),
);

/** What may point to fraud in a line of a payout. */
export const payoutSignal = strict(
  {
    object: Type.Literal('payout_signal'),
    rule,
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    currency: currencyCode,
    amount: { ...amount, description: 'of the line when it was found' },
    details,
    blocks: Type.Boolean({
      description:
        'the payout is not approved, and the line is in no payment file and not paid, until somebody has reviewed it',
    }),
    revision: nullable(
      Type.Integer({ description: 'the revision of the payout in which it was found; null in a preview' }),
    ),
    ended_revision: nullable(
      Type.Integer({ description: 'the revision in which it was gone; null: it holds' }),
    ),
    found_at: nullable(timestamp),
    reviewed_by: nullable(
      Type.String({ description: 'the user who reviewed it, or approved the payout with it' }),
    ),
    reviewed_at: nullable(timestamp),
    review_note: nullable(Type.String()),
  },
  { title: 'PayoutSignal' },
);
export type PayoutSignal = Static<typeof payoutSignal>;

/** The columns of a signal `s` with its affiliate `a`. `stored` = of `payout_signals`, otherwise of the CTE `found` of a preview. */
const columns = (stored: (column: string) => string) =>
  columnsOf(payoutSignal, {
    object: "'payout_signal'",
    rule: 's.rule',
    affiliate_id: 's.affiliate_id',
    name: "nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '')",
    currency: 's.currency',
    amount: 's.amount',
    details: `'${NO_DETAILS}'::jsonb || s.details`,
    blocks: 's.blocks',
    revision: stored('s.revision'),
    ended_revision: stored('s.ended_revision'),
    found_at: stored('iso(s.found_at)'),
    reviewed_by: stored("public_id('usr', s.reviewed_by)"),
    reviewed_at: stored('iso(s.reviewed_at)'),
    review_note: stored('s.review_note'),
  });
export const signalColumns = columns((column) => column);
export const previewSignalColumns = columns(() => 'null');

/** The signals of a payout by rule, as the field `signals` of its record. */
export const signalsField = Type.Array(
  strict(
    {
      rule,
      line_count: Type.Integer({ description: 'lines with the signal' }),
      unreviewed_count: Type.Integer({ description: 'of them, those that nobody has reviewed' }),
      blocking_count: Type.Integer({ description: 'of these, those that block' }),
    },
    { title: 'SignalCount' },
  ),
  { description: 'what may point to fraud, by rule: `listPayoutSignals` has the lines and reasons' },
);

/** Subquery for `signalsField` over a source of signals with `rule`, `blocks` and `reviewed_at`. */
export const signalCounts = (source: Sql): Sql => sql`(
  select coalesce(json_agg(r order by r.rule), '[]') from (
    select rule, count(*) as line_count, count(*) filter (where reviewed_at is null) as unreviewed_count,
           count(*) filter (where blocks and reviewed_at is null) as blocking_count
    from (${source}) s group by rule) r)`;

/** Whether the line of a row `t` (account_id, payout_id, affiliate_id, currency) has a signal that blocks. */
export const IS_BLOCKED = `exists (
  select from payout_signals s
  where s.account_id = t.account_id and s.payout_id = t.payout_id and s.affiliate_id = t.affiliate_id
    and s.currency = t.currency and s.blocks and s.reviewed_at is null and s.ended_revision is null)`;

/** `signalsField` of a payout `p`. */
export const signalsOfPayout = signalCounts(
  raw(`select rule, blocks, reviewed_at from payout_signals
    where account_id = p.account_id and payout_id = p.id and ended_revision is null`),
);
