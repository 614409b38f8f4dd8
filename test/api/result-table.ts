/*
 * What files of banks and providers report about a payment of 50.00 EUR, and its only correct outcome. A case is what
 * one file reports about one payment: `{ref}` is its reference, `{id}` its own transaction id. The layouts are those of
 * docs/results.md.
 */

/** The only correct result of a case: an outcome, or a problem that names it. */
export type Verdict =
  | 'paid'
  | 'rejected'
  | 'returned'
  | 'pending'
  | 'unclear'
  | 'other_amount'
  | 'other_currency'
  | 'duplicate'
  | 'contradiction'
  /** A problem that only mentions it, so its line may still have a result. */
  | 'mentioned'
  /** No mention at all. */
  | 'nothing';

export interface Case {
  readonly name: string;
  /** Lines of a CSV file, or entries of a message. */
  readonly lines: readonly string[];
  readonly verdict: Verdict;
}

/** Cases that fit into one file. */
export interface Sheet {
  readonly name: string;
  readonly kind: string;
  /** The file with these lines. */
  readonly file: (lines: readonly string[]) => string | Buffer;
  readonly cases: readonly Case[];
}

const csvOf =
  (header: string) =>
  (lines: readonly string[]): string =>
    `${[header, ...lines].join('\r\n')}\r\n`;

/* PayPal: the Activity report */

const ACTIVITY =
  'Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,From Email Address,To Email Address,Transaction ID,' +
  'Reference Txn ID,Invoice Number,Custom Number,Balance Impact';

interface Activity {
  readonly type?: string;
  readonly status?: string;
  readonly gross?: string;
  readonly currency?: string;
  readonly id?: string;
  readonly related?: string;
  readonly invoice?: string;
  readonly custom?: string;
  readonly impact?: string;
}

const activity = ({
  type = 'Mass Pay Payment',
  status = 'Completed',
  gross = '-50.00',
  currency = 'EUR',
  id = '{id}',
  related = '',
  invoice = '',
  custom = '{ref}',
  impact = '',
}: Activity): string =>
  `09/30/2026,10:00:00,PDT,Ada,${type},${status},${currency},"${gross}",0.00,"${gross}",me@example.com,ada@example.com,${id},${related},${invoice},${custom},${impact}`;

const one = (name: string, verdict: Verdict, ...lines: readonly string[]): Case => ({ name, verdict, lines });

const activityStatuses: readonly (readonly [string, Verdict])[] = [
  ['Completed', 'paid'],
  ['completed', 'paid'],
  ['Success', 'paid'],
  ['Denied', 'rejected'],
  ['Failed', 'rejected'],
  ['Canceled', 'rejected'],
  ['Blocked', 'rejected'],
  ['Returned', 'returned'],
  ['Refunded', 'returned'],
  ['Reversed', 'returned'],
  ['Unclaimed', 'pending'],
  ['Pending', 'pending'],
  ['On Hold', 'pending'],
  ['Processing', 'pending'],
  ['Partially Refunded', 'unclear'],
  ['Processed', 'unclear'],
  ['Expired', 'unclear'],
  ['Removed', 'unclear'],
  ['Abgeschlossen', 'unclear'],
  ['constructor', 'unclear'],
  ['__proto__', 'unclear'],
  ['toString', 'unclear'],
  ['', 'unclear'],
];

