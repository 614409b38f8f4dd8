import { createHash } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/database.ts';
import { toJson } from '../../kernel/json.ts';
import type { Payer } from '../../people/accounts/record.ts';
import { type FilePart, type PaymentFormat, type Payments, payingFrom } from './format.ts';
import { orderOf, rowsInFile } from './rows.ts';
import { debtorName } from './sepa-message.ts';

/** Raise this when a format writes other bytes for the same rows: an id must never name two different files. */
const LAYOUT = 1;

/** What a file set depends on. */
export interface Identified {
  readonly payments: Payments;
  readonly file: Pick<FilePart, 'currency' | 'sourceCurrency' | 'isInstant'>;
  readonly payer: Payer;
}

/** What identifies a file set. */
export interface Identity {
  /** Digest of everything its files depend on except the day of execution; hexadecimal. */
  readonly content: string;
  readonly rows: number;
  readonly parts: number;
}

/**
 * The identity of the file set for these payments (docs/decisions/0071). It includes the account, so two accounts with
 * the same debtor have different ids.
 */
export async function identityOf(db: Reader, { payments, file, payer }: Identified): Promise<Identity> {
  const { account, payout, format, wholeUnits } = payments;
  const whole = { ...file, part: null, span: null };
  const all = rowsInFile(
    payments,
    whole,
    `${format.content} as content, row_number() over (order by ${orderOf(format)}) as place`,
  );
  const { digest, count } = await oneRow<{ digest: string; count: number }>(
    db,
    sql`select count(*)::int as count,
               encode(sha256(coalesce(string_agg(sha256(convert_to(content, 'UTF8')), ''::bytea order by place), '')), 'hex') as digest
        from (${raw(all)}) r`,
  );
  const parts = partsOf(format, count);
  const from = payingFrom(format, payer);
  const content = digestOf([
    LAYOUT,
    account,
    payout,
    format.name,
    file.currency,
    file.sourceCurrency,
    wholeUnits,
    from && { ...identifying(from), rows_per_file: null },
    parts > 1 ? format.maxRows : null,
    digest,
    ...(file.isInstant ? ['INST'] : []),
  ]);
  return { content, rows: count, parts };
}

/**
 * What identifies the payer. A debtor's name counts as it is written, if banks need another spelling; whether transfers are instant counts for
 * each file.
 */
function identifying(from: NonNullable<ReturnType<typeof payingFrom>>) {
  if (!('iban' in from)) return from;
  const { is_instant: _, ...debtor } = from;
  const written = debtorName(debtor);
  return written === debtor.name ? debtor : { ...debtor, written };
}

/** How many files a number of rows needs. */
export const partsOf = ({ maxRows }: PaymentFormat, rows: number): number =>
  maxRows === null ? 1 : Math.ceil(rows / maxRows);

const digestOf = (all: readonly unknown[]) => createHash('sha256').update(toJson(all)).digest('hex');

// Crockford's alphabet: banks take capital letters and digits, and people confuse I, L, O and U
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 8;

/** The first characters of the digest of a content and its day, in the letters of an id. */
export function codeOf(content: string, executionDate: string | null): string {
  const bytes = createHash('sha256').update(`${content} ${executionDate}`).digest();
  return Array.from({ length: CODE_LENGTH }, (_, place) => LETTERS[(bytes[place] ?? 0) % 32]).join('');
}
