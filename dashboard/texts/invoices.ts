import { count } from './common.ts';

const affiliates = (number: number) => count(number, 'affiliate');

/** Invoices in the name of affiliates, and how the account has them taxed. */
export const invoices = {
  title: 'Invoices',
  pages: 'Pages of invoices',
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
  lost: 'Tax id lost',
  viewer: 'Not for viewers: it has the whole tax id',
  none: 'No invoice was issued for this payout.',
  issue: {
    action: 'Issue invoices',
    hint: 'For whoever was paid and had agreed that you write their invoices. Nothing is issued twice.',
    done: (number: number) =>
      number === 0 ? 'No invoice was missing' : `${count(number, 'invoice')} issued`,
    more: 'There are more to issue than fit into one go: press the button again.',
    skipped: 'Who has no invoice:',
    reasons: {
      no_agreement: (number: number) =>
        `${affiliates(number)} had not agreed to it by the day of the payment. They write their own.`,
      no_rule: (number: number) =>
        `${affiliates(number)} fit no tax rule. Add one in the settings, then issue again.`,
      no_tax_id: (number: number) =>
        `${affiliates(number)} lack the tax id that their tax rule wants. Set it in the tax profile, then issue again.`,
    },
    atLeast: 'There are more of them.',
  },
  settings: {
    title: 'Invoices of affiliates',
    lead: 'You write the invoices of affiliates who agreed to it. The first rule that fits an affiliate says how they are taxed. Your tax adviser knows the rules you need. Without a rule no invoices are issued.',
    prefix: 'Numbers begin with',
    prefixHint: 'Up to 12 capital letters, digits and hyphens, such as SB-.',
    rule: (number: number) => `Rule ${number}`,
    country: 'Country',
    countryHint: 'Two letters. Empty for any.',
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
    badRate: 'A number above 0, at most 100, with two decimals at most, such as 19',
    exemption: 'Why no tax is due',
    exemptionHint: 'As the invoice shall say it.',
    add: 'Add a rule',
    remove: (number: number) => `Remove rule ${number}`,
    up: (number: number) => `Move rule ${number} up`,
  },
} as const;
