import sql, { type Sql } from 'sql-template-tag';
import {
  currency,
  type Filter,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, parseDayIn, type Span } from '../../kernel/time.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';
import { movements } from '../ledger/movements.ts';
import { KINDS, type ReportEntry, record } from './entry-record.ts';

/** A bound of the period: a day of the account's time zone. */
const day = (condition: (day: Span) => Sql): Filter => ({
  rule: 'a day YYYY-MM-DD, from 1970 to 2999',
  schema: { title: 'Day', type: 'string' },
  condition(value, { zone }) {
    const found = parseDayIn(value, zone);
    return found && condition(found);
  },
});

/** The current country of the affiliate. */
const country: Filter = {
  rule: 'a code of two letters such as DE (ISO 3166-1 alpha-2), or none',
  schema: { type: 'string', pattern: '^([A-Za-z]{2}|none)$' },
  condition(value, { account }) {
    if (!/^([A-Za-z]{2}|none)$/.test(value)) return null;
    const code = value === 'none' ? null : value.toUpperCase();
    return sql`e.affiliate_id in (
      select id from affiliates where account_id = ${account} and country is not distinct from ${code}::text)`;
  },
};

export const entryList: ListDefinition = {
  id: 'e.key',
  defaultSort: '-occurred_at',
  sort: { occurred_at: 'e.at' },
  filters: {
    from: day(({ from }) => sql`e.at >= ${formatInstant(from)}::timestamptz`),
    to: day(({ until }) => sql`e.at < ${formatInstant(until)}::timestamptz`),
    kind: oneOf(KINDS, (kind) => sql`e.kind = ${kind}`),
    currency: currency('e.currency'),
    affiliate_id: numberId((id) => sql`e.affiliate_id = ${id}`),
    country,
    program_id: numberId((id) => sql`e.program_id = ${id}`),
    has_program: oneOf(['true', 'false'], (has) => sql`(e.program_id is not null) = ${has}::boolean`),
    payout_method: oneOf([...DESTINATION_TYPES, 'none'], (method) =>
      method === 'none' ? sql`e.method is null` : sql`e.method = ${method}`,
    ),
  },
};

/** A page of the entries that the amounts of a report are sums of. */
export function listEntries(db: Reader, account: AccountId, list: ListQuery): Promise<Page<ReportEntry>> {
  return listPage(db, {
    list,
    name: 'report_entries',
    // the account is part of the text
    isPrepared: false,
    table: `(${movements(account, null)})`,
    alias: 'e',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${account} and a.id = e.affiliate_id`,
    record,
  });
}
