/*
 * ISO 3166-1, from the names that Node's own data has for regions. What it names beyond the standard: codes that are
 * reserved, or mean no country.
 */
const BEYOND = ['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ'];

let display: Intl.DisplayNames | undefined; // made when it is needed: it takes 7 MB

/** The English name of a country by its two letters, in upper case; null for anything else. Kosovo is XK, as in the EU. */
export function countryName(code: string): string | null {
  if (!/^[A-Z]{2}$/.test(code) || BEYOND.includes(code)) return null;
  // an obsolete code has the name of its successor
  if (Intl.getCanonicalLocales(`und-${code}`)[0] !== `und-${code}`) return null;
  display ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return display.of(code) ?? null;
}