const activitySheet: Sheet = {
  name: 'PayPal, Activity report',
  kind: 'paypal',
  file: csvOf(ACTIVITY),
  cases: [
    ...activityStatuses.map(([status, verdict]) =>
      one(`money out, status ${JSON.stringify(status)}`, verdict, activity({ status })),
    ),
    ...['Mass Payment', 'Mass Pay', 'Payout', 'MASS PAY PAYMENT'].map((type) =>
      one(`money out of the type ${type}`, 'paid', activity({ type })),
    ),
    ...[
      'Mass Pay Reversal',
      'Mass Payment Reversal',
      'Mass Pay Refund',
      'Payment Refund',
      'Payment Reversal',
    ].map((type) => one(`money in of the type ${type}`, 'returned', activity({ type, gross: '50.00' }))),
    one('money in with a plus', 'returned', activity({ type: 'Mass Pay Reversal', gross: '+50.00' })),
    one(
      'money in, pending',
      'pending',
      activity({ type: 'Payment Refund', gross: '50.00', status: 'Pending' }),
    ),
    one(
      'money in, denied',
      'unclear',
      activity({ type: 'Payment Refund', gross: '50.00', status: 'Denied' }),
    ),
    one(
      'money in, of another amount',
      'other_amount',
      activity({ type: 'Mass Pay Reversal', gross: '49.00' }),
    ),
    one('an outgoing refund', 'unclear', activity({ type: 'Payment Refund', gross: '-50.00' })),
    one('an outgoing reversal', 'unclear', activity({ type: 'Mass Pay Reversal' })),
    one('an incoming payout', 'unclear', activity({ gross: '50.00' })),
    one('a payment of a customer', 'unclear', activity({ type: 'Website Payment', gross: '50.00' })),
    one('another payment out', 'unclear', activity({ type: 'General Payment' })),
    one('a fee', 'unclear', activity({ type: 'Mass Pay Fee' })),
    one('a hold', 'unclear', activity({ type: 'Account Hold for Open Authorization' })),
    one('a type of JavaScript', 'unclear', activity({ type: 'hasOwnProperty' })),
    one('no type', 'unclear', activity({ type: '' })),
    one('zero', 'unclear', activity({ gross: '0.00' })),
    one('zero with a minus', 'unclear', activity({ gross: '-0.00' })),
    one('no amount', 'unclear', activity({ gross: '' })),
    one('a word for an amount', 'unclear', activity({ gross: 'all of it' })),
    one('a decimal comma', 'paid', activity({ gross: '-50,00' })),
    one('a typographic minus', 'paid', activity({ gross: '−50.00' })),
    one('thousands', 'other_amount', activity({ gross: '-50,000.00' })),
    one('thousands with points', 'other_amount', activity({ gross: '-50.000,00' })),
    one('one separator before three digits', 'other_amount', activity({ gross: '-50,000' })),
    one('two decimal points', 'unclear', activity({ gross: '-50.0.0' })),
    one('a cent less', 'other_amount', activity({ gross: '-49.99' })),
    one('a cent more', 'other_amount', activity({ gross: '-50.01' })),
    one('another currency', 'other_currency', activity({ currency: 'USD' })),
    one('no currency', 'unclear', activity({ currency: '' })),
    one('no known currency', 'unclear', activity({ currency: 'EURO' })),
    one('the currency in small letters', 'paid', activity({ currency: 'eur' })),
    one('a debit', 'paid', activity({ impact: 'Debit' })),
    one('money out as a credit', 'unclear', activity({ impact: 'Credit' })),
    one('a completed memo', 'unclear', activity({ impact: 'Memo' })),
    one('a denied memo', 'rejected', activity({ impact: 'Memo', status: 'Denied' })),
    one(
      'money in as a debit',
      'unclear',
      activity({ type: 'Payment Refund', gross: '50.00', impact: 'Debit' }),
    ),
    one('the reference in another column', 'paid', activity({ custom: '', invoice: '{ref}' })),
    one('the reference in small letters', 'paid', activity({ custom: '{ref:lower}' })),
    one('the reference in two columns', 'paid', activity({ invoice: '{ref}' })),
    one('two references', 'unclear', activity({ invoice: 'P99-A1' })),
    one('a text with the reference', 'mentioned', activity({ custom: 'Fee for {ref}' })),
    one('a longer reference', 'mentioned', activity({ custom: '{ref}-2' })),
    one('a reference of earlier files', 'nothing', activity({ custom: '{ref:old}' })),
    one('a transaction twice', 'paid', activity({}), activity({})),
    one('a transaction in two states', 'duplicate', activity({ status: 'Unclaimed' }), activity({})),
    one('completed twice', 'duplicate', activity({ id: '{id}A' }), activity({ id: '{id}B' })),
    one(
      'completed and returned',
      'duplicate',
      activity({ id: '{id}A' }),
      activity({ id: '{id}B', status: 'Returned' }),
    ),
    one(
      'denied and unclaimed',
      'duplicate',
      activity({ id: '{id}A', status: 'Denied' }),
      activity({ id: '{id}B', status: 'Unclaimed' }),
    ),
    one(
      'denied and completed',
      'duplicate',
      activity({ id: '{id}A', status: 'Denied' }),
      activity({ id: '{id}B' }),
    ),
    one(
      'denied twice',
      'rejected',
      activity({ id: '{id}A', status: 'Denied' }),
      activity({ id: '{id}B', status: 'Failed' }),
    ),
    one(
      'completed, and unclaimed of another amount',
      'duplicate',
      activity({ id: '{id}A' }),
      activity({ id: '{id}B', status: 'Unclaimed', gross: '-20.00' }),
    ),
    one(
      'completed, and reversed',
      'duplicate',
      activity({}),
      activity({ id: '{id}R', type: 'Mass Pay Reversal', gross: '50.00' }),
    ),
    one(
      'completed, and reversed without a reference',
      'duplicate',
      activity({}),
      activity({ id: '{id}R', related: '{id}', custom: '', type: 'Mass Pay Reversal', gross: '50.00' }),
    ),
    one(
      'reversed without a reference, first',
      'duplicate',
      activity({ id: '{id}R', related: '{id}', custom: '', type: 'Payment Refund', gross: '50.00' }),
      activity({}),
    ),
    one(
      'completed, with a fee that refers to it',
      'paid',
      activity({}),
      activity({ id: '{id}F', related: '{id}', custom: '', type: 'Payment Fee', gross: '-0.25' }),
    ),
    one(
      'completed, and something unknown',
      'unclear',
      activity({}),
      activity({ id: '{id}X', type: 'Chargeback', gross: '50.00' }),
    ),
    one('two without an id', 'duplicate', activity({ id: '' }), activity({ id: '' })),
  ],
};

