/** What an invoice that the customer issues says, by the law of the supplier. */
interface Wording {
  /** The words for self-billing in the language of the country. */
  readonly mention?: string;
  /** A sentence for an invoice with VAT. */
  readonly taxed?: string;
  /** The rule, and where its words were read. */
  readonly source: string;
}

const DIRECTIVE = 'Directive 2006/112/EC, article 226(10a)';

/**
 * The wording that the country of the supplier requires, by ISO 3166-1 alpha-2; a country that is not listed has the English
 * mention of the directive only. A country is listed if two sources agree on its words. Checked on 2026-11-27.
 */
export const SELF_BILLING_WORDING: Readonly<Record<string, Wording>> = {
  AT: { mention: 'Gutschrift', source: `${DIRECTIVE} (de); UStG 1994, section 11(8)3, in linde.at` },
  DE: { mention: 'Gutschrift', source: `${DIRECTIVE} (de); UStG, section 14(4)10, in haufe.de` },
  ES: {
    mention: 'Facturación por el destinatario',
    source: `${DIRECTIVE} (es); Real Decreto 1619/2012, article 6.1.l, in invopop/gobl`,
  },
  FI: {
    mention: 'Itselaskutus',
    source: `${DIRECTIVE} (fi); AVL, section 209 b, in program texts of Finnish invoices`,
  },
  FR: {
    mention: 'Autofacturation',
    source: `${DIRECTIVE} (fr); CGI, annex II, article 242 nonies A, I, 14°, in the guide of ATH for 2024`,
  },
  GB: {
    taxed: 'The VAT shown is your output tax due to HMRC',
    source:
      'VAT Notice 700/62, in invoicedataextraction.com, rekkamvideo.com and program texts of British invoices',
  },
  IT: { mention: 'Autofatturazione', source: `${DIRECTIVE} (it), in linde.at (UStR 1664)` },
  NL: {
    mention: 'Factuur uitgereikt door afnemer',
    source: `${DIRECTIVE} (nl); Wet OB 1968, article 35a, in program texts of Dutch invoices`,
  },
  PL: {
    mention: 'Samofakturowanie',
    source: `${DIRECTIVE} (pl); P_17 of the schemas JPK_FA and FA of the Ministry of Finance`,
  },
};

/** The wording for a supplier of a country, in addition to "Self-billing"; `isTaxed` if the invoice has VAT. */
export function wordingFor(country: string, isTaxed: boolean): string[] {
  const { mention, taxed } = SELF_BILLING_WORDING[country] ?? {};
  return [mention, isTaxed ? taxed : undefined].filter((text) => text !== undefined);
}
