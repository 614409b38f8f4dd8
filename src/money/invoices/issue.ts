import type { Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import { hurryPaidNotices } from '../../notices/affiliates.ts';
import { getAccount } from '../../people/accounts/service.ts';
import { nationalCurrencyOf } from '../../terms/national-currencies.ts';
import { wordingFor } from '../../terms/self-billing.ts';
import type { NoTaxReason, TaxTerms } from '../ledger/tax-on-top.ts';
import { lockPayoutToChange } from '../payouts/service.ts';
import { openTaxId } from '../tax-profiles/sealed.ts';
import { type InvoiceParty, numberOf, type StoredDocument } from './document.ts';
import { nationalTaxOf, type RateInput, type Rates, rateOf, ratesFrom } from './rates.ts';
import type { Issued, SkipReason } from './record.ts';
import {
  daysOf,
  insertInvoices,
  type Lines,
  type NewInvoice,
  type OpenInvoice,
  type OpenLine,
  openLines,
  type ProfileOfLine,
  takeNumbers,
} from './store.ts';
import { sumsOf } from './sums.ts';
import { type InvoiceTaxIdType, keepTaxIds, type NamedTaxId } from './tax-ids.ts';

/** Lines read at a time, and the number of invoices after which a request ends at the next page boundary. */
interface Limits {
  readonly page: number;
  readonly most: number;
}
const LIMITS: Limits = { page: 1000, most: 5000 };
const MOST_SKIPPED = 1000;
/** Before the first line of a payout. */
const START = { affiliate: 0, currency: '' };
const DEFAULT_PREFIX = 'SB-';

/**
 * Issues the missing documents for the paid lines of a payout: invoices for what was paid, for affiliates who agreed, and
 * credit notes for returns. Repeating the request issues nothing twice. Throws `resource_missing`, `payout_not_paid`,
 * `no_invoicing`, `invalid_body` for a rate.
 */
export async function issueInvoices(
  tx: Tx,
  { account, vault }: AccountVault,
  payoutId: string,
  { rates = [], limits = LIMITS }: { readonly rates?: readonly RateInput[]; readonly limits?: Limits } = {},
): Promise<Issued> {
  const payout = await lockPayoutToChange(tx, account, payoutId);
  if (payout.status !== 'paid')
    throw fail('payout_not_paid', 'complete the payout first: an invoice needs a payment');
  const { invoicing, tax_profile: own, time_zone: zone } = fromJson(await getAccount(tx, account));
  if (invoicing === null || own === null) {
    throw fail(
      'no_invoicing',
      `set ${invoicing === null ? 'invoicing' : 'tax_profile'} of the account first`,
    );
  }
  const buyer = { ...own, name: own.legal_name };
  const lines = { account, payout: payout.id, affiliate: null, zone };
  const days = rates.length === 0 ? null : await daysOf(tx, lines);
  const known = days === null ? new Map() : ratesFrom(rates, days);
  const terms = { buyer: partyOf(buyer), rates: known, account, vault, number: payout.number };
  const { ready, skipped, hasMore } = await draftAll(tx, lines, terms, limits);
  const taxIds = ready.flatMap(({ newTaxId }) => newTaxId ?? []);
  await keepTaxIds(tx, { account, vault }, taxIds);
  await issueAll(tx, { account, payout: payout.id, prefix: invoicing.prefix }, ready);
  if (!hasMore) await hurryPaidNotices(tx, account, payout.id);
  return {
    object: 'issued_invoices',
    issued: ready.length,
    skipped: skipped.slice(0, MOST_SKIPPED),
    has_more: hasMore,
  };
}

/** Drafts the missing documents of a payout, page by page: there may be many lines without an agreement. */
async function draftAll(
  tx: Tx,
  lines: Lines,
  terms: Terms,
  { page, most }: Limits,
): Promise<{ ready: Draft[]; skipped: Skipped[]; hasMore: boolean }> {
  const ready: Draft[] = [];
  const skipped: Skipped[] = [];
  for (let after = START; ; ) {
    const found = await openLines(tx, lines, after, page);
    for (const line of found) {
      const drafts = line.first === null ? [firstInvoice(line, terms)] : correctionsOf(line, line.first);
      for (const draft of drafts) {
        if ('document' in draft) ready.push(draft);
        else skipped.push(draft);
      }
    }
    const last = found.at(-1);
    if (last === undefined || found.length < page) return { ready, skipped, hasMore: false };
    if (ready.length >= most) return { ready, skipped, hasMore: true };
    after = { affiliate: last.affiliate_id, currency: last.currency };
  }
}

/**
 * Issues the documents that an affiliate's line lacks after a return changed, if it has an invoice: a credit note for a
 * return, and an invoice again if the return is undone.
 */
export async function correctInvoices(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  affiliate: number,
): Promise<void> {
  const { invoicing, time_zone: zone } = fromJson(await getAccount(tx, account));
  const found = await openLines(tx, { account, payout, affiliate, zone }, START, LIMITS.page);
  const drafts = found.flatMap((line) => (line.first === null ? [] : correctionsOf(line, line.first)));
  await issueAll(tx, { account, payout, prefix: invoicing?.prefix ?? DEFAULT_PREFIX }, drafts);
}

/** A document without its number. */
interface Draft extends Omit<NewInvoice, 'series' | 'position' | 'document'> {
  readonly document: Omit<StoredDocument, 'number'>;
  /** The tax id it names, unless an earlier document named it. */
  readonly newTaxId: NamedTaxId | null;
}
type Skipped = Issued['skipped'][number];

/**
 * Drafts later documents of a line with the parties and the tax of the first invoice. An invoice can be credited at most
 * in full, so a return may span several invoices: the newest are credited first.
 */
function correctionsOf(line: OpenLine, stored: string): Draft[] {
  const first = JSON.parse(stored) as StoredDocument;
  const { difference, tax_difference: tax } = line;
  if (difference > 0n) return [laterOf(line, first, { amount: difference, tax }, null)];
  const drafts: Draft[] = [];
  let [due, dueTax] = [(tax ?? 0n) - difference, -(tax ?? 0n)];
  for (const invoice of JSON.parse(line.open) as OpenInvoice[]) {
    const [part, partTax] = [smaller(BigInt(invoice.rest), due), smaller(BigInt(invoice.rest_tax), dueTax)];
    if (part + partTax === 0n) continue;
    const taken = { amount: part + partTax, tax: tax === null ? null : partTax };
    drafts.push(laterOf(line, first, taken, invoice));
    [due, dueTax] = [due - part, dueTax - partTax];
  }
  return drafts;
}

const smaller = (one: bigint, other: bigint) => (one < other ? one : other);

/** A sum of a document, and the part of it that is tax on top; null = it includes the tax. */
interface Billed {
  readonly amount: bigint;
  readonly tax: bigint | null;
}

/** A credit note for an invoice, or another invoice if none is given. */
function laterOf(line: OpenLine, first: StoredDocument, billed: Billed, invoice: OpenInvoice | null): Draft {
  const sums = textSums(billed, first.rate);
  return {
    ...draftOf(line, billed.amount),
    corrects: invoice?.id ?? null,
    taxId: line.first_tax_id,
    newTaxId: null,
    document: {
      ...first,
      kind: invoice === null ? 'invoice' : 'credit_note',
      corrects: invoice && { number: invoice.number, issued_on: invoice.issued_on },
      issued_on: line.today,
      ...sums,
      ...(first.national ? { national: nationalTaxOf(BigInt(sums.tax), line.currency, first.national) } : {}),
    },
  };
}

const draftOf = ({ affiliate_id, currency }: OpenLine, amount: bigint) => ({
  affiliate: affiliate_id,
  currency,
  amount,
});

function textSums({ amount, tax: onTop }: Billed, rate: number) {
  const { net, tax, rounding } =
    onTop === null ? sumsOf(amount, rate) : { net: amount - onTop, tax: onTop, rounding: 0n };
  return { net: String(net), tax: String(tax), rounding: String(rounding) };
}

interface Terms extends AccountVault {
  readonly buyer: InvoiceParty;
  readonly rates: Rates;
  /** The number of the payout. */
  readonly number: bigint | number;
}

/** The first invoice of a line, or why it gets none. */
function firstInvoice(line: OpenLine, terms: Terms): Draft | Skipped {
  const { buyer, number, account, vault } = terms;
  const skip = (reason: SkipReason, more: Partial<Skipped> = {}): Skipped => ({
    affiliate_id: line.affiliate_id,
    currency: line.currency,
    reason,
    ...more,
  });
  const profile = line.profile === null ? null : (JSON.parse(line.profile) as ProfileOfLine);
  const rule = JSON.parse(line.terms) as TaxTerms;
  // `no_invoicing` was refused before
  if ('reason' in rule) return skip(rule.reason as Exclude<NoTaxReason, 'no_invoicing'>);
  if (profile === null) return skip('no_agreement');
  if (line.is_without_tax && rule.rate > 0) return skip('tax_not_paid');
  const type = typeOf(profile);
  const taxId = rule.category === 'O' ? null : taxIdOf(line, type, { account, vault });
  const { legal_name: name, address, country, siren } = profile;
  const sums = textSums({ amount: line.difference, tax: line.tax_difference }, rule.rate);
  const national = BigInt(sums.tax) > 0n ? nationalCurrencyOf(country) : undefined;
  const rate = national && national !== line.currency ? rateOf(terms.rates, line.currency, national) : null;
  if (national !== undefined && rate === undefined) return skip('no_rate', { national_currency: national });
  return {
    ...draftOf(line, line.difference),
    corrects: null,
    taxId: taxId?.id ?? null,
    newTaxId: line.kept_tax_id === null ? taxId : null,
    document: {
      kind: 'invoice',
      corrects: null,
      issued_on: line.today,
      supplied_on: line.supplied_on,
      affiliate_id: line.affiliate_id,
      seller: { name, address, country, siren },
      buyer,
      description: `Affiliate commissions, payout ${number}`,
      currency: line.currency,
      ...sums,
      category: rule.category,
      rate: rule.rate,
      exemption: rule.exemption,
      wording: wordingFor(country, sums.tax !== '0'),
      payment_reference: line.payment_reference,
      ...(rate ? { national: nationalTaxOf(BigInt(sums.tax), line.currency, rate) } : {}),
    },
  };
}

/** The type of a profile's tax id for invoices. US tax ids are not used. */
const typeOf = ({ tax_id_type: type }: ProfileOfLine): InvoiceTaxIdType | null =>
  type === 'vat' || type === 'other' ? type : null;

/** The tax id on the invoice of a line: none outside the scope of VAT (BR-O-02). */
function taxIdOf(line: OpenLine, type: InvoiceTaxIdType | null, issuer: AccountVault): NamedTaxId | null {
  const number = type === null ? null : openTaxId(issuer, line);
  if (type === null || number === null) return null;
  return { id: line.kept_tax_id ?? line.new_tax_id, affiliate: line.affiliate_id, type, number };
}

const partyOf = ({ name, address, country, vat_id, tax_number, siren }: InvoiceParty): InvoiceParty => ({
  name,
  address,
  country,
  vat_id,
  tax_number,
  siren: siren ?? null,
});

interface Series {
  readonly account: AccountId;
  readonly payout: PayoutId;
  readonly prefix: string;
}

/** Numbers and stores documents. A series is a kind and a year, numbered 1, 2, 3 and so on. */
async function issueAll(
  tx: Tx,
  { account, payout, prefix }: Series,
  drafts: readonly Draft[],
): Promise<void> {
  const bySeries = new Map<string, Draft[]>();
  for (const draft of drafts) {
    const { kind, issued_on } = draft.document;
    const series = `${prefix}${kind === 'credit_note' ? 'C-' : ''}${issued_on.slice(0, 4)}-`;
    bySeries.set(series, [...(bySeries.get(series) ?? []), draft]);
  }
  for (const [series, own] of [...bySeries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const first = await takeNumbers(tx, account, series, own.length);
    const issued = own.map((draft, index): NewInvoice => {
      const position = first + BigInt(index);
      return {
        ...draft,
        series,
        position,
        document: { ...draft.document, number: numberOf(series, position) },
      };
    });
    await insertInvoices(tx, account, payout, issued);
  }
}