/* PayPal: the report of a batch of payouts */

const batch = (
  status: string,
  { amount = '50.00', id = '{id}', ref = '{ref}', currency = 'EUR' } = {},
): string => `${id};ada@example.com;${amount};${currency};${ref};${status};`;

const batchSheet: Sheet = {
  name: 'PayPal, report of a batch',
  kind: 'paypal',
  file: (lines) =>
    `\ufeff${csvOf('Transaction ID;Recipient;Amount;Currency;Unique ID;Transaction status;Error message')(lines)}`,
  cases: [
    ...(
      [
        ['SUCCESS', 'paid'],
        ['Completed', 'paid'],
        ['FAILED', 'rejected'],
        ['DENIED', 'rejected'],
        ['BLOCKED', 'rejected'],
        ['RETURNED', 'returned'],
        ['REFUNDED', 'returned'],
        ['REVERSED', 'returned'],
        ['PENDING', 'pending'],
        ['UNCLAIMED', 'pending'],
        ['ONHOLD', 'pending'],
        ['On hold', 'pending'],
        ['NEW', 'unclear'],
        ['Not completed', 'unclear'],
        ['Completed?', 'unclear'],
        ['valueOf', 'unclear'],
      ] as const
    ).map(([status, verdict]) => one(`status ${status}`, verdict, batch(status))),
    one('a minus for outgoing money', 'paid', batch('Completed', { amount: '-50,00' })),
    one('a decimal comma', 'paid', batch('Completed', { amount: '50,00' })),
    one('a returned payment of another amount', 'other_amount', batch('RETURNED', { amount: '40.00' })),
    one('zero with a minus', 'unclear', batch('Completed', { amount: '-0,00' })),
    one('another currency', 'other_currency', batch('Completed', { currency: 'GBP' })),
    one(
      'two transactions',
      'duplicate',
      batch('SUCCESS', { id: '{id}A' }),
      batch('UNCLAIMED', { id: '{id}B' }),
    ),
    one(
      'refused, then paid',
      'duplicate',
      batch('FAILED', { id: '{id}A' }),
      batch('SUCCESS', { id: '{id}B' }),
    ),
    one('a text with the reference', 'mentioned', batch('SUCCESS', { ref: 'X/{ref}' })),
  ],
};

/* Wise: the list of transactions */

const HISTORY =
  'ID,Status,Direction,"Created on","Finished on","Source fee amount","Source fee currency","Target fee amount",' +
  '"Target fee currency","Source name","Source amount (after fees)","Source currency","Target name",' +
  '"Target amount (after fees)","Target currency","Exchange rate",Reference,Batch,"Created by",Category,Note';

const history = (
  status: string,
  direction = 'OUT',
  { amount = '50.00', currency = 'EUR', id = 'TRANSFER-{id}', ref = '{ref}' } = {},
): string =>
  `${id},${status},${direction},"2026-09-29 10:00:00","2026-09-30 10:00:00",0.35,USD,,,Shop,58.10,USD,Ada,` +
  `"${amount}",${currency},0.86,${ref},,Ann,General,`;

