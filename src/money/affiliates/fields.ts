import { Type } from 'typebox';
import { type Fields, type ImportRule, type WritableField, words } from '../../contract/fields.ts';
import { email, metadata, minimums, nullable, text, timestamp } from '../../contract/schemas.ts';
import { EMAIL_RULE, isEmail } from '../../kernel/email.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';
import { noticeLanguage } from '../../notices/affiliate-schemas.ts';
import { commissionsAre } from '../../people/accounts/record.ts';
import { knownAmounts } from '../../people/accounts/service.ts';
import { PAYOUT_METHODS } from '../../terms/payments.ts';

/** What an erasure does with a field of the person. */
interface Erasure {
  /** The value afterwards. */
  readonly to: unknown;
  /**
   * How the value is searched for in other texts of the account: an `address` or `id` identifies the person alone, a
   * `name` together with another one.
   */
  readonly as?: 'address' | 'name' | 'id';
}

interface AffiliateField extends WritableField {
  /** Whether an unpaid payout shows its current value, so that a change raises the revision of the payout. */
  readonly affectsPayouts: boolean;
  readonly import: ImportRule | null;
  readonly erasure: Erasure | 'kept';
  /** The search of affiliates and of payouts looks into it. */
  readonly isSearched?: true;
}

export const LEGAL_TYPES = ['person', 'business'] as const;
const payoutMethod = nullable(Type.Enum(PAYOUT_METHODS, { title: 'PayoutMethod' }));
const legalType = nullable(Type.Enum([...LEGAL_TYPES], { title: 'LegalType' }));
const ownCommissionsAre = nullable(commissionsAre);
const language = nullable(noticeLanguage);
const affiliateStatus = Type.Enum(['active', 'inactive'], { title: 'AffiliateStatus' });

const emailRule = (value: string) => (isEmail(value) ? null : `must be ${EMAIL_RULE}`);
/** Texts that are searched or compared are stored in NFC, so that values that look the same are the same. */
const composed = (value: string) => value.normalize('NFC');

/** The e-mail address of an erased affiliate. No mail arrives at it (RFC 2606, section 2). */
export const placeholderOf = (id: number | bigint): string => `affiliate-${id}@erased.invalid`;

