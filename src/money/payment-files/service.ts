import { Readable } from 'node:stream';
import { readNow } from '../../db/clock.ts';
import type { Snapshot } from '../../db/database.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { type AccountId, idOf } from '../../kernel/ids.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { dayOf } from '../../kernel/zones.ts';
import type { Payer } from '../../people/accounts/record.ts';
import { payerOf, zoneOf } from '../../people/accounts/service.ts';
import { type CsvFile, joinByHash } from '../files/csv-export.ts';
import { refuseUnapproved } from '../payouts/approval.ts';
import { fileName } from '../payouts/csv.ts';
import { etagOf, payoutHead } from '../payouts/service.ts';
import type { Choices } from './choices.ts';
import { type Downloading, recordDownload } from './downloads.ts';
import { type FilePart, type PaymentFormat, payingFrom } from './format.ts';
import { FORMATS } from './formats.ts';
import { partsOf } from './identity.ts';
import { outdatedSets } from './outdated.ts';
import { readPaymentFiles } from './overview.ts';
import { type PaymentGroup, paymentGroups } from './rows.ts';
import { settled } from './settled.ts';

/**
 * The payment file of a payout in a format, from the snapshot that `db` reads. Its download is recorded first. Throws
 * `resource_missing` (format or payout), `no_current_payout`, `approval_missing`, `unknown_query_parameter`,
 * `invalid_query`, `several_currencies`, `currency_not_in_payout`, `no_payer`, `affiliates_not_in_file`,
 * `empty_payment_file`, `several_parts`, `no_such_part`, `amount_too_large`, `too_many_files_today`.
 */
export async function downloadPaymentFile(
  db: Snapshot,
  downloading: Downloading,
  id: string,
  formatName: string,
  input: Choices,
): Promise<CsvFile> {
  const { vault } = downloading;
  const { account } = downloading.principal;
  const known = readFormat(formatName);
  refuseChoices(known, input);
  const wanted = readCurrency('currency', input.currency);
  const sourceCurrency = readCurrency('source_currency', input.source_currency);
  const day = await readExecutionDay(db, account, known, input.execution_date);
  const head = await payoutHead(db, account, id);
  await refuseUnapproved(db, account, head.id);
  const payer = await payerOf(db, account);
  const format = settled(known, payer, input.rows_per_file);
  if (format.payer !== null && payingFrom(format, payer) === null) {
    const { field, about } = format.payer;
    throw fail('no_payer', `the ${format.title} needs ${field}: ${about}: PATCH /v2/account sets it`);
  }
  const payments = { account, payout: head.id, format, wholeUnits: input.whole_units === 'down' };
  const groups = await paymentGroups(db, payments);
  const currency = format.choices.includes('currency')
    ? chooseCurrency(groups, wanted ?? format.currency)
    : null;
  const chosen = groups.filter((group) => currency === null || group.currency === currency);
  const skipped = chosen.filter(({ refusal }) => refusal !== null);
  const hint = wholeUnitsHint(format, skipped, input);
  const rows = countOf(chosen) - countOf(skipped);
  if (rows === 0 && format.needsRows) throw emptyFile(format, skipped, hint);
  if (skipped.length > 0 && !input.allow_skipped) throw notInFile(format, skipped, hint);
  const parts = partsOf(format, rows);
  const part = choosePart(format, { rows, parts }, input.part);
  const marks = [format.name, currency ?? [], part === null ? [] : `part-${part}-of-${parts}`].flat();
  const isInstant = readInstant(format, payer, input);
  const file = { currency, sourceCurrency, isInstant, part, span: spanOf(format, { rows, parts }, part) };
  const recorded = await recordDownload(db, downloading, { payments, file, head, payer, day, input });
  const { taken = null } = recorded ?? {};
  return {
    // a HEAD response has no body
    stream:
      recorded === null
        ? Readable.from([])
        : await format.write({ db, payments, file, head, payer, vault, made: taken }),
    name: fileName(head, marks, format.extension),
    contentType: format.contentType,
    headers: {
      etag: etagOf(head.revision),
      'payhook-skipped-affiliates': String(countOf(skipped)),
      'payhook-affiliates-above-limit': String(aboveLimit(chosen)),
      ...(taken && { 'payhook-file-set': idOf('pfs', taken.setId) }),
      ...(taken?.replaces && { 'payhook-replaces-file-set': idOf('pfs', taken.replaces) }),
      ...(taken && { 'payhook-affiliates-in-other-files': String(taken.inOtherFiles) }),
    },
    noteDigest: recorded?.noteDigest,
  };
}

/** The files a payout needs, which affiliates each leaves out, and who downloaded it. Throws as `getPayout`. */
export async function getPaymentFiles(db: Snapshot, account: AccountId, id: string) {
  await joinByHash(db);
  const head = await payoutHead(db, account, id);
  const payer = await payerOf(db, account);
  const formats = FORMATS.map((format) => settled(format, payer));
  const outdated = head.status === 'paid' ? [] : await outdatedSets(db, { account, payout: head.id }, payer);
  const json = await readPaymentFiles(db, { account, payout: head.id }, { formats, payer, outdated });
  if (json === null) throw fail('resource_missing', `no such payout: ${id}`);
  return json;
}

function readFormat(name: string): PaymentFormat {
  const format = FORMATS.find((each) => each.name === name);
  if (format) return format;
  const names = FORMATS.map((each) => each.name).join(', ');
  throw fail('resource_missing', `no such payment file format; the formats are ${names}`);
}

