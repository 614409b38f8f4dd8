import type { Field } from './field.ts';
import { PAYEE_FIELDS } from './payee-fields.ts';

/** What a file may contain. */
export const IMPORT_KINDS = ['affiliates', 'commissions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

const words = (text: string): readonly string[] => text.split(/\s+/);

// in English, German, French, Spanish, Italian, Dutch, Polish and Portuguese, as `plain` writes them
const YES_AND_NO = {
  true: words('true yes y 1 on ready enabled ja oui si tak sim vrai wahr verdadero vero prawda'),
  false: words('false no n 0 off disabled nein non nee nie nao faux falsch falso'),
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
        'uberweisung',
        'bankuberweisung',
        'virement',
        'virementbancaire',
        'transferencia',
        'transferenciabancaria',
        'bonifico',
        'bonificobancario',
        'overschrijving',
        'przelew',
        'przelewbankowy',
      ],
    },
  },
  is_ready_for_payout: {
    type: 'word',
    synonyms: ['isreadyforpayout', 'readyforpayout', 'payable', 'payoutsenabled', 'readytopay', 'auszahlbar'],
    words: YES_AND_NO,
  },
  status: {
    type: 'word',
    synonyms: ['status', 'state', 'affiliatestatus', 'partnerstatus', 'promoterstatus', 'statut', 'situacao'],
    words: {
      active: words(
        `active approved accepted enabled confirmed live
         aktiv freigegeben freigeschaltet genehmigt bestatigt actif active approuve valide accepte
         activo activa aprobado aprobada habilitado attivo attiva approvato approvata abilitato
         actief goedgekeurd aktywny aktywna zatwierdzony zatwierdzona ativo ativa aprovado aprovada`,
      ),
      inactive: words(
        `inactive pending rejected denied declined disabled banned suspended archived blocked closed deactivated terminated
         inaktiv gesperrt blockiert deaktiviert abgelehnt gekundigt ausstehend wartend inprufung
         inactif inactive bloque refuse rejete suspendu desactive enattente
         inactivo inactiva bloqueado bloqueada suspendido suspendida rechazado rechazada pendiente desactivado
         inattivo inattiva bloccato bloccata sospeso sospesa rifiutato rifiutata inattesa disattivato
         inactief geblokkeerd geweigerd afgewezen opgeschort inafwachting
         nieaktywny nieaktywna zablokowany zablokowana odrzucony odrzucona zawieszony zawieszona oczekujacy
         inativo inativa suspenso suspensa rejeitado rejeitada pendente`,
      ),
    },
  },
  legal_type: {
    type: 'word',
    synonyms: ['legaltype', 'taxclassification', 'entitytype'],
    words: {
      person: words(
        'person individual private privat privatperson naturlicheperson particulier personne persona privato particular osoba osobafizyczna pessoa pessoafisica',
      ),
      business: words(
        'business company organization organisation corporation unternehmen firma entreprise societe empresa azienda societa bedrijf spolka',
      ),
    },
  },
  country: { type: 'country', synonyms: ['country', 'countrycode', 'land', 'pays', 'pais', 'paese', 'kraj'] },
  ...PAYEE_FIELDS,
};

const PENDING = words(
  `pending onhold hold review inreview new waiting tracked
   ausstehend wartend inprufung enattente pendiente inattesa inafwachting oczekujacy oczekujaca oczekuje pendente`,
);
const REJECTED = words(
  `rejected denied declined void voided canceled cancelled reversed unqualified
   abgelehnt storniert widerrufen refuse rejete annule rechazado rechazada cancelado cancelada anulado anulada
   rifiutato rifiutata annullato annullata afgewezen geweigerd geannuleerd odrzucony odrzucona anulowany anulowana
   rejeitado rejeitada`,
);
const APPROVED = words(
  `approved accepted confirmed locked genehmigt bestatigt freigegeben approuve valide confirme aprobado aprobada confirmado
   confirmada approvato approvata confermato confermata goedgekeurd bevestigd zatwierdzony zatwierdzona potwierdzony
   aprovado aprovada`,
);

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
      'transid',
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
      'publisherid',
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
      sale: words('sale order purchase lead optin verkauf vente venta vendita verkoop sprzedaz venda'),
      recurring: words('recurring subscription renewal rebill abo abonnement suscripcion abbonamento'),
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
      'totalcost',
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
      'actiondate',
      'eventdate',
      'conversiondate',
      'transactiondate',
      'transdate',
      'orderdate',
      'saledate',
      'purchasedate',
      'referraldate',
      'dateoforder',
      'dateofsale',
      'ordertime',
      'transactiontime',
      'bestelldatum',
      'kaufdatum',
      'datecreated',
      'dateinserted',
      'createdat',
      'createdon',
      'created',
      'createddate',
      'creationdate',
      'date',
      'datetime',
      'timestamp',
      'datum',
      'fecha',
      'data',
    ],
  },
  status: {
    type: 'word',
    isVague: true,
    synonyms: ['paymentstatus', 'payoutstatus', 'commissionstatus', 'status', 'state'],
    words: {
      unpaid: [
        ...APPROVED,
        ...words(
          `unpaid due open notpaid payable offen unbezahlt impaye nonpaye impagado nopagado nonpagato openstaand onbetaald
           niezaplacony niezaplacona nieoplacony naopago`,
        ),
      ],
      pending: PENDING,
      paid: words(
        `paid paidout complete completed sent bezahlt ausgezahlt paye payee verse pagado pagada abonado pagato pagata betaald
         uitbetaald zaplacony zaplacona oplacony wyplacony wyplacona pago`,
      ),
      rejected: [...REJECTED, 'refunded', 'draft', 'failed', 'storniert'],
    },
  },
  approval: {
    type: 'word',
    synonyms: [
      'conversionstatus',
      'actionstatus',
      'approvalstatus',
      'rstatus',
      'approval',
      'status',
      'state',
    ],
    words: {
      approved: [...APPROVED, 'active'],
      pending: PENDING,
      rejected: REJECTED,
    },
  },
  paid_at: {
    type: 'time',
    synonyms: [
      'paidat',
      'datepaid',
      'paiddate',
      'paymentdate',
      'payoutdate',
      'paidon',
      'cleareddate',
      'auszahlungsdatum',
      'bezahltam',
    ],
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

/** The fields that say whom or what a line is about. */
export const IDENTIFYING: Readonly<Record<ImportKind, readonly string[]>> = {
  affiliates: ['email', 'external_id'],
  commissions: ['external_id', 'order_id', 'affiliate_email', 'affiliate_external_id', 'affiliate_id'],
};

/** A file of commissions has exactly one of these. */
export const REFERENCES = ['affiliate_email', 'affiliate_external_id', 'affiliate_id'] as const;

/** A name or value normalised for comparison: letters and digits in lower case, without accents. */
export function plain(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
