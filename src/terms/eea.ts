/**
 * The European Economic Area, as the country codes of IBANs: the 27 states of the European Union, Iceland, Liechtenstein and Norway
 * (EPC409-09, "EPC List of SEPA Scheme Countries", as J.P. Morgan quotes it in its guide to free-form payments; checked on 2026-11-26). Banks
 * need no address of a payee there. Elsewhere they take one, which need not be given at every bank (ABN AMRO, "Structured addresses").
 */
export const EEA =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(' ');