const historySheet: Sheet = {
  name: 'Wise, list of transactions',
  kind: 'wise',
  file: csvOf(HISTORY),
  cases: [
    ...(
      [
        ['COMPLETED', 'OUT', 'paid'],
        ['Completed', 'out', 'paid'],
        ['outgoing_payment_sent', 'OUT', 'paid'],
        ['CANCELLED', 'OUT', 'rejected'],
        ['REFUNDED', 'OUT', 'returned'],
        ['funds_refunded', 'OUT', 'returned'],
        ['bounced_back', 'OUT', 'pending'],
        ['processing', 'OUT', 'pending'],
        ['incoming_payment_waiting', 'OUT', 'pending'],
        ['funds_converted', 'OUT', 'pending'],
        ['charged_back', 'OUT', 'unclear'],
        ['Sent', 'OUT', 'unclear'],
        ['COMPLETED SOON', 'OUT', 'unclear'],
        ['', 'OUT', 'unclear'],
        ['COMPLETED', 'IN', 'returned'],
        ['REFUNDED', 'IN', 'returned'],
        ['PROCESSING', 'IN', 'pending'],
        ['CANCELLED', 'IN', 'unclear'],
        ['COMPLETED', 'NEUTRAL', 'unclear'],
        ['COMPLETED', '', 'unclear'],
        ['COMPLETED', 'constructor', 'unclear'],
      ] as const
    ).map(([status, direction, verdict]) =>
      one(`${status || 'no status'}, ${direction || 'no direction'}`, verdict, history(status, direction)),
    ),
    one('one digit', 'paid', history('COMPLETED', 'OUT', { amount: '50.0' })),
    one('more zeros', 'paid', history('COMPLETED', 'OUT', { amount: '50.00000' })),
    one('below zero', 'unclear', history('COMPLETED', 'OUT', { amount: '-50.00' })),
    one('zero', 'unclear', history('COMPLETED', 'OUT', { amount: '0' })),
    one('money in of another amount', 'other_amount', history('COMPLETED', 'IN', { amount: '48.00' })),
    one('another currency', 'other_currency', history('COMPLETED', 'OUT', { currency: 'USD' })),
    one(
      'sent and processing',
      'duplicate',
      history('COMPLETED', 'OUT', { id: 'TRANSFER-{id}1' }),
      history('PROCESSING', 'OUT', { id: 'TRANSFER-{id}2' }),
    ),
    one(
      'cancelled, and sent again',
      'duplicate',
      history('CANCELLED', 'OUT', { id: 'TRANSFER-{id}1' }),
      history('COMPLETED', 'OUT', { id: 'TRANSFER-{id}2' }),
    ),
    one(
      'two parts of one transfer',
      'duplicate',
      history('COMPLETED', 'OUT', { amount: '30.00' }),
      history('COMPLETED', 'OUT', { amount: '20.00' }),
    ),
    one(
      'cancelled twice',
      'rejected',
      history('CANCELLED', 'OUT', { id: 'TRANSFER-{id}1' }),
      history('CANCELLED', 'OUT', { id: 'TRANSFER-{id}2' }),
    ),
    one('the reference with a word', 'mentioned', history('COMPLETED', 'OUT', { ref: '{ref} thanks' })),
  ],
};

/* Wise: the statement of a balance */

const STATEMENT =
  '"TransferWise ID",Date,"Date Time",Amount,Currency,Description,"Payment Reference","Running Balance","Exchange From",' +
  '"Exchange To","Exchange Rate","Payer Name","Payee Name","Payee Account Number",Merchant,"Card Last Four Digits",' +
  '"Card Holder Full Name",Attachment,Note,"Total fees","Exchange To Amount","Transaction Type","Transaction Details Type"';

interface Statement {
  readonly amount?: string;
  readonly currency?: string;
  readonly id?: string;
  readonly description?: string;
  readonly ref?: string;
  readonly to?: string;
  readonly toAmount?: string;
  readonly way?: string;
  readonly kind?: string;
}

const statement = ({
  amount = '-50.00',
  currency = 'EUR',
  id = 'TRANSFER-{id}',
  description = 'Sent money to Ada',
  ref = '{ref}',
  to = '',
  toAmount = '',
  way = '',
  kind = '',
}: Statement): string =>
  `"${id}",30-09-2026,"30-09-2026 10:00:00.000",${amount},${currency},"${description}",${ref},1000.00,,${to},,,Ada,,,,,,,0.00,${toAmount},${way},${kind}`;

