import type { ImportField } from '../../contract/fields.ts';

const TAX = ['legal_name'];

/** Who an affiliate is to a tax office. */
export const TAX_PROFILE_FIELDS: Readonly<Record<string, ImportField>> = {
  legal_name: {
    type: 'text',
    synonyms: ['legalname', 'taxname', 'legalentity', 'legalentityname', 'raisonsociale'],
  },
  tax_country: {
    type: 'country',
    goesWith: TAX,
    synonyms: ['taxcountry', 'countryoftax', 'taxresidence', 'countryoftaxresidence'],
  },
  address_line1: {
    type: 'text',
    goesWith: TAX,
    synonyms: ['addressline1', 'address1', 'address', 'street', 'streetaddress', 'strasse', 'adresse'],
  },
  address_line2: { type: 'text', goesWith: TAX, synonyms: ['addressline2', 'address2'] },
  address_postal_code: {
    type: 'text',
    goesWith: TAX,
    synonyms: ['addresspostalcode', 'postalcode', 'postcode', 'zip', 'zipcode', 'plz', 'codepostal'],
  },
  address_city: {
    type: 'text',
    goesWith: TAX,
    synonyms: ['addresscity', 'city', 'town', 'ort', 'stadt', 'ville'],
  },
  address_region: {
    type: 'text',
    goesWith: TAX,
    synonyms: ['addressregion', 'region', 'province', 'stateprovince', 'addressstate', 'bundesland'],
  },
  tax_id: {
    type: 'text',
    goesWith: TAX,
    synonyms: [
      'taxid',
      'taxidnumber',
      'taxidentificationnumber',
      'taxnumber',
      'tin',
      'vatid',
      'vatnumber',
      'ustid',
      'ustidnr',
      'ssn',
      'ein',
    ],
  },
  tax_id_type: {
    type: 'word',
    goesWith: TAX,
    synonyms: ['taxidtype', 'tintype'],
    words: {
      us_ssn: ['usssn', 'ssn', 'socialsecuritynumber'],
      us_itin: ['usitin', 'itin'],
      us_ein: ['usein', 'ein', 'fein', 'employeridentificationnumber'],
      vat: ['vat', 'vatid', 'vatnumber', 'ustid', 'ustidnr', 'tva'],
      other: ['other'],
    },
  },
  tax_form: {
    type: 'word',
    goesWith: TAX,
    synonyms: ['taxform', 'taxformtype', 'formtype'],
    words: {
      w9: ['w9', 'formw9'],
      w8ben: ['w8ben', 'formw8ben'],
      w8bene: ['w8bene', 'formw8bene'],
      w8eci: ['w8eci', 'formw8eci'],
      w8exp: ['w8exp', 'formw8exp'],
      w8imy: ['w8imy', 'formw8imy'],
      vat_registration: ['vatregistration'],
      other: ['other'],
    },
  },
  tax_form_signed_on: {
    type: 'day',
    goesWith: TAX,
    synonyms: ['taxformsignedon', 'taxformdate', 'formsignedon', 'formdate', 'datesigned'],
  },
  tax_form_document: { type: 'text', goesWith: TAX, synonyms: ['taxformdocument'] },
  self_billing_agreed_on: {
    type: 'day',
    goesWith: TAX,
    synonyms: ['selfbillingagreedon', 'selfbillingdate'],
  },
  self_billing_agreed_by: { type: 'text', goesWith: TAX, synonyms: ['selfbillingagreedby'] },
  self_billing_document: { type: 'text', goesWith: TAX, synonyms: ['selfbillingdocument'] },
};