// a choice that a format would ignore is refused, because a caller would rely on it
function refuseChoices({ name, choices }: PaymentFormat, input: Choices): void {
  const strange = Object.keys(input).filter((key) => !(choices as readonly string[]).includes(key));
  if (strange.length === 0) return;
  const known = choices.length > 0 ? `it takes ${choices.join(', ')}` : 'it takes none';
  throw fail('unknown_query_parameter', `${strange.join(', ')}: not for the format ${name}; ${known}`);
}

function readCurrency(name: string, code: string | undefined): string | null {
  if (code === undefined) return null;
  const currency = normalizeCurrency(code);
  if (currency === null) throw fail('invalid_query', `${name} must be an ISO 4217 currency code`);
  return currency;
}

/** Whether the transfers of a file are instant. */
const readInstant = ({ choices }: PaymentFormat, { debtor }: Payer, { instant }: Choices): boolean =>
  choices.includes('instant') && (instant ?? debtor?.is_instant ?? false);

/** The number of affiliates in the file whose payment exceeds the provider's limit. */
const aboveLimit = (groups: readonly PaymentGroup[]) =>
  groups.filter(({ refusal }) => refusal === null).reduce((sum, { above }) => sum + above, 0);
const countOf = (groups: readonly PaymentGroup[]) => groups.reduce((sum, { count }) => sum + count, 0);

/** The currency of the file, or null if the payout has no payment. */
function chooseCurrency(groups: readonly PaymentGroup[], wanted: string | null): string | null {
  const currencies = [...new Set(groups.map((group) => group.currency))];
  if (wanted !== null && currencies.length > 0 && !currencies.includes(wanted)) {
    throw fail(
      'currency_not_in_payout',
      `currency: the payout pays nothing in ${wanted}; it pays in ${currencies.join(', ')}`,
    );
  }
  if (wanted === null && currencies.length > 1) {
    throw fail(
      'several_currencies',
      `the file holds one currency and the payout pays in several: choose with currency, one of ${currencies.join(', ')}`,
    );
  }
  return wanted ?? currencies[0] ?? null;
}

function reasonsOf(skipped: readonly PaymentGroup[]): string {
  return skipped
    .map(({ refusal, first, count }) => `${refusal} (affiliates ${nameSome(first, count)})`)
    .join('; ');
}

/** A hint for the end of a message if `whole_units` would let the file pay more affiliates. */
function wholeUnitsHint(
  { wholeCurrencies }: PaymentFormat,
  skipped: readonly PaymentGroup[],
  { whole_units }: Choices,
): string {
  const helps = skipped.some(({ currency }) => wholeCurrencies.includes(currency));
  return helps && whole_units === undefined ? '; whole_units=down pays whole units and carries the rest' : '';
}

function emptyFile({ title }: PaymentFormat, skipped: readonly PaymentGroup[], hint: string) {
  const why = skipped.length > 0 ? reasonsOf(skipped) : 'nobody was paid in this payout';
  return fail('empty_payment_file', `the ${title} would have no rows: ${why}${hint}`);
}

function notInFile({ title }: PaymentFormat, skipped: readonly PaymentGroup[], hint: string) {
  return fail(
    'affiliates_not_in_file',
    `the ${title} cannot pay everyone: ${reasonsOf(skipped)}. allow_skipped=true leaves them out${hint}`,
  );
}

/** The day on which a bank should pay: the chosen one, if valid, and the first possible one. */
async function readExecutionDay(
  db: Snapshot,
  account: AccountId,
  { days, choices }: PaymentFormat,
  chosen: string | undefined,
): Promise<{ readonly chosen: string | null; readonly first: string } | null> {
  if (!choices.includes('execution_date')) return null;
  const now = await readNow(db);
  const today = dayOf(now, await zoneOf(db, account));
  if (chosen === undefined) return { chosen: null, first: days?.first(now) ?? today };
  const past = chosen < today ? `must be today (${today}) or later: no bank pays in the past` : null;
  const refusal = days === undefined ? past : days.refusal(chosen, now);
  if (refusal !== null) throw fail('invalid_query', `execution_date ${refusal}`);
  return { chosen, first: chosen };
}

/** The rows of a part; null = all. */
function spanOf(
  { maxRows, splitsEvenly }: PaymentFormat,
  { rows, parts }: { rows: number; parts: number },
  part: number | null,
): FilePart['span'] {
  if (part === null || maxRows === null) return null;
  if (!splitsEvenly) return { offset: (part - 1) * maxRows, count: maxRows };
  const least = Math.floor(rows / parts);
  const larger = rows % parts; // the first parts have one row more
  return {
    offset: (part - 1) * least + Math.min(part - 1, larger),
    count: part <= larger ? least + 1 : least,
  };
}

/** The part to send, or null if the file is not split. */
function choosePart(
  { title, maxRows }: PaymentFormat,
  { rows, parts }: { rows: number; parts: number },
  wanted: number | undefined,
): number | null {
  const size = `the ${rows} rows of the ${title} are ${parts} ${parts === 1 ? 'part' : 'parts'}`;
  if (wanted !== undefined && wanted > parts)
    throw fail('no_such_part', `part must be at most ${parts}: ${size}`);
  if (parts <= 1) return null;
  if (wanted === undefined) {
    throw fail('several_parts', `${size} of at most ${maxRows} rows: choose with part, from 1 to ${parts}`);
  }
  return wanted;
}
