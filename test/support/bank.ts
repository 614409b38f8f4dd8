/** Bank messages that answer SEPA files; validated by the ISO schemas in test/properties/bank.test.ts. */

const money = (cents: number) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

/** A booking on an account. */
export interface Booking {
  readonly reference: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency?: string;
  /** The reason why the money was returned. */
  readonly returned?: string;
  /** Not booked yet. */
  readonly isPending?: boolean;
  /** The id of the sent file. */
  readonly file?: string;
}

/** A booking of a whole file, without its payments. */
export interface Batch {
  readonly file: string;
  readonly amount: number;
  readonly count: number;
}

export type CamtVersion =
  | 'camt.053.001.02'
  | 'camt.053.001.06'
  | 'camt.053.001.08'
  | 'camt.053.001.13'
  | 'camt.054.001.08';

const IBAN = 'DE02120300000000202051';
const isNew = (version: CamtVersion) => /(08|13)$/.test(version);

function transaction(version: CamtVersion, booking: Booking, index: number): string {
  const { reference, amount, currency = 'EUR', returned, file } = booking;
  const sum = `<Amt Ccy="${currency}">${money(amount)}</Amt>`;
  const direction = `<CdtDbtInd>${returned === undefined ? 'DBIT' : 'CRDT'}</CdtDbtInd>`;
  const amounts =
    version === 'camt.053.001.02' ? `<AmtDtls><TxAmt>${sum}</TxAmt></AmtDtls>` : `${sum}${direction}`;
  const id = file === undefined ? '' : `<PmtInfId>${file}</PmtInfId>`;
  const back =
    returned === undefined
      ? ''
      : `<RtrInf><Rsn><Cd>${returned}</Cd></Rsn><AddtlInf>see the bank</AddtlInf></RtrInf>`;
  return (
    `<TxDtls><Refs><AcctSvcrRef>BANK-${index}</AcctSvcrRef>${id}<EndToEndId>${reference}</EndToEndId></Refs>` +
    `${amounts}<RmtInf><Ustrd>Affiliate payout</Ustrd></RmtInf>${back}</TxDtls>`
  );
}

function entry(version: CamtVersion, about: Booking | Batch, index: number): string {
  const isBatch = 'count' in about;
  const currency = ('currency' in about ? about.currency : undefined) ?? 'EUR';
  const isBack = 'returned' in about && about.returned !== undefined;
  const status = 'isPending' in about && about.isPending ? 'PDNG' : 'BOOK';
  const details = isBatch
    ? `<Btch><PmtInfId>${about.file}</PmtInfId><NbOfTxs>${about.count}</NbOfTxs></Btch>`
    : transaction(version, about, index);
  return (
    `<Ntry><Amt Ccy="${currency}">${money(about.amount)}</Amt><CdtDbtInd>${isBack ? 'CRDT' : 'DBIT'}</CdtDbtInd>` +
    `<Sts>${isNew(version) ? `<Cd>${status}</Cd>` : status}</Sts><BookgDt><Dt>2026-09-30</Dt></BookgDt>` +
    `<ValDt><Dt>2026-09-30</Dt></ValDt><AcctSvcrRef>ENTRY-${index}</AcctSvcrRef>` +
    '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>' +
    `<NtryDtls>${details}</NtryDtls></Ntry>\n`
  );
}

const balance = (code: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>` +
  '<Dt><Dt>2026-09-30</Dt></Dt></Bal>';

/** A statement or notification with these bookings. */
export function camt(
  bookings: readonly (Booking | Batch)[],
  version: CamtVersion = 'camt.053.001.08',
): string {
  const isStatement = version.startsWith('camt.053');
  const [message, part] = isStatement ? ['BkToCstmrStmt', 'Stmt'] : ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'];
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}"><${message}>` +
    '<GrpHdr><MsgId>STMT-1</MsgId><CreDtTm>2026-09-30T20:00:00</CreDtTm></GrpHdr>' +
    `<${part}><Id>1</Id><CreDtTm>2026-09-30T20:00:00</CreDtTm>` +
    `<Acct><Id><IBAN>${IBAN}</IBAN></Id></Acct>${isStatement ? balance('OPBD') + balance('CLBD') : ''}\n` +
    bookings.map((each, index) => entry(version, each, index + 1)).join('') +
    `</${part}></${message}></Document>\n`
  );
}

