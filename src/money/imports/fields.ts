import type { Field } from './field.ts';
import { PAYEE_FIELDS } from './payee-fields.ts';

/** What a file may contain. */
export const IMPORT_KINDS = ['affiliates', 'commissions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

const YES_AND_NO = {
  true: ['true', 'yes', 'y', '1', 'on', 'ready'],
  false: ['false', 'no', 'n', '0', 'off'],
};

const AFFILIATES: Readonly<Record<string, Field>> = {
  external_id: {
    type: 'id',
    synonyms: [
      'externalid',
      'affiliateid',
      'promoterid',
      'partnerid',
      'affiliatecode',
      'custid',
      'id',
      'userid',
    ],
  },
  paypal_email: {
    type: 'email',
    synonyms: ['paypalemail', 'paypalemailaddress', 'paypal', 'paymentemail', 'payoutemail'],
  },
  email: {
    type: 'email',
    synonyms: [
      'email',
      'emailaddress',
      'affiliateemail',
      'useremail',
      'promoteremail',
      'partneremail',
      'mail',
      'emailid',
    ],
  },
  name_first: { type: 'text', synonyms: ['namefirst', 'firstname', 'givenname', 'vorname', 'prenom'] },
  name_last: { type: 'text', synonyms: ['namelast', 'lastname', 'surname', 'familyname', 'nachname', 'nom'] },
  name: {
    type: 'name',
    synonyms: ['name', 'fullname', 'affiliatename', 'displayname', 'promotername', 'partnername'],
  },
  slug: {
    type: 'text',
    synonyms: [
      'slug',
      'refid',
      'referralcode',
      'referralid',
      'token',
      'linktoken',
      'trackingparameter',
      'username',
      'defaultrefid',
    ],
  },
  payout_method: {
    type: 'word',
    synonyms: ['payoutmethod', 'paymentmethod', 'payoutpreference', 'paymenttype'],
    words: {
      paypal: ['paypal', 'paypalpayouts', 'paypalmasspay'],
      wise: ['wise', 'transferwise'],
      other: [
        'other',
        'manual',
        'bank',
        'banktransfer',
        'ach',
        'wire',
        'check',
        'cheque',
        'storecredit',
        'stripe',
        'sepa',
      ],
    },
  },
  is_ready_for_payout: {
    type: 'word',
    synonyms: ['isreadyforpayout', 'readyforpayout', 'payable'],
    words: YES_AND_NO,
  },
  status: {
    type: 'word',
    synonyms: ['status', 'state', 'affiliatestatus'],
    words: {
      active: ['active', 'approved', 'accepted', 'enabled', 'confirmed'],
      inactive: [
        'inactive',
        'pending',
        'rejected',
        'denied',
        'declined',
        'disabled',
        'banned',
        'suspended',
        'archived',
      ],
    },
  },
  legal_type: {
    type: 'word',
    synonyms: ['legaltype', 'taxclassification', 'entitytype'],
    words: {
      person: ['person', 'individual', 'private'],
      business: ['business', 'company', 'organization', 'organisation', 'corporation'],
    },
  },
  country: { type: 'country', synonyms: ['country', 'countrycode', 'land', 'pays'] },
  ...PAYEE_FIELDS,
};

const PENDING = ['pending', 'onhold', 'hold', 'review', 'new', 'waiting'];
const REJECTED = [
  'rejected',
  'denied',
  'declined',
  'void',
  'voided',
  'canceled',
  'cancelled',
  'reversed',
  'unqualified',
];

const COMMISSIONS: Readonly<Record<string, Field>> = {
  external_id: {
    type: 'id',
    synonyms: [
      'externalid',
      'commissionid',
      'conversionid',
      'actionid',
      'referralid',
      'transactionid',
      'rewardid',
      'id',
    ],
  },
  affiliate_email: {
    type: 'email',
    synonyms: ['affiliateemail', 'promoteremail', 'partneremail', 'affiliateemailaddress', 'referreremail'],
  },
  affiliate_external_id: {
    type: 'id',
    synonyms: [
      'affiliateexternalid',
      'mediapartnerid',
      'partnerid',
      'promoterid',
      'affiliatecode',
      'refid',
      'promoter',
    ],
  },
  affiliate_id: { type: 'id', synonyms: ['affiliateid'] },
  program_id: { type: 'id', synonyms: ['programid'] },
  type: {
    type: 'word',
    synonyms: ['type', 'commissiontype'],
    words: {
      sale: ['sale', 'order', 'purchase', 'lead', 'optin'],
      recurring: ['recurring', 'subscription', 'renewal', 'rebill'],
      bonus: ['bonus', 'manual', 'credit'],
    },
  },
  currency: { type: 'currency', synonyms: ['currency', 'currencycode', 'isocurrency', 'wahrung', 'devise'] },
  amount: {
    type: 'money',
    synonyms: [
      'commissionamount',
      'commission',
      'commissiontotal',
      'totalcommission',
      'affiliatecommission',
      'payout',
      'payoutamount',
      'earnings',
      'reward',
      'provision',
      'amount',
    ],
  },
  sale_amount: {
    type: 'money',
    synonyms: [
      'saleamount',
      'ordertotal',
      'ordervalue',
      'orderamount',
      'referenceamount',
      'revenue',
      'subtotal',
      'total',
      'umsatz',
      'amount',
    ],
  },
  rate_bps: { type: 'rate', synonyms: ['ratebps'] },
  order_id: {
    type: 'id',
    synonyms: [
      'orderid',
      'ordernumber',
      'order',
      'oid',
      'reference',
      'invoice',
      'invoiceid',
      'chargeid',
      'stripechargeid',
      'eventid',
      'bestellung',
    ],
  },
  order_line_id: { type: 'id', synonyms: ['orderlineid', 'lineitemid'] },
  customer_email: { type: 'email', synonyms: ['customeremail', 'buyeremail', 'referralemail', 'leademail'] },
  product_id: { type: 'id', synonyms: ['productid', 'sku'] },
  product_name: { type: 'text', synonyms: ['productname', 'product', 'item', 'itemname', 'produkt'] },
  description: { type: 'text', synonyms: ['description', 'note', 'notes', 'memo'] },
  occurred_at: {
    type: 'time',
    synonyms: [
      'occurredat',
      'eventdate',
      'conversiondate',
      'orderdate',
      'saledate',
      'datecreated',
      'createdat',
      'created',
      'creationdate',
      'date',
      'datum',
    ],
  },
  status: {
    type: 'word',
    isVague: true,
    synonyms: ['paymentstatus', 'payoutstatus', 'commissionstatus', 'status', 'state'],
    words: {
      unpaid: [
        'unpaid',
        'approved',
        'due',
        'confirmed',
        'accepted',
        'open',
        'locked',
        'notpaid',
        'payable',
        'offen',
      ],
      pending: PENDING,
      paid: ['paid', 'paidout', 'complete', 'completed', 'sent', 'bezahlt'],
      rejected: [...REJECTED, 'refunded', 'draft', 'failed', 'storniert'],
    },
  },
  approval: {
    type: 'word',
    synonyms: ['conversionstatus', 'approvalstatus', 'approval', 'status', 'state'],
    words: {
      approved: ['approved', 'accepted', 'confirmed', 'active', 'locked'],
      pending: PENDING,
      rejected: REJECTED,
    },
  },
  paid_at: {
    type: 'time',
    synonyms: ['paidat', 'datepaid', 'paiddate', 'paymentdate', 'payoutdate', 'paidon', 'cleareddate'],
  },
  payment_reference: {
    type: 'text',
    synonyms: [
      'paymentreference',
      'paymentid',
      'payoutid',
      'paypaltransactionid',
      'payoutreference',
      'batchid',
    ],
  },
};

/** The fields of each kind of file with their names in other products: the only table of synonyms. */
export const FIELDS: Readonly<Record<ImportKind, Readonly<Record<string, Field>>>> = {
  affiliates: AFFILIATES,
  commissions: COMMISSIONS,
};

/** A file of commissions has exactly one of these. */
export const REFERENCES = ['affiliate_email', 'affiliate_external_id', 'affiliate_id'] as const;

/** A name or value normalised for comparison: letters and digits in lower case, without accents. */
export function plain(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
