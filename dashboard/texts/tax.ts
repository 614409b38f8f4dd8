import { count } from './common.ts';
import { roleCannot } from './roles.ts';

/** Tax profiles, and the lists for US tax forms. */
export const tax = {
  taxIdTypes: {
    us_ssn: 'US social security number (SSN)',
    us_itin: 'US individual taxpayer number (ITIN)',
    us_ein: 'US employer number (EIN)',
    vat: 'VAT id',
    other: 'Another number',
  },
  forms: {
    w9: 'W-9',
    w8ben: 'W-8BEN (person)',
    w8bene: 'W-8BEN-E (business)',
    w8eci: 'W-8ECI',
    w8exp: 'W-8EXP',
    w8imy: 'W-8IMY',
    vat_registration: 'VAT registration',
    other: 'Another form',
  },
  profile: {
    title: 'Tax profile',
    none: 'No tax profile. Neither a signed form nor a tax id is recorded.',
    set: 'Set tax profile',
    change: 'Change tax profile',
    remove: 'Remove tax profile',
    facts: {
      legalName: 'Legal name',
      legalType: 'Legal type',
      address: 'Address',
      taxId: 'Tax id',
      siren: 'SIREN or SIRET',
      electronicAddress: 'Electronic address',
      form: 'Signed form',
      selfBilling: 'Self-billing',
      changed: 'Last changed',
    },
    ending: (type: string, ending: string) => `${type}, ends in ${ending}`,
    lost: 'The number was lost with the secret key. Enter it again.',
    shared: (ids: readonly number[]) =>
      ids.length === 1
        ? `Affiliate ${ids[0]} has the same number.`
        : `Affiliates ${ids.join(', ')} have the same number.`,
    signedOn: (form: string, day: string) => `${form}, signed on ${day}`,
    validUntil: (day: string) => `Valid until ${day}`,
    lapsed: (day: string) => `Lapsed: it was valid until ${day}`,
    agreed: (name: string, day: string) => `${name} agreed to self-billing on ${day}`,
    expires: (day: string) => `The agreement expires on ${day}`,
    expired: (day: string) => `The agreement expired on ${day}`,
    notAgreed: 'Not agreed',
    document: (name: string) => `Kept at: ${name}`,
  },
  edit: {
    title: (name: string) => `Tax profile of ${name}`,
    lead: 'Copy it from the form the affiliate signed. The tax id is encrypted; only its last four characters are shown.',
    keep: (ending: string) => `Keep the one ending in ${ending}`,
    save: 'Save tax profile',
    done: 'Tax profile saved',
  },
  removal: {
    title: (name: string) => `Remove the tax profile of ${name}?`,
    lead: 'The legal name, address, tax id and record of the signed form are deleted and cannot be restored. Lists for tax forms will report the form as missing.',
    done: 'Tax profile removed',
  },
  account: {
    title: 'Tax details',
    lead: 'Who you are on invoices and reports.',
    legalName: 'Legal name of your company',
    vatId: 'VAT id',
    vatIdHint: 'With its country in front, such as DE136695976.',
    taxNumber: 'National tax number',
    taxNumberHint: 'Such as an EIN.',
    electronicAddress: 'Electronic address',
    electronicAddressHint: 'In the Peppol network, such as 0208:0123456749.',
    siren: 'SIREN or SIRET',
    sirenHint: 'Of a French business: your invoices show it.',
  },
  lapsing: {
    title: 'Forms that lapse',
    lead: 'A W-8 is valid until the end of the third calendar year after its signature. Ask for a new one before.',
    show: 'Show',
    views: { lapsing: 'Lapse this year', lapsed: 'Lapsed', none: 'No form recorded' },
    columns: {
      affiliate: 'Affiliate',
      country: 'Tax country',
      form: 'Form',
      signed: 'Signed on',
      until: 'Valid until',
    },
    empty: {
      lapsing: 'No form lapses at the end of this year',
      lapsed: 'No form has lapsed',
      none: 'Every tax profile has a form',
    },
  },
  report: {
    title: 'US tax forms',
    lead: 'Who was paid how much in a calendar year, and whose form is missing.',
    remark:
      'This list is not tax advice. Ask your tax adviser who must be reported, on which form, and what to withhold.',
    year: 'Year',
    sums: {
      reportable: (threshold: string) => `Paid ${threshold} or more, in the United States`,
      reportableHint: (people: string) => `${people}, in the file for Form 1099-NEC`,
      processor: 'Paid by PayPal',
      processorHint: 'On the Form 1099-K of PayPal',
    },
    unknownThreshold: (year: number, threshold: string) =>
      `The threshold for ${year} was not published when this version was released. The list uses ${threshold}.`,
    otherCurrencies: (number: number) =>
      `${count(number, 'affiliate')} ${number === 1 ? 'was' : 'were'} paid in other currencies too. These are listed and not converted.`,
    people: (number: number) => count(number, 'affiliate'),
    missingTaxId: (number: number) => `${count(number, 'affiliate')} in the file without a US tax id`,
    show: 'Show',
    views: { w9: 'W-9 missing', w8: 'W-8 missing', file: 'In the file', all: 'Everybody' },
    columns: {
      affiliate: 'Affiliate',
      residence: 'Taxed in',
      form: 'Form',
      taxId: 'Tax id',
      reportable: 'You report',
      processor: 'PayPal reports',
      ways: 'Paid by',
    },
    residences: { us: 'United States', foreign: 'Elsewhere', unknown: 'Not known' },
    missingForms: { w9: 'W-9 missing', w8: 'W-8 missing' },
    noTaxId: 'None',
    export: 'File with tax ids',
    exportTitle: (year: number) => `Download the file for ${year}?`,
    exportLead: (people: number) =>
      `The file has the full tax ids of ${count(people, 'affiliate')}. The audit log records that you downloaded it.`,
    format: 'Format',
    formats: {
      filing_service: 'CSV for a filing service',
      iris: 'CSV in the columns of the IRS (IRIS)',
      tin_matching: 'Text for the TIN matching of the IRS',
    },
    formatHints: {
      filing_service: 'The fields of Form 1099-NEC as Avalara names them. Other services let you map them.',
      iris: 'Compare the columns with the template of the year before you upload it. Add your telephone number.',
      tin_matching: 'The IRS compares names and tax ids before you file.',
    },
    tinLead:
      'The file has the full tax ids of everybody in the United States who was paid in the year. The audit log records that you downloaded it.',
    state: (state: string, threshold: string, people: number) =>
      `${state}: ${count(people, 'affiliate')} paid ${threshold} or more, from which you report to the state`,
    exportAction: 'Download with tax ids',
    notAllowed: roleCannot('tax_ids', 'download the file for a filing service, which has complete tax ids'),
    empty: {
      w9: 'No W-9 is missing for this year',
      w8: 'No W-8 is missing for this year',
      file: 'Nobody is in the file for this year',
      all: 'Nobody was paid in this year',
    },
  },
} as const;
