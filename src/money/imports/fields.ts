import { type ImportField, importFields, words } from '../../contract/fields.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { AFFILIATE_FIELDS } from '../affiliates/fields.ts';
import { COMMISSION_FIELDS } from '../commissions/fields.ts';
import { DESTINATION_FIELDS } from '../destinations/fields.ts';
import { TAX_PROFILE_FIELDS } from '../tax-profiles/fields.ts';

/** What a file may contain. */
export const IMPORT_KINDS = ['affiliates', 'commissions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

const AFFILIATES: Readonly<Record<string, ImportField>> = {
  ...importFields(AFFILIATE_FIELDS),
  name: { type: 'name', synonyms: words('name fullname affiliatename displayname promotername partnername') },
  ...importFields(DESTINATION_FIELDS),
  ...importFields(TAX_PROFILE_FIELDS),
};

const PENDING = words(
  `pending onhold hold review inreview new waiting tracked
   ausstehend wartend inprufung enattente pendiente inattesa inafwachting oczekujacy oczekujaca oczekuje pendente`,
);
const REJECTED = words(
  `rejected denied declined disapproved void voided canceled cancelled reversed unqualified
   abgelehnt storniert widerrufen refuse rejete annule rechazado rechazada cancelado cancelada anulado anulada
   rifiutato rifiutata annullato annullata afgewezen geweigerd geannuleerd odrzucony odrzucona anulowany anulowana
   rejeitado rejeitada`,
);
const APPROVED = words(
  `approved accepted confirmed locked genehmigt bestatigt freigegeben approuve valide confirme aprobado aprobada confirmado
   confirmada approvato approvata confermato confermata goedgekeurd bevestigd zatwierdzony zatwierdzona potwierdzony
   aprovado aprovada`,
);

const COMMISSIONS: Readonly<Record<string, ImportField>> = {
  ...importFields(COMMISSION_FIELDS),
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
export const FIELDS: Readonly<Record<ImportKind, Readonly<Record<string, ImportField>>>> = {
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

/** The name of a column without the currency that it ends with, `Commission (EUR)`, and the currency; null = none. */
export function namedCurrency(column: string): { readonly name: string; readonly currency: string | null } {
  const [, name = column, code = ''] = /^(.*\S)\s*[([]([A-Z]{3}|[€£])[)\]]$/.exec(column.trim()) ?? [];
  const currency = SIGNS[code] ?? normalizeCurrency(code);
  return { name: currency === null ? column : name, currency };
}

/** The signs that one currency has. */
const SIGNS: Readonly<Record<string, string>> = { '€': 'eur', '£': 'gbp' };

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