/** A bank's status of a payment in a file. */
export interface Status {
  readonly reference: string;
  readonly status: 'RJCT' | 'ACSC' | 'ACCP' | 'PDNG';
  readonly reason?: string;
  readonly amount?: number;
}

export type PainVersion = 'pain.002.001.03' | 'pain.002.001.10';

/** A status report about a sent file, with a status of the whole and of single payments. */
export function pain002(
  file: string,
  all: string | null,
  payments: readonly Status[] = [],
  version: PainVersion = 'pain.002.001.10',
): string {
  const single = payments.map(({ reference, status, reason, amount }) => {
    const why = reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`;
    const original =
      amount === undefined
        ? ''
        : `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">${money(amount)}</InstdAmt></Amt></OrgnlTxRef>`;
    return (
      `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${status}</TxSts>${why}${original}` +
      '</TxInfAndSts>'
    );
  });
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}"><CstmrPmtStsRpt>` +
    '<GrpHdr><MsgId>STATUS-1</MsgId><CreDtTm>2026-09-30T20:00:00</CreDtTm></GrpHdr>' +
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${file}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId></OrgnlGrpInfAndSts>` +
    `<OrgnlPmtInfAndSts><OrgnlPmtInfId>${file}</OrgnlPmtInfId>${all === null ? '' : `<PmtInfSts>${all}</PmtInfSts>`}` +
    `${single.join('\n')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>\n`
  );
}

/** What the bank of a payee answered about the name. */
export interface Checked {
  readonly reference: string;
  readonly status: 'RCVC' | 'RVMC' | 'RVNM' | 'RVNA';
  /** The name that the bank has, or its text. */
  readonly text?: string;
  readonly reason?: string;
  /** The name and IBAN that were checked. */
  readonly name?: string;
  readonly iban?: string;
}

const CODES = ['RCVC', 'RVMC', 'RVNM', 'RVNA'] as const;

/**
 * A verification of the payees of a sent file, in the form of the German banks (DFÜ agreement, annex 3): payees that match are
 * counted, and the others are listed. `matches` is the number of those that match; null = the bank does not count.
 */
export function verification(file: string, listed: readonly Checked[], matches: number | null = 0): string {
  const numbers = CODES.map(
    (code) =>
      [
        code,
        listed.filter(({ status }) => status === code).length + (code === 'RCVC' ? (matches ?? 0) : 0),
      ] as const,
  ).filter(([, number]) => number > 0);
  const counts =
    matches === null
      ? ''
      : numbers
          .map(
            ([code, number]) =>
              `<NbOfTxsPerSts><DtldNbOfTxs>${number}</DtldNbOfTxs><DtldSts>${code}</DtldSts></NbOfTxsPerSts>`,
          )
          .join('');
  const group = listed.some(({ status }) => status !== 'RCVC') ? 'RVCM' : 'RCVC';
  const single = listed.map(({ reference, status, text, reason, name, iban }) => {
    const why = reason === undefined ? '' : `<Rsn><Cd>${reason}</Cd></Rsn>`;
    const said =
      text === undefined
        ? ''
        : (text.match(/.{1,105}/g) ?? []).map((part) => `<AddtlInf>${part}</AddtlInf>`).join('');
    const payee = name === undefined ? '' : `<Cdtr><Pty><Nm>${name}</Nm></Pty></Cdtr>`;
    const account = iban === undefined ? '' : `<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>`;
    return (
      `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${status}</TxSts>` +
      `${why + said === '' ? '' : `<StsRsnInf>${why}${said}</StsRsnInf>`}` +
      `${payee + account === '' ? '' : `<OrgnlTxRef>${payee}${account}</OrgnlTxRef>`}</TxInfAndSts>`
    );
  });
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>` +
    '<GrpHdr><MsgId>VOP-1</MsgId><CreDtTm>2026-09-29T20:00:00</CreDtTm></GrpHdr>' +
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${file}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId><GrpSts>${group}</GrpSts>` +
    `</OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${file}</OrgnlPmtInfId>${counts}` +
    `${single.join('\n')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>\n`
  );
}
