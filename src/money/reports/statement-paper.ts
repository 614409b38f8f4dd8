import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { formatDecimal } from '../../kernel/money.ts';
import { grouped, type Paper, type Row, type Table } from '../../papers/paper.ts';
import { getAccount } from '../../people/accounts/service.ts';
import { missingAffiliate } from '../affiliates/service.ts';
import { inWords, type PeriodInput, readPeriod } from './period.ts';
import { ENTRY_KINDS, type EntryKind } from './statement-record.ts';
import { readLines, readSums, type StatementLine, statementLines } from './statement-store.ts';

/** The maximum number of entries in a document. CSV has no limit, and nobody reads a hundred pages. */
const MOST_ENTRIES = 5000;

const KINDS: Readonly<Record<EntryKind, { readonly entry: string; readonly sum: string }>> = {
  earned: { entry: 'Commission', sum: 'Earned' },
  adjusted: { entry: 'Adjustment', sum: 'Adjusted' },
  refunded: { entry: 'Refund', sum: 'Refunded' },
  voided: { entry: 'Commission voided', sum: 'Voided' },
  paid: { entry: 'Payment', sum: 'Paid' },
  returned: { entry: 'Payment returned', sum: 'Returned' },
};

/** The input for a statement document. It is made in a thread, because 5,000 entries would block other requests. */
export interface StatementDraft {
  readonly merchant: string;
  readonly zone: string;
  readonly affiliate: number;
  /** Null = unknown. */
  readonly name: string | null;
  readonly email: string;
  /** The period as text. */
  readonly period: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** JSON for `statementLines`. */
  readonly lines: string;
}

/**
 * The content of an affiliate's statement document, with the name of its file. Throws `invalid_query`, also for more
 * entries than a document takes, and `resource_missing`.
 */
export async function draftStatement(
  db: Reader,
  account: AccountId,
  affiliateId: string,
  input: PeriodInput,
): Promise<{ draft: StatementDraft; name: string }> {
  const { name: merchant, time_zone: zone } = fromJson(await getAccount(db, account));
  const period = readPeriod(input, zone);
  const affiliate = numberIdOf(affiliateId);
  const found = affiliate === null ? null : await readSums(db, account, affiliate, { from: 0, until: 0 });
  if (affiliate === null || found === null) throw missingAffiliate();
  const lines = await readLines(db, { account, affiliate, zone }, period.span, MOST_ENTRIES + 1);
  if (lines.count > MOST_ENTRIES) {
    throw fail(
      'invalid_query',
      `format: the period has more than ${MOST_ENTRIES} entries, too many for a document: choose a shorter period, or csv`,
    );
  }
  const { name, email, now } = found;
  const about = { merchant, zone, affiliate, name, email, period: inWords(period), at: Number(now) };
  return { draft: { ...about, lines: lines.json }, name: `statement-${affiliate}${period.name}` };
}

/** The statement document: by currency, its sums and every entry between the balances. */
export function statementPaper(draft: StatementDraft): Paper {
  const { merchant, zone, affiliate, name, email, period, at } = draft;
  const lines = statementLines(draft.lines);
  const who = name ?? email;
  return {
    title: 'Statement',
    name: `Statement of ${who}, ${period}`,
    at,
    parties: [
      { label: 'From', name: merchant, lines: [] },
      {
        label: 'For',
        name: who,
        lines: [...(name === null ? [] : [email]), `Affiliate ${affiliate}`],
      },
    ],
    facts: [
      ['Period', `${period}, days of ${zone}`],
      ['Made', `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ],
    tables: [...new Set(lines.map(({ currency }) => currency))].flatMap((currency) => {
      const own = lines.filter((line) => line.currency === currency);
      return [sumsOf(currency, own), entriesOf(currency, own)];
    }),
    notes: lines.length === 0 ? ['Nothing was earned or paid.'] : [],
  };
}

const amountOf = (amount: bigint, currency: string) => grouped(formatDecimal(amount, currency));

/** The balances of a currency and the entries between them, summed by kind. */
function sumsOf(currency: string, lines: readonly StatementLine[]): Table {
  const sum = (kind: StatementLine['kind']) =>
    lines.reduce((total, line) => (line.kind === kind ? total + line.amount : total), 0n);
  const row = (text: string, amount: bigint): Row => ({ cells: [text, amountOf(amount, currency)] });
  const kinds = (Object.keys(ENTRY_KINDS) as EntryKind[]).filter((kind) => sum(kind) !== 0n);
  return {
    title: `Balance in ${currency.toUpperCase()}`,
    columns: [{ title: 'Sum' }, { title: 'Amount', isFigure: true }],
    rows: [
      row('Owed before', sum('opening_balance')),
      ...kinds.map((kind) => row(KINDS[kind].sum, sum(kind))),
      { ...row('Owed after', sum('closing_balance')), isSum: true },
    ],
  };
}

/** Every entry of a currency, with what was owed after it. */
function entriesOf(currency: string, lines: readonly StatementLine[]): Table {
  let balance = 0n;
  const rows = lines.map((line): Row => {
    const { day, kind, amount, what, reference } = line;
    if (kind === 'opening_balance' || kind === 'closing_balance') {
      balance = amount;
      const text = kind === 'opening_balance' ? 'Owed before' : 'Owed after';
      return { cells: ['', text, '', '', '', amountOf(amount, currency)], isSum: true };
    }
    balance += amount;
    const figures = [amount, balance].map((each) => amountOf(each, currency));
    return { cells: [day ?? '', KINDS[kind].entry, what ?? '', reference ?? '', ...figures] };
  });
  return {
    title: `Entries in ${currency.toUpperCase()}`,
    columns: [
      ...['Day', 'Entry', 'Id', 'Reference'].map((title) => ({ title })),
      ...['Amount', 'Owed'].map((title) => ({ title, isFigure: true })),
    ],
    rows,
  };
}
