import { Readable } from 'node:stream';
import sql, { raw } from 'sql-template-tag';
import type { Address } from '../../contract/addresses.ts';
import { oneRow } from '../../db/database.ts';
import type { DestinationId } from '../../kernel/ids.ts';
import { placeOf } from '../destinations/sealed.ts';
import { DECIMAL, type Making } from './format.ts';
import { rowsInFile } from './rows.ts';

/** A postal address with its country. */
export type PayeeAddress = Address & { readonly country: string };

/** A payment to a bank account. */
export interface BankPayment {
  readonly affiliate_id: number;
  readonly reference: string;
  /** Minor units. */
  readonly amount: number;
  /** The amount with the digits of its currency. */
  readonly decimal: string;
  /** The account holder in the character set of banks. */
  readonly holder: string;
  /** IBAN or account number. */
  readonly number: string;
  readonly bic: string | null;
  readonly email: string;
  /** The currency that it is paid from. */
  readonly source_currency: string;
  /** Where the payee lives, if the tax profile says so; of SEPA payments only if the account is outside the EEA. */
  readonly address?: PayeeAddress | null;
  readonly routing_number: string | null;
  readonly account_type: string | null;
  readonly legal_type: string | null;
}

/** The header sums of a bank file. */
export interface BankSums {
  readonly count: number;
  /** The sum with the digits of its currency. */
  readonly decimal: string;
}

const FIELDS = `'affiliate_id', r.affiliate_id, 'reference', r.reference, 'amount', r.amount,
  'decimal', ${DECIMAL}, 'holder', r.holder_in_files, 'destination', r.destination_id, 'bic', r.bic,
  'routing_number', r.routing_number, 'account_type', r.account_type, 'legal_type', r.legal_type`;
const COLUMNS = `json_build_object(${FIELDS}, 'address', r.payee_address, 'number', encode(r.number, 'hex'),
  'email', r.email, 'source_currency', r.source_currency) as payment`;

/** Everything a bank file contains about a row. A destination's number never changes. */
export const BANK_CONTENT = `json_build_object(${FIELDS})::text || coalesce(r.payee_address::text, '')`;

/** The sums of the payments in a file. */
export function bankSums({ db, payments, file }: Making): Promise<BankSums> {
  const all = raw(rowsInFile(payments, file, 'r.amount'));
  const currency = payments.format.currency ?? '';
  return oneRow(
    db,
    sql`select count(*)::int as count,
               decimal_text(coalesce(sum(amount), 0)::int8, ${currency}) as decimal
        from (${all}) r`,
  );
}

/**
 * Makes a file from what `pieces` yields for its payments. Payments are streamed with their numbers opened one at a time,
 * so memory is constant. Must be the last statement of the snapshot.
 */
export function bankFile(
  { db, payments, file, vault }: Making,
  pieces: (all: AsyncIterable<BankPayment>) => AsyncIterable<string>,
): Readable {
  const source = db.copyOut(`copy (${rowsInFile(payments, file, COLUMNS)}) to stdout`);
  async function* opened(): AsyncIterable<BankPayment> {
    for await (const line of linesOf(source)) {
      // JSON has no control characters, so COPY escapes only its backslashes
      const { destination, ...payment } = JSON.parse(line.replaceAll('\\\\', '\\'));
      const place = placeOf(payments.account, destination as DestinationId);
      const number = vault.open(Buffer.from(payment.number, 'hex'), place);
      yield { ...payment, number };
    }
  }
  const stream = Readable.from(joined(pieces(opened())), { objectMode: false });
  stream.once('close', () => source.destroy());
  return stream;
}

async function* linesOf(source: Readable): AsyncIterable<string> {
  let rest = '';
  source.setEncoding('utf8');
  for await (const chunk of source) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const PIECE = 1 << 15;

/** Joins small texts, so that a file is not sent line by line. */
async function* joined(pieces: AsyncIterable<string>): AsyncIterable<Buffer> {
  let waiting = '';
  for await (const piece of pieces) {
    waiting += piece;
    if (waiting.length < PIECE) continue;
    yield Buffer.from(waiting);
    waiting = '';
  }
  yield Buffer.from(waiting);
}
