/** The members of the European Union that do not use the euro, which Bulgaria has done since 2026. */
const OWN = { CZ: 'czk', DK: 'dkk', HU: 'huf', PL: 'pln', RO: 'ron', SE: 'sek' } as const;
const EURO = 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' ');

/**
 * The currency in which an invoice with VAT of a country must state the VAT, whatever its own currency: Directive 2006/112/EC,
 * article 230, and for GB VAT Regulations 1995, regulation 14(1), in HMRC's manual VATREC5060. Checked on 2026-11-27; other
 * countries were not.
 */
const NATIONAL: Readonly<Record<string, string>> = {
  ...Object.fromEntries(EURO.map((country) => [country, 'eur'])),
  ...OWN,
  GB: 'gbp',
};

/** That currency, in lower case; undefined for a country without such a rule here. */
export const nationalCurrencyOf = (country: string): string | undefined => NATIONAL[country];