const statementSheet: Sheet = {
  name: 'Wise, statement',
  kind: 'wise',
  file: csvOf(STATEMENT),
  cases: [
    one('money out', 'paid', statement({})),
    one('money out, with its kind', 'paid', statement({ way: 'DEBIT', kind: 'TRANSFER' })),
    one('money in', 'returned', statement({ amount: '50.00' })),
    one(
      'money in, with its kind',
      'returned',
      statement({ amount: '50.00', way: 'CREDIT', kind: 'TRANSFER' }),
    ),
    one('money in of another amount', 'other_amount', statement({ amount: '45.00' })),
    one('money in as a deposit', 'unclear', statement({ amount: '50.00', way: 'CREDIT', kind: 'DEPOSIT' })),
    one('a debit above zero', 'unclear', statement({ amount: '50.00', way: 'DEBIT' })),
    one('a credit below zero', 'unclear', statement({ way: 'CREDIT' })),
    one('a card', 'unclear', statement({ kind: 'CARD' })),
    one('zero with a minus', 'unclear', statement({ amount: '-0.00' })),
    one('another amount', 'other_amount', statement({ amount: '-50.35' })),
    one(
      'from another balance',
      'paid',
      statement({ amount: '-58.10', currency: 'USD', to: 'EUR', toAmount: '50.00' }),
    ),
    one(
      'from another balance, of unknown amount',
      'other_currency',
      statement({ amount: '-58.10', currency: 'USD', to: 'EUR' }),
    ),
    one('a fee next to it', 'paid', statement({}), statement({ id: 'FEE-TRANSFER-{id}', amount: '-0.35' })),
    one('a fee of the same amount', 'nothing', statement({ description: 'Wise Charges for: TRANSFER-9' })),
    one('out and in again', 'duplicate', statement({}), statement({ amount: '50.00' })),
    one('out twice', 'duplicate', statement({ id: 'TRANSFER-{id}1' }), statement({ id: 'TRANSFER-{id}2' })),
    one('the same line twice', 'paid', statement({}), statement({})),
    one('a text with the reference', 'mentioned', statement({ ref: 'refund of {ref}' })),
  ],
};

/* Banks: camt.053 */

interface Entry {
  readonly id?: string | null;
  readonly texts?: readonly string[];
  readonly additional?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly direction?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly isReversal?: boolean;
  readonly subFamily?: string;
  readonly bankId?: string;
}

const entry = ({
  id = '{ref}',
  texts = [],
  additional = '',
  amount = '50.00',
  currency = 'EUR',
  direction = 'DBIT',
  status = 'BOOK',
  reason = '',
  isReversal = false,
  subFamily = 'ESCT',
  bankId = '{id}',
}: Entry): string => {
  const way = direction === '' ? '' : `<CdtDbtInd>${direction}</CdtDbtInd>`;
  const booked = status === '' ? '' : `<Sts><Cd>${status}</Cd></Sts>`;
  return (
    `<Ntry><Amt Ccy="${currency}">${amount}</Amt>${way}${isReversal ? '<RvslInd>true</RvslInd>' : ''}${booked}` +
    `<BookgDt><Dt>2026-09-30</Dt></BookgDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>${subFamily}</SubFmlyCd></Fmly></Domn></BkTxCd>` +
    `<NtryDtls><TxDtls><Refs><AcctSvcrRef>${bankId}</AcctSvcrRef>${id === null ? '' : `<EndToEndId>${id}</EndToEndId>`}</Refs>` +
    (texts.length === 0 ? '' : `<RmtInf>${texts.map((text) => `<Ustrd>${text}</Ustrd>`).join('')}</RmtInf>`) +
    (reason === '' ? '' : `<RtrInf><Rsn><Cd>${reason}</Cd></Rsn></RtrInf>`) +
    (additional === '' ? '' : `<AddtlTxInf>${additional}</AddtlTxInf>`) +
    '</TxDtls></NtryDtls></Ntry>'
  );
};

const back: Entry = { direction: 'CRDT', reason: 'AC04', bankId: '{id}R' };

