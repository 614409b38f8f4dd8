/** Files of banks and providers about the payments of a payout, in their layouts. */

/** The fate of a payment that left, or was to leave. */
export type Fate = 'arrived' | 'came back' | 'refused' | 'open' | 'something else';
export const FATES: readonly Fate[] = ['arrived', 'came back', 'refused', 'open', 'something else'];
export const CHANNELS = ['paypal', 'wise', 'statement', 'camt', 'pain'] as const;
export type Channel = (typeof CHANNELS)[number];

/** A payment with the reference of a line, or with one that only looks like it. */
export interface Transaction {
  readonly line: number;
  readonly channel: Channel;
  readonly fate: Fate;
  /** Cents more or less than the line. */
  readonly shift: -1 | 0 | 1;
  readonly isExact: boolean;
  /** The files of its channel that contain it. */
  readonly file: 0 | 1;
}

export const money = (cents: number) => (cents / 100).toFixed(2);

export interface Named extends Transaction {
  readonly id: string;
  readonly reference: string;
  readonly amount: string;
}

const WISE = {
  arrived: 'COMPLETED,OUT',
  'came back': 'REFUNDED,OUT',
  refused: 'CANCELLED,OUT',
  open: 'processing,OUT',
  'something else': 'COMPLETED,NEUTRAL',
};
const PAYPAL = {
  arrived: 'Completed',
  'came back': 'Returned',
  refused: 'Denied',
  open: 'Unclaimed',
  'something else': 'Removed',
};

const entry = ({ reference, amount, id }: Named, direction: string, status: string, more = '') =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts><BookgDt><Dt>2026-09-30</Dt></BookgDt>` +
  `<NtryDtls><TxDtls><Refs><AcctSvcrRef>${id}${direction}</AcctSvcrRef><EndToEndId>${reference}</EndToEndId></Refs>${more}</TxDtls></NtryDtls></Ntry>`;

/**
 * The file of a channel with these payments, or null for a channel that reports none of them. A status report answers
 * the payment file with the given id.
 */
export function fileOf(channel: Channel, all: readonly Named[], messageId: string): string | null {
  if (channel === 'paypal') {
    const lines = all.map(
      ({ fate, reference, amount, id }) =>
        `Mass Pay Payment,${PAYPAL[fate]},EUR,-${amount},${id},${reference}`,
    );
    return ['Type,Status,Currency,Gross,Transaction ID,Custom Number', ...lines, ''].join('\n');
  }
  if (channel === 'wise') {
    const lines = all.map(
      ({ fate, reference, amount, id }) => `${id},${WISE[fate]},${amount},EUR,${reference}`,
    );
    return ['ID,Status,Direction,Target amount (after fees),Target currency,Reference', ...lines, ''].join(
      '\n',
    );
  }
  if (channel === 'statement') {
    const lines = all.flatMap(({ fate, reference, amount, id }) => {
      const out = `${id},30-09-2026,-${amount},EUR,${reference}`;
      if (fate === 'arrived') return [out];
      return fate === 'came back' ? [`${id},30-09-2026,${amount},EUR,${reference}`] : [];
    });
    return lines.length === 0
      ? null
      : ['TransferWise ID,Date,Amount,Currency,Payment Reference', ...lines, ''].join('\n');
  }
  if (channel === 'camt') {
    const entries = all.flatMap((each) => {
      const back = '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>';
      if (each.fate === 'arrived') return [entry(each, 'DBIT', 'BOOK')];
      if (each.fate === 'came back') return [entry(each, 'DBIT', 'BOOK'), entry(each, 'CRDT', 'BOOK', back)];
      if (each.fate === 'open') return [entry(each, 'DBIT', 'PDNG')];
      return each.fate === 'something else' ? [entry(each, 'CRDT', 'BOOK')] : [];
    });
    return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entries.join('')}</Stmt></BkToCstmrStmt></Document>`;
  }
  const statuses = all.flatMap(({ fate, reference }) => {
    const code = {
      refused: 'RJCT',
      open: 'ACSP',
      arrived: 'ACSC',
      'came back': null,
      'something else': 'XXXX',
    }[fate];
    return code === null
      ? []
      : [`<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${code}</TxSts></TxInfAndSts>`];
  });
  return (
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>' +
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${messageId}</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${messageId}</OrgnlPmtInfId>` +
    `${statuses.join('')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
  );
}

/** Whether the files of a channel report this about a payment. */
export const isReported = ({ channel, fate }: Transaction) =>
  channel === 'camt'
    ? fate !== 'refused'
    : channel === 'statement'
      ? fate === 'arrived' || fate === 'came back'
      : channel !== 'pain' || fate !== 'came back';
