import { count } from './common.ts';

const affiliates = (number: number) => count(number, 'affiliate');

/** Self-billed invoices, and the tax rules of the account. */
export const invoices = {
  title: 'Invoices',
  columns: {
    number: 'Number',
    kind: 'Kind',
    affiliate: 'Affiliate',
    issued: 'Issued',
    net: 'Net',
    tax: 'Tax',
    total: 'Total',
    files: 'Files',
  },
  kind: { invoice: 'Invoice', credit_note: 'Credit note' },
  pdf: 'PDF',
  pdfOf: (number: string) => `PDF of ${number}`,
  xml: 'XML',
  xmlOf: (number: string) => `XML of ${number}`,
  ubl: 'Peppol',
  ublOf: (number: string) => `Peppol file of ${number}`,
  allHint: 'A zip archive of all invoices and credit notes of this payout.',
  all: { pdf: 'All as PDF', xml: 'All as XML', ubl: 'All as Peppol files' },
  channels: {
    peppol:
      'In Belgium a PDF is not an invoice between businesses. Hand the Peppol files to your access point.',
    approved_platform:
      'In France a PDF is not an invoice between businesses. Send these invoices through an approved platform.',
    ksef: 'In Poland a PDF is not an invoice between businesses. Send these invoices through KSeF.',
  },
  lost: 'Tax id lost',
  viewer: 'Your role cannot download it: it has the full tax id',
  none: 'No invoice was issued for this payout.',
  issue: {
    action: 'Issue invoices',
    hint: 'For everyone in this payout who agreed to self-billing. No invoice is issued twice.',
    done: (number: number) =>
      number === 0 ? 'No invoice was missing' : `${count(number, 'invoice')} issued`,
    more: 'There are more invoices than one request issues. Press the button again.',
    skipped: 'Without an invoice:',
    reasons: {
      no_agreement: (number: number) =>
        `${affiliates(number)} had not agreed to self-billing by the day of the payment and must write their own.`,
      agreement_expired: (number: number) =>
        `The agreement of ${affiliates(number)} ended before the payment. Set a new one in the tax profile if they agreed again.`,
      no_rule: (number: number) =>
        `No tax rule matches ${affiliates(number)}. Add one in the settings, then issue again.`,
      no_rate: (number: number) =>
        `The invoice of ${affiliates(number)} must state the VAT in the currency of their country. Enter the exchange rate below.`,
      no_tax_id: (number: number) =>
        `The tax rule of ${affiliates(number)} requires a tax id. Set it in the tax profile, then issue again.`,
      tax_not_paid: (number: number) =>
        `The commissions of ${affiliates(number)} are net, and the payout was created before a rule with a tax matched: their tax was not paid.`,
    },
    atLeast: 'There are more.',
    rates: 'Exchange rates',
    rate: (pair: string) => `Rate ${pair}`,
    rateHint: (pair: string) =>
      `What one ${pair.split('/')[0]} is worth in ${pair.split('/')[1]}, such as 0.8675.`,
    quotedOn: 'Day of the rates',
    quotedOnHint: 'YYYY-MM-DD, within 31 days of the payment.',
    source: 'Source of the rates',
    sourceHint: 'Such as ECB. The invoice names it.',
    withRates: 'Issue with these rates',
  },
  settings: {
    title: 'Invoices of affiliates',
    lead: 'You write the invoices of affiliates who agreed to self-billing. The first rule that matches an affiliate sets the tax. Ask your tax adviser which rules you need. Without a rule, no invoices are issued.',
    prefix: 'Numbers begin with',
    prefixHint: 'Up to 12 capital letters, digits and hyphens, such as SB-.',
    rule: (number: number) => `Rule ${number}`,
    country: 'Country',
    countryHint: 'Two letters. Leave it empty for any country.',
    legalType: 'Legal type',
    legalTypes: { any: 'Any', person: 'Person', business: 'Business' },
    vatId: 'VAT id',
    vatIds: { any: 'With or without', yes: 'With a VAT id', no: 'Without one' },
    category: 'Tax',
    categories: {
      S: 'At a rate',
      Z: 'Zero rate',
      E: 'Exempt',
      AE: 'Reverse charge',
      O: 'Outside the scope of VAT',
    },
    rate: 'Rate in percent',
    badRate: 'Enter a number above 0 and at most 100, with at most two decimals, such as 19.',
    exemption: 'Why no tax is due',
    exemptionHint: 'This text appears on the invoice.',
    add: 'Add a rule',
    remove: (number: number) => `Remove rule ${number}`,
    up: (number: number) => `Move rule ${number} up`,
  },
} as const;