const camtSheet: Sheet = {
  name: 'camt.053',
  kind: 'camt.053',
  file: (lines) =>
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>' +
    '<GrpHdr><MsgId>S</MsgId></GrpHdr><Stmt><Id>1</Id><Acct><Id><IBAN>DE02 1203 0000 0000 2020 51</IBAN></Id></Acct>\n' +
    `${lines.join('\n')}</Stmt></BkToCstmrStmt></Document>\n`,
  cases: [
    one('a debit', 'paid', entry({})),
    one('a debit with more zeros', 'paid', entry({ amount: '50.00000' })),
    one('the reference in small letters', 'paid', entry({ id: '{ref:lower}' })),
    one('a debit that is not booked', 'pending', entry({ status: 'PDNG' })),
    one('a debit of the future', 'pending', entry({ status: 'FUTR' })),
    one('a debit of another status', 'unclear', entry({ status: 'constructor' })),
    one('a debit without a status', 'unclear', entry({ status: '' })),
    one('an information', 'nothing', entry({ status: 'INFO' })),
    one('neither debit nor credit', 'unclear', entry({ direction: '' })),
    one('another direction', 'unclear', entry({ direction: 'toString' })),
    one('a credit with a reason of a return', 'returned', entry(back)),
    one('a credit that is a reversal', 'returned', entry({ direction: 'CRDT', isReversal: true })),
    one('a credit with the code of a return', 'returned', entry({ direction: 'CRDT', subFamily: 'RRTN' })),
    one('a credit without any of them', 'unclear', entry({ direction: 'CRDT' })),
    one(
      'a credit with a text of the reference',
      'mentioned',
      entry({ id: null, direction: 'CRDT', texts: ['{ref} thanks'] }),
    ),
    one('a debit that is a reversal', 'unclear', entry({ isReversal: true })),
    one('a debit with a reason of a return', 'unclear', entry({ reason: 'AC04' })),
    one('a part of it returned', 'returned', entry({ ...back, amount: '49.00' })),
    one('more than it returned', 'other_amount', entry({ ...back, amount: '51.00' })),
    one('a debit and its return', 'returned', entry({}), entry(back)),
    one('a return before its debit', 'returned', entry(back), entry({})),
    one('a debit, its return and a debit', 'paid', entry({}), entry(back), entry({ bankId: '{id}2' })),
    one('two debits', 'duplicate', entry({}), entry({ bankId: '{id}2' })),
    one('not booked, then booked', 'paid', entry({ status: 'PDNG' }), entry({})),
    one(
      'returned, and another on its way',
      'contradiction',
      entry({}),
      entry(back),
      entry({ status: 'PDNG', bankId: '{id}2' }),
    ),
    one('not booked, booked and returned', 'returned', entry({ status: 'PDNG' }), entry({}), entry(back)),
    one(
      'a debit and a credit without a reason',
      'unclear',
      entry({}),
      entry({ direction: 'CRDT', bankId: '{id}2' }),
    ),
    one(
      'a debit and a fee that mentions it',
      'paid',
      entry({}),
      entry({ id: null, amount: '1.00', texts: ['Fee for {ref}'] }),
    ),
    one(
      'a fee refund that mentions it',
      'mentioned',
      entry({ id: null, texts: ['Refund of fee for {ref}'] }),
    ),
    one('a longer reference', 'mentioned', entry({ id: '{ref}-2' })),
    one('a reference after something', 'mentioned', entry({ id: 'X/{ref}' })),
    one(
      'another id, the reference in the text',
      'mentioned',
      entry({ id: 'INVOICE-7', texts: ['{ref:text}'] }),
    ),
    one('a reference of earlier files', 'nothing', entry({ id: '{ref:old}' })),
    one('our text', 'paid', entry({ id: null, texts: ['{ref:text}'] })),
    one('our text, without an id', 'paid', entry({ id: 'NOTPROVIDED', texts: ['{ref:text}'] })),
    one('our text in capitals', 'paid', entry({ id: null, texts: ['{ref:upper}'] })),
    one('our text second', 'paid', entry({ id: null, texts: ['SEPA transfer', '{ref:text}'] })),
    one('our text in more information', 'paid', entry({ id: null, additional: '{ref:text}' })),
    one('the reference alone as a text', 'paid', entry({ id: null, texts: ['{ref}'] })),
    one('our text in two lines', 'paid', entry({ id: null, texts: ['Affiliate payout', '{ref:rest}'] })),
    one('our text with more', 'mentioned', entry({ id: null, texts: ['{ref:text} and more'] })),
    one('a text that may go on', 'mentioned', entry({ id: null, texts: ['{ref}', '9'] })),
    one('another amount', 'other_amount', entry({ amount: '49.99' })),
    one('no amount of digits', 'other_amount', entry({ amount: '-50.00' })),
    one('an amount with a comma', 'other_amount', entry({ amount: '50,00' })),
    one('another currency', 'other_currency', entry({ currency: 'USD' })),
    one(
      'many debits',
      'duplicate',
      ...Array.from({ length: 25 }, (_, index) => entry({ bankId: `{id}${index}` })),
    ),
  ],
};