/** The fields of an affiliate, over `affiliates a`: the only list of them. */
export const AFFILIATE_FIELDS = {
  id: { schema: Type.Integer({ minimum: 1, description: 'affiliate_id in other records' }) },
  object: { schema: Type.Literal('affiliate'), column: "'affiliate'" },
  name_first: {
    schema: nullable(Type.String()),
    input: nullable(text(200)),
    type: 'text',
    normalise: composed,
    label: 'First name',
    example: 'Ada',
    option: '--name-first <name>',
    affectsPayouts: true,
    isSearched: true,
    import: { synonyms: words('namefirst firstname givenname vorname prenom nombre nome voornaam imie') },
    erasure: { to: null, as: 'name' },
  },
  name_last: {
    schema: nullable(Type.String()),
    input: nullable(text(200)),
    type: 'text',
    normalise: composed,
    label: 'Last name',
    example: 'Lovelace',
    option: '--name-last <name>',
    affectsPayouts: true,
    isSearched: true,
    import: {
      synonyms: words(
        'namelast lastname surname familyname nachname nom apellido apellidos cognome achternaam nazwisko apelido',
      ),
    },
    erasure: { to: null, as: 'name' },
  },
  email: {
    schema: Type.String(),
    input: email,
    type: 'email',
    isRequired: true,
    rule: emailRule,
    normalise: composed,
    label: 'E-mail',
    help: 'unique in the account',
    example: 'ada@example.com',
    option: '--email <email>',
    affectsPayouts: true,
    isSearched: true,
    import: {
      synonyms: words(
        `email emailaddress affiliateemail useremail promoteremail partneremail mail emailid emailadresse adresseemail
         courriel correo correoelectronico indirizzoemail emailadres adresemail enderecodeemail`,
      ),
    },
    erasure: { to: placeholderOf, as: 'address' },
  },
  external_id: {
    schema: nullable(Type.String()),
    input: nullable(text(255)),
    type: 'id',
    rule: (value: string) => (isIdentifier(value) ? null : IDENTIFIER_RULE),
    label: 'Your id',
    help: 'your own id of the affiliate, unique in the account',
    example: 'partner-7',
    option: '--external-id <id>',
    affectsPayouts: false,
    isFilter: true,
    import: {
      synonyms: words('externalid affiliateid promoterid partnerid affiliatecode custid id userid'),
    },
    erasure: { to: null, as: 'id' },
  },
  slug: {
    schema: nullable(Type.String()),
    input: nullable(text(200)),
    type: 'text',
    normalise: composed,
    label: 'Short name',
    help: 'the affiliate in your links; searches include it',
    example: 'ada',
    option: '--slug <slug>',
    affectsPayouts: false,
    isSearched: true,
    import: {
      synonyms: words(
        'slug refid referralcode referralid token linktoken trackingparameter username defaultrefid',
      ),
    },
    erasure: { to: null, as: 'name' },
  },
  status: {
    schema: affiliateStatus,
    input: affiliateStatus,
    type: 'word',
    default: 'active',
    label: 'Status',
    help: 'payouts leave out an inactive affiliate',
    example: 'inactive',
    option: '--status <status>',
    affectsPayouts: false,
    isFilter: true,
    import: {
      synonyms: words('status state affiliatestatus partnerstatus promoterstatus statut situacao'),
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
    erasure: { to: 'inactive' },
  },
  payout_method: {
    schema: payoutMethod,
    input: payoutMethod,
    type: 'word',
    label: 'Payment method',
    help: 'how payouts pay, unless a destination says otherwise',
    example: 'paypal',
    option: '--payout-method <method>',
    affectsPayouts: true,
    import: {
      synonyms: words('payoutmethod paymentmethod payoutpreference paymenttype'),
      words: {
        paypal: words('paypal paypalpayouts paypalmasspay'),
        wise: words('wise transferwise'),
        other: words(
          `other manual bank banktransfer ach wire check cheque storecredit stripe sepa
           uberweisung bankuberweisung virement virementbancaire transferencia transferenciabancaria
           bonifico bonificobancario overschrijving przelew przelewbankowy`,
        ),
      },
    },
    erasure: { to: null },
  },
  paypal_email: {
    schema: nullable(Type.String()),
    input: nullable(email),
    type: 'email',
    rule: emailRule,
    normalise: composed,
    label: 'PayPal address',
    help: 'the address that PayPal pays',
    example: 'ada.lovelace@example.com',
    option: '--paypal-email <email>',
    affectsPayouts: true,
    isSearched: true,
    import: { synonyms: words('paypalemail paypalemailaddress paypal paymentemail payoutemail') },
    erasure: { to: null, as: 'address' },
  },
  is_ready_for_payout: {
    schema: Type.Boolean(),
    input: Type.Boolean(),
    type: 'flag',
    default: true,
    label: 'Ready for payout',
    help: 'your switch: payouts leave out an affiliate that is not ready',
    example: false,
    option: '--ready',
    affectsPayouts: true,
    isFilter: true,
    import: {
      synonyms: words('isreadyforpayout readyforpayout payable payoutsenabled readytopay auszahlbar'),
      // in English, German, French, Spanish, Italian, Dutch, Polish and Portuguese, as `plain` writes them
      words: {
        true: words('true yes y 1 on ready enabled ja oui si tak sim vrai wahr verdadero vero prawda'),
        false: words('false no n 0 off disabled nein non nee nie nao faux falsch falso'),
      },
    },
    erasure: { to: false },
  },
  minimum_payout: {
    schema: nullable(minimums),
    input: nullable(minimums),
    type: 'amounts',
    normalise: (amounts: Record<string, number>, field) => knownAmounts(field, amounts),
    label: 'Minimum payout',
    help: 'used instead of the minimum of the account',
    example: { usd: 5000 },
    option: '--minimums <list>',
    affectsPayouts: false,
    import: null,
    erasure: 'kept',
  },
  commissions_are: {
    schema: ownCommissionsAre,
    input: ownCommissionsAre,
    type: 'word',
    label: 'Commissions are',
    help: 'used instead of the setting of the account: gross with the tax, or net with the tax paid on top',
    example: 'net',
    option: '--commissions-are <what>',
    affectsPayouts: false,
    import: {
      synonyms: words('commissionsare commissionsnetorgross netorgross nettobrutto'),
      words: {
        net: words('net netto nett exclusive excludingvat excludingtax plusvat zzglmwst ht'),
        gross: words('gross brutto inclusive includingvat includingtax inklmwst ttc'),
      },
    },
    erasure: 'kept',
  },
  legal_type: {
    schema: legalType,
    input: legalType,
    type: 'word',
    label: 'Legal type',
    help: 'what the affiliate is by law, if known',
    example: 'business',
    option: '--legal-type <type>',
    affectsPayouts: true,
    import: {
      synonyms: words('legaltype taxclassification entitytype'),
      words: {
        person: words(
          `person individual private privat privatperson naturlicheperson particulier personne persona privato particular
           osoba osobafizyczna pessoa pessoafisica`,
        ),
        business: words(
          `business company organization organisation corporation unternehmen firma entreprise societe empresa azienda
           societa bedrijf spolka`,
        ),
      },
    },
    erasure: { to: null },
  },
  country: {
    schema: nullable(Type.String({ examples: ['DE'] })),
    input: nullable(Type.String({ pattern: '^[A-Za-z]{2}$' })),
    type: 'country',
    normalise: (code: string) => code.toUpperCase(),
    label: 'Country',
    help: 'where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)',
    example: 'DE',
    option: '--country <code>',
    affectsPayouts: false,
    import: { synonyms: words('country countrycode land pays pais paese kraj') },
    erasure: { to: null },
  },
  language: {
    schema: language,
    input: language,
    type: 'word',
    label: 'Language',
    help: 'of e-mails to the affiliate; without it, that of the account',
    example: 'de',
    option: '--language <code>',
    affectsPayouts: false,
    import: {
      synonyms: words('language locale lang sprache langue idioma lingua taal jezyk'),
      words: {
        en: words('en english englisch anglais ingles enus engb'),
        de: words('de german deutsch allemand aleman dede deat dech'),
        fr: words('fr french franzosisch francais frances frfr frbe frch frca'),
        es: words('es spanish spanisch espagnol espanol eses esmx'),
      },
    },
    erasure: { to: null },
  },
  is_notified: {
    schema: Type.Boolean(),
    input: Type.Boolean(),
    type: 'flag',
    default: true,
    label: 'E-mails about payments',
    help: 'whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each',
    example: false,
    option: '--notified',
    affectsPayouts: false,
    import: null,
    erasure: { to: false },
  },
  metadata: {
    schema: metadata,
    input: metadata,
    type: 'metadata',
    default: {},
    label: 'Metadata',
    example: { crm: 'lead-311' },
    option: '--metadata <key=value>',
    affectsPayouts: false,
    import: null,
    erasure: { to: {} },
  },
  created_at: { schema: timestamp, column: 'iso(a.created_at)' },
  updated_at: { schema: timestamp, column: 'iso(a.updated_at)' },
} as const satisfies Fields<AffiliateField>;
