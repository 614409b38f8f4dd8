import { Type } from 'typebox';
import {
  type Fields,
  type ImportRule,
  instantText,
  type TextErasure,
  type WritableField,
  words,
} from '../../contract/fields.ts';
import {
  amount,
  amountInput,
  currencyCode,
  currencyInput,
  email,
  identifier,
  metadata,
  nullable,
  numberId,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { EMAIL_RULE, isEmail } from '../../kernel/email.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
import { reservedIdRule } from '../ledger/own-ids.ts';

interface CommissionField extends WritableField {
  /** The type of its column; null for the fields that name the affiliate. */
  readonly sql: 'text' | 'bigint' | 'int' | 'timestamptz(3)' | 'jsonb' | null;
  readonly import: ImportRule | null;
  /** A clawback has the value of the commission that it takes back. */
  readonly isOfClawback: boolean;
  readonly erasure: TextErasure;
}

export const COMMISSION_TYPES = ['sale', 'recurring', 'bonus', 'adjustment', 'clawback'] as const;
export const COMMISSION_STATUSES = ['pending', 'unpaid', 'paid', 'voided'] as const;

const identifierRule = (value: string) => (isIdentifier(value) ? null : IDENTIFIER_RULE);
const currencyOf = (code: string, field: string) => knownCurrency(field, code);

/** The fields of a commission, over `commissions c` and `payouts p`: the only list of them. */
export const COMMISSION_FIELDS = {
  id: {
    schema: Type.String({ examples: ['com_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    column: "public_id('com', c.id)",
  },
  object: { schema: Type.Literal('affiliate_commission'), column: "'affiliate_commission'" },
  external_id: {
    schema: Type.String({
      description: '`payhook:…` names what Payhook created itself, such as a clawback',
    }),
    input: { ...identifier, description: 'must not begin with `payhook:`' },
    type: 'id',
    isRequired: true,
    rule: (value: string) => identifierRule(value) ?? reservedIdRule(value),
    label: 'Your id',
    help: 'your id, unique forever',
    example: 'order-1042-ada',
    option: '--external-id <id>',
    sql: 'text',
    import: {
      synonyms: words(
        'externalid commissionid conversionid actionid referralid transactionid transid rewardid id',
      ),
    },
    isOfClawback: false,
    erasure: 'id',
  },
  affiliate_id: {
    schema: Type.Integer(),
    input: {
      ...numberId,
      description: 'exactly one of `affiliate_id`, `affiliate_external_id`, `affiliate_email`',
    },
    type: 'id',
    label: 'Affiliate',
    help: 'who earned it',
    example: 17,
    option: '--affiliate <affiliate>',
    sql: null,
    import: { synonyms: ['affiliateid'] },
    isOfClawback: true,
    erasure: 'kept',
  },
  affiliate_external_id: {
    input: text(255),
    type: 'id',
    label: 'Affiliate, by your id',
    help: 'who earned it, by your own id',
    example: 'partner-7',
    option: '--affiliate <affiliate>',
    sql: null,
    import: {
      synonyms: words(
        'affiliateexternalid mediapartnerid partnerid publisherid promoterid affiliatecode refid promoter',
      ),
    },
    isOfClawback: true,
    erasure: 'kept',
  },
  affiliate_email: {
    input: text(320),
    type: 'email',
    label: 'Affiliate, by e-mail',
    help: 'who earned it, by e-mail address, in any case',
    example: 'ada@example.com',
    option: '--affiliate <affiliate>',
    sql: null,
    import: {
      synonyms: words(
        `affiliateemail promoteremail partneremail affiliateemailaddress referreremail emailpartner emailpartenaire
         emaildupartenaire emailaffilie emaildelaffilie emailafiliado emaildelafiliado emaildoafiliado emailaffiliato
         emaildellaffiliato emailpartnera`,
      ),
    },
    isOfClawback: true,
    erasure: 'kept',
  },
  program_id: {
    schema: nullable(Type.Integer()),
    input: nullable(numberId),
    type: 'id',
    label: 'Program',
    help: 'the program whose hold applies',
    example: 3,
    option: '--program <program>',
    sql: 'bigint',
    import: { synonyms: ['programid'] },
    isOfClawback: true,
    erasure: 'kept',
  },
  type: {
    schema: Type.Enum([...COMMISSION_TYPES], {
      title: 'CommissionType',
      description: 'a clawback is negative: it takes back what was paid before a refund',
    }),
    input: Type.Enum(['sale', 'recurring', 'bonus'], {
      title: 'NewCommissionType',
      description: 'default sale',
    }),
    type: 'word',
    default: 'sale',
    label: 'Type',
    example: 'recurring',
    option: '--type <type>',
    sql: 'text',
    import: {
      synonyms: words('type commissiontype'),
      words: {
        sale: words('sale order purchase lead optin verkauf vente venta vendita verkoop sprzedaz venda'),
        recurring: words('recurring subscription renewal rebill abo abonnement suscripcion abbonamento'),
        bonus: words('bonus manual credit'),
      },
    },
    isOfClawback: false,
    erasure: 'kept',
  },
  status: {
    schema: Type.Enum([...COMMISSION_STATUSES], {
      title: 'CommissionStatus',
      description: 'pending = on hold: available_at is in the future',
    }),
    column: `case when c.voided_at is not null then 'voided' when p.status = 'paid' then 'paid'
    when c.payout_id is null and c.available_at > statement_timestamp() then 'pending' else 'unpaid' end`,
  },
  is_paid: {
    schema: Type.Boolean({ description: 'the status is paid' }),
    column: "coalesce(p.status = 'paid', false)",
  },
  amount: {
    schema: {
      ...amount,
      description: 'minor units: what is owed or was paid, after refunds before payment',
    },
    input: Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description: 'in minor units' }),
    type: 'money',
    label: 'Commission',
    help: 'what the affiliate gets',
    example: 10_000,
    option: '--amount <amount>',
    sql: 'bigint',
    import: {
      synonyms: words(
        `commissionamount commission commissiontotal totalcommission affiliatecommission payout payoutamount earnings
         reward provision provisionsbetrag montantdelacommission comision importedelacomision commissione provvigione
         commissie commissiebedrag prowizja kwotaprowizji comissao valordacomissao amount`,
      ),
    },
    isOfClawback: false,
    erasure: 'kept',
  },
  original_amount: { schema: { ...amount, description: 'minor units: the original amount' } },
  refunded_amount: {
    schema: { ...amount, description: 'minor units: what was taken back, before and after payment' },
  },
  currency: {
    schema: currencyCode,
    input: { ...currencyInput, description: 'default the account currency' },
    type: 'currency',
    normalise: currencyOf,
    label: 'Currency',
    example: 'eur',
    option: '--currency <currency>',
    sql: 'text',
    import: {
      synonyms: words('currency currencycode isocurrency wahrung devise moneda divisa valuta waluta moeda'),
    },
    isOfClawback: true,
    erasure: 'kept',
  },
  sale_amount: {
    schema: nullable({ ...amount, description: 'minor units' }),
    input: nullable(Type.Integer({ minimum: 0, maximum: MAX_AMOUNT, description: 'minor units' })),
    type: 'money',
    label: 'Sale',
    help: 'the amount of the sale',
    example: 50_000,
    option: '--sale-amount <amount>',
    sql: 'bigint',
    import: {
      synonyms: words(
        `saleamount ordertotal ordervalue orderamount referenceamount totalcost revenue subtotal total sale sales umsatz
         bestellwert montantdelavente montantdelacommande importedelaventa importodellavendita omzet verkoopbedrag
         wartosczamowienia valordavenda amount`,
      ),
    },
    isOfClawback: false,
    erasure: 'kept',
  },
  rate_bps: {
    schema: nullable(Type.Integer()),
    input: nullable(Type.Integer({ minimum: 0, maximum: 10_000 })),
    type: 'rate',
    label: 'Rate',
    help: 'basis points of the sale: 2000 is 20 %',
    example: 2000,
    option: '--rate-bps <number>',
    sql: 'int',
    import: { synonyms: ['ratebps'] },
    isOfClawback: false,
    erasure: 'kept',
  },
  order_id: {
    schema: nullable(Type.String()),
    input: nullable(identifier),
    type: 'id',
    rule: identifierRule,
    label: 'Order',
    help: 'the order in the shop, by which refunds find it',
    example: 'order-1042',
    option: '--order <order>',
    sql: 'text',
    import: {
      synonyms: words(
        `orderid ordernumber order oid reference invoice invoiceid chargeid stripechargeid eventid bestellung bestellnummer
         auftragsnummer commande numerodecommande pedido numerodepedido ordine numeroordine bestelling bestelnummer
         zamowienie numerzamowienia encomenda`,
      ),
    },
    isOfClawback: true,
    erasure: 'id',
  },
  order_line_id: {
    schema: nullable(Type.String()),
    input: nullable(identifier),
    type: 'id',
    rule: identifierRule,
    label: 'Order line',
    help: 'the line of the order: commissions with the same line are shares of one sale',
    example: 'order-1042-1',
    option: '--order-line <line>',
    sql: 'text',
    import: { synonyms: words('orderlineid lineitemid') },
    isOfClawback: true,
    erasure: 'id',
  },
  customer_email: {
    schema: nullable(Type.String()),
    input: nullable(email),
    type: 'email',
    rule: (value: string) => (isEmail(value) ? null : `must be ${EMAIL_RULE}`),
    label: 'Customer',
    help: 'the e-mail address of the buyer',
    example: 'charles@example.com',
    option: '--customer-email <email>',
    sql: 'text',
    import: { synonyms: words('customeremail buyeremail referralemail leademail') },
    isOfClawback: true,
    erasure: 'text',
  },
  product_id: {
    schema: nullable(Type.String()),
    input: nullable(identifier),
    type: 'id',
    rule: identifierRule,
    label: 'Product id',
    example: 'engine-yearly',
    option: '--product <product>',
    sql: 'text',
    import: { synonyms: words('productid sku') },
    isOfClawback: true,
    erasure: 'id',
  },
  product_name: {
    schema: nullable(Type.String()),
    input: nullable(text(500)),
    type: 'text',
    label: 'Product',
    help: 'the name of the product',
    example: 'Analytical Engine, one year',
    option: '--product-name <name>',
    sql: 'text',
    import: { synonyms: words('productname product item itemname produkt') },
    isOfClawback: true,
    erasure: 'text',
  },
  description: {
    schema: nullable(Type.String()),
    input: nullable(text(1000)),
    type: 'text',
    label: 'Description',
    example: 'first order of the customer',
    option: '--description <text>',
    sql: 'text',
    import: { synonyms: words('description note notes memo') },
    isOfClawback: false,
    erasure: 'text',
  },
  occurred_at: {
    schema: timestamp,
    column: 'iso(c.occurred_at)',
    input: Type.String({ description: 'RFC 3339; default now' }),
    type: 'time',
    normalise: instantText,
    label: 'Earned',
    example: '2026-08-03T14:04:58.000Z',
    option: '--occurred-at <when>',
    sql: 'timestamptz(3)',
    import: {
      synonyms: words(
        `occurredat actiondate eventdate conversiondate transactiondate transdate orderdate saledate purchasedate
         referraldate dateoforder dateofsale ordertime transactiontime bestelldatum kaufdatum datecreated dateinserted
         createdat createdon created createddate creationdate date datetime timestamp datedecommande datedelacommande
         datedevente fechadelpedido fechadeventa datadellordine datadivendita besteldatum datazamowienia datasprzedazy
         datadavenda datadopedido datum fecha data`,
      ),
    },
    isOfClawback: false,
    erasure: 'kept',
  },
  available_at: {
    schema: nullable({ ...timestamp, description: 'null while it is held for review' }),
    column: 'case when isfinite(c.available_at) then iso(c.available_at) end',
  },
  payout_id: {
    schema: nullable(Type.String({ description: 'the payout it is in or was paid in' })),
    column: "public_id('po', c.payout_id)",
  },
  paid_at: { schema: nullable(timestamp), column: 'iso(p.paid_at)' },
  voided_at: { schema: nullable(timestamp), column: 'iso(c.voided_at)' },
  void_reason: { schema: nullable(Type.String()) },
  reverses_commission_id: {
    schema: nullable(Type.String({ description: 'of a clawback: the commission it takes back' })),
    column: "public_id('com', c.reverses_commission_id)",
  },
  metadata: {
    schema: nullable(metadata),
    input: nullable(metadata),
    type: 'metadata',
    label: 'Metadata',
    example: { campaign: 'newsletter-august' },
    option: '--metadata <key=value>',
    sql: 'jsonb',
    import: null,
    isOfClawback: false,
    erasure: 'json',
  },
  created_at: { schema: timestamp, column: 'iso(id_time(c.id))' },
  updated_at: { schema: timestamp, column: 'iso(greatest(c.updated_at, id_time(c.id)))' },
} as const satisfies Fields<CommissionField>;

/** The fields of an adjustment: a commission of any sign, of the affiliate in the path. */
export const ADJUSTMENT_FIELDS = {
  external_id: COMMISSION_FIELDS.external_id,
  amount: {
    ...COMMISSION_FIELDS.amount,
    input: { ...amountInput, description: 'in minor units' },
    isRequired: true,
    help: 'what the affiliate gets, or below zero owes',
    example: -500,
  },
  currency: COMMISSION_FIELDS.currency,
  program_id: COMMISSION_FIELDS.program_id,
  description: COMMISSION_FIELDS.description,
  occurred_at: COMMISSION_FIELDS.occurred_at,
  metadata: COMMISSION_FIELDS.metadata,
} as const satisfies Fields<CommissionField>;
