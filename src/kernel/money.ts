/**
 * ISO 4217 currencies in use and the number of their minor digits. Money is an integer of minor units everywhere
 * (bigint internally, a JSON integer in the API); decimals occur only in files.
 */
const EXPONENTS: Readonly<Record<number, string>> = {
  0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf',
  2:
    'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf cny ' +
    'cop crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils ' +
    'inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr ' +
    'mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle sos srd ' +
    'ssp stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd uyu uzs ved ves wst xcd xcg yer zar zmw zwg',
  3: 'bhd iqd jod kwd lyd omr tnd',
};

const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(EXPONENTS).flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => [code, Number(digits)]),
  ),
);

/** The largest integer that every JSON client reads exactly: 2^53 - 1. */
export const MAX_JSON_INTEGER = 9_007_199_254_740_991n;

/** The largest amount of one commission, in minor units: thousands of them still add up exactly. */
export const MAX_AMOUNT = 1_000_000_000_000;

/** The lower-case code of a known ISO 4217 currency, given in any case; null when it is unknown. */
export function normalizeCurrency(code: string): string | null {
  const lower = code.toLowerCase();
  return DIGITS.has(lower) ? lower : null;
}

/** The number of minor digits of a normalised currency code: jpy 0, usd 2, kwd 3. */
export function currencyDigits(currency: string): number {
  const digits = DIGITS.get(currency);
  if (digits === undefined) throw new Error(`unknown currency ${currency}`);
  return digits;
}

/** All currencies with the number of their minor digits, for the SQL function that formats decimals. */
export function currencyTable(): [currency: string, digits: number][] {
  return [...DIGITS].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Minor units of a decimal string in a file (`31.90`, `-0.5`, `1200`). null when it is malformed or has more digits
 * than the currency; grouping and exponents are not accepted.
 */
export function parseDecimal(text: string, currency: string): bigint | null {
  const match = /^(-?)(\d{1,18})(?:\.(\d+))?$/.exec(text);
  if (!match) return null;
  const digits = currencyDigits(currency);
  const fraction = match[3] ?? '';
  if (fraction.length > digits) return null;
  const minor = BigInt(match[2] + fraction.padEnd(digits, '0'));
  return match[1] ? -minor : minor;
}

/** The decimal string of minor units: 3190n usd -> `31.90`, -50n usd -> `-0.50`, 500n jpy -> `500`. */
export function formatDecimal(minor: bigint, currency: string): string {
  const digits = currencyDigits(currency);
  const sign = minor < 0n ? '-' : '';
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** numerator × factor / divisor in integers, rounded half away from zero. */
export function multiplyRounded(numerator: bigint, factor: bigint, divisor: bigint): bigint {
  const product = numerator * factor;
  const half = divisor / 2n;
  return product < 0n ? -((-product + half) / divisor) : (product + half) / divisor;
}