/* Banks: pain.002 */

const status = (
  code: string | null,
  { reason = '', amount = '', currency = 'EUR', id = '{ref}' } = {},
): string =>
  `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId>${code === null ? '' : `<TxSts>${code}</TxSts>`}` +
  (reason === '' ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`) +
  (amount === ''
    ? ''
    : `<OrgnlTxRef><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt></OrgnlTxRef>`) +
  '</TxInfAndSts>';

const painSheet: Sheet = {
  name: 'pain.002',
  kind: 'pain.002',
  file: (lines) =>
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>' +
    '<GrpHdr><MsgId>R</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId>' +
    '<GrpSts>PART</GrpSts></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>{message}</OrgnlPmtInfId>\n' +
    `${lines.join('\n')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>\n`,
  cases: [
    ...(
      [
        ['ACSC', 'paid'],
        ['ACCC', 'paid'],
        ['RJCT', 'rejected'],
        ['CANC', 'rejected'],
        ['ACCP', 'pending'],
        ['ACSP', 'pending'],
        ['ACTC', 'pending'],
        ['ACWP', 'pending'],
        ['PDNG', 'pending'],
        ['RCVD', 'pending'],
        ['BLCK', 'unclear'],
        ['RCVC', 'nothing'],
        ['PAID', 'unclear'],
        ['constructor', 'unclear'],
        ['__proto__', 'unclear'],
        ['PART', 'nothing'],
        [null, 'nothing'],
      ] as const
    ).map(([code, verdict]) => one(`status ${code}`, verdict, status(code))),
    one('refused with a reason', 'rejected', status('RJCT', { reason: 'AC01' })),
    one('refused as a duplicate', 'unclear', status('RJCT', { reason: 'AM05' })),
    one('refused as a repeated message', 'unclear', status('RJCT', { reason: 'DU01' })),
    one('the amount too', 'paid', status('ACSC', { amount: '50.00' })),
    one('another amount', 'other_amount', status('ACSC', { amount: '40.00' })),
    one('another currency', 'other_currency', status('ACSC', { amount: '50.00', currency: 'CHF' })),
    one('in progress, then settled', 'paid', status('ACSP'), status('ACSC')),
    one('in progress and refused', 'contradiction', status('ACSP'), status('RJCT')),
    one('settled and refused', 'contradiction', status('ACSC'), status('RJCT')),
    one('settled twice', 'duplicate', status('ACSC'), status('ACSC')),
    one('a longer reference', 'mentioned', status('ACSC', { id: '{ref}-2' })),
    one('a reference of earlier files', 'nothing', status('ACSC', { id: '{ref:old}' })),
  ],
};

/* Your own list */

const listSheet: Sheet = {
  name: 'your own list',
  kind: 'paid_list',
  file: csvOf('reference,is_paid,amount,currency'),
  cases: [
    one('paid', 'paid', '{ref},true,,'),
    one('paid with its amount', 'paid', '{ref},TRUE,50.00,EUR'),
    one('paid in another currency', 'other_currency', '{ref},true,50.00,USD'),
    one('paid more', 'other_amount', '{ref},true,50.01,EUR'),
    one('paid with zero', 'other_amount', '{ref},true,0.00,EUR'),
    one('not paid', 'rejected', '{ref},false,,'),
    one('paid and not paid', 'contradiction', '{ref},true,,', '{ref},false,,'),
    one('paid twice', 'duplicate', '{ref},true,,', '{ref},true,,'),
    one('not paid twice', 'rejected', '{ref},false,,', '{ref},false,,'),
    one('a line of totals', 'nothing', 'Total,true,50.00,EUR'),
    one('a reference of earlier files', 'nothing', '{ref:old},true,,'),
    one('a longer reference', 'nothing', '{ref}-2,true,,'),
  ],
};

export const SHEETS: readonly Sheet[] = [
  activitySheet,
  batchSheet,
  historySheet,
  statementSheet,
  camtSheet,
  painSheet,
  listSheet,
];

/** Files that are refused whole: their header or first line, a line of an unpaid affiliate, and the message. */
export const REFUSED: readonly (readonly [name: string, file: string, message: string])[] = [
  [
    'an Activity report without a status',
    'Date,Type,Currency,Gross,Transaction ID,Custom Number\n09/30/2026,Mass Pay Payment,EUR,-50.00,T,{ref}\n',
    'Status',
  ],
  [
    'an Activity report without a type',
    'Date,Status,Currency,Gross,Transaction ID,Custom Number\n09/30/2026,Completed,EUR,-50.00,T,{ref}\n',
    'Type',
  ],
  [
    'a report of a batch without a status',
    'Transaction ID,Amount,Currency,Unique ID\nT,50.00,EUR,{ref}\n',
    'Status',
  ],
  [
    'a report without a currency',
    'Transaction ID,Amount,Unique ID,Status\nT,50.00,{ref},Completed\n',
    'Currency',
  ],
  [
    'a report without an amount',
    'Transaction ID,Unique ID,Status,Currency\nT,{ref},Completed,EUR\n',
    'Amount',
  ],
  [
    'a list of Wise without a direction',
    'ID,Status,"Target amount (after fees)","Target currency",Reference\nT,COMPLETED,50.00,EUR,{ref}\n',
    'Direction',
  ],
  [
    'a list of Wise without a status',
    'ID,Direction,"Target amount (after fees)","Target currency",Reference\nT,OUT,50.00,EUR,{ref}\n',
    'Status',
  ],
  [
    'a statement of Wise without references',
    '"TransferWise ID",Date,Amount,Currency,Description\nT,30-09-2026,-50.00,EUR,{ref}\n',
    'Payment Reference',
  ],
  [
    'the file that was sent to Wise',
    'name,recipientEmail,paymentReference,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency\nAda,a@example.com,{ref},PERSON,target,50.00,EUR,EUR\n',
    'sent to Wise',
  ],
  [
    'the file that was sent to PayPal',
    'a@example.com,50.00,EUR,{ref},Affiliate payout 1,PAYPAL\n',
    'sent to PayPal',
  ],
  ['a list with a result', 'reference,result\n{ref},failed\n', '"result"'],
  ['a list with a state', 'reference,state\n{ref},REJECTED\n', '"state"'],
  ['a list with success', 'reference,success\n{ref},false\n', '"success"'],
  ['a list in German', 'reference,Ergebnis\n{ref},abgelehnt\n', '"Ergebnis"'],
  ['a list in Greek', 'reference,αποτέλεσμα\n{ref},απορρίφθηκε\n', '"αποτέλεσμα"'],
  ['a list with a note', 'reference,note\n{ref},not paid\n', '"note"'],
  ['a list with a status', 'reference,status\n{ref},failed\n', 'is it is_paid?'],
  ['a list by id with a note', 'affiliate_id,note\n{affiliate},not paid\n', '"note"'],
  ['a list with is_paid and a result', 'reference,is_paid,result\n{ref},true,failed\n', '"result"'],
  ['a list with a word for is_paid', 'reference,is_paid\n{ref},yes\n', 'is_paid must be true or false'],
  ['a list with a negative amount', 'reference,amount,currency\n{ref},-50.00,EUR\n', 'must not be negative'],
  ['a list with a column without a name', 'reference,\n{ref},failed\n', 'no such column'],
];

/** Your own lists that mark an affiliate as paid. */
export const LISTS: readonly (readonly [name: string, file: string, query: string])[] = [
  ['references alone', 'reference\n{ref}\n', ''],
  ['ids alone', 'affiliate_id\n{affiliate}\n', ''],
  [
    'with all known columns',
    'Reference;affiliate_id;E-Mail;Name;Amount;Currency;Date\n{ref};{affiliate};a@example.com;Ada;50,00;EUR;30.09.2026\n',
    '',
  ],
  ['an ignored column', 'reference,internal note\n{ref},not urgent\n', '?ignore_columns=internal%20note'],
  ['ignored columns', 'reference,Ergebnis,note\n{ref},ok,-\n', '?ignore_columns=note,Ergebnis'],
  ['a note next to is_paid', 'reference,is_paid,note\n{ref},true,thanks\n', ''],
];
