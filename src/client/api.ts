// Made by `npm run generate` from the description of the API: change the routes, not this file.
import type { Download } from './download.ts';
import type { Upload } from './upload.ts';

/** A page of a list with its exact total. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: Pagination;
}

/** Which page of a list. */
export interface PageQuery {
  /** Default 1. */
  readonly page?: number | undefined;
  /** Records a page: default 50, at most 100. */
  readonly per_page?: number | undefined;
  /** Instead of a page: what the one before calls next. */
  readonly after?: string | undefined;
}

export interface Account {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'account';
  /** The name. */
  readonly name: string;
  /** The currency of amounts that name none. */
  readonly default_currency: Currency;
  /** days a new commission is on hold */
  readonly hold_days: number;
  /** minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout: Readonly<Record<string, number>>;
  /** IANA name: the time zone of days without a time, in filters, files and reports */
  readonly time_zone: string;
  /** minor units per currency code: the largest single payment PayPal sends */
  readonly paypal_payment_limit: Readonly<Record<string, number>>;
  /** origins of your own pages that may show a portal in a frame; https, or http on localhost */
  readonly portal_origins: readonly string[];
  /**
   * required: publishing an event without an `owner` is refused, so that none reaches the endpoints of every
   * recipient by mistake
   */
  readonly event_owner: EventOwnerRule;
  /**
   * what happens to an event whose data violates the schema of its type. warn: it is accepted, the answer has
   * the header Payhook-Schema-Violation, and the type its `last_violation`; refuse: publishing is refused. Types
   * without a schema are accepted
   */
  readonly event_validation: EventValidationRule;
  /** the most webhook endpoints of an owner; null = ten in a portal, no limit otherwise */
  readonly endpoints_per_owner: number | null;
  /**
   * second_person: a payout is paid only after a person who did not create it has approved it. Only a signed-in
   * owner, or the operator, may change it back to none
   */
  readonly approval: ApprovalRule;
  /**
   * hours for which whoever changed where they are paid is not paid; 0 = none. Only a signed-in owner, or the
   * operator, may lower it
   */
  readonly destination_wait_hours: number;
  /**
   * who is left out of payouts without a valid W-9 or W-8. at_threshold: whose payments of the year in US
   * dollars, with this one, reach the threshold of Form 1099-NEC, PayPal aside; always: everybody
   */
  readonly payout_form: PayoutFormRule;
  /**
   * whether payouts withhold 24 % of payments in US dollars, PayPal aside, to affiliates in the United States
   * without a W-9 or a US tax id. at_threshold: once their payments of the year, with this one, reach the
   * threshold of Form 1099-NEC, or if those of the year before did or something was withheld; always: from the
   * first payment on. Fixed in each line when a payout is created
   */
  readonly backup_withholding: BackupWithholdingRule;
  /**
   * gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a
   * payout is created
   */
  readonly commissions_are: CommissionsAre;
  /** What is looked for in payouts because it may point to fraud. */
  readonly payout_signals: PayoutSignals;
  /**
   * cents by the two letters of a state, for example {"CA": 60000, "OH": null}: the sum of a year from which you
   * report to it, in place of the built-in table; null: you report nothing
   */
  readonly state_thresholds: Readonly<Record<string, number | null>>;
  /** The bank account that payouts are paid from (SEPA); null if unknown. */
  readonly debtor: Debtor | null;
  /** The bank account that payouts are paid from (ACH); null if unknown. */
  readonly originator: Originator | null;
  /** The tax details of the account; null if unknown. */
  readonly tax_profile: AccountTaxProfile | null;
  /** How self-billing invoices are written; null if the account writes none. */
  readonly invoicing: Invoicing | null;
  /** The e-mails that affiliates get; null if the account sends none. */
  readonly affiliate_notices: AffiliateNotices | null;
  /** The e-mails that contacts of endpoints get; null if the account sends none. */
  readonly contact_notices: ContactNotices | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

/** who you are on invoices and reports */
export interface AccountTaxProfile {
  /** The name in the register or the passport. */
  readonly legal_name: string;
  /** ISO 3166-1 alpha-2 */
  readonly country: string;
  /** The postal address. */
  readonly address: PostalAddress;
  /** with its country in front */
  readonly vat_id: string | null;
  /**
   * a national number, such as an EIN; only its end, such as …2051, for callers who may not download payment
   * files
   */
  readonly tax_number: string | null;
  /** SIREN or SIRET of a French business */
  readonly siren: string | null;
  /** in the Peppol network */
  readonly electronic_address: string | null;
}

export interface AcknowledgeWebhookEventsBody {
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** The id of the record. */
    readonly id: string;
    /** of this claim */
    readonly lease_id: string;
    /** failed: it comes again by the schedule; cancelled: it does not */
    readonly status: AcknowledgementStatus;
    /** why it was not delivered, shown in the log */
    readonly error?: string | undefined;
  }[];
}

export type AcknowledgementResult = 'acknowledged' | 'lease_lost';

export type AcknowledgementStatus = 'delivered' | 'failed' | 'cancelled';

export interface Actor {
  /** The kind. */
  readonly kind: ActorKind;
  /** The id of the record. */
  readonly id: string;
  /** of a portal link: the owner of its endpoints */
  readonly name: string | null;
}

export type ActorKind = 'key' | 'user' | 'application' | 'operator' | 'portal';

export interface Actors {
  /** The type of the record. */
  readonly object: 'actors';
  /** by id */
  readonly actors: readonly Actor[];
}

export interface Affiliate {
  /** affiliate_id in other records */
  readonly id: number;
  /** The type of the record. */
  readonly object: 'affiliate';
  /** First name */
  readonly name_first: string | null;
  /** Last name */
  readonly name_last: string | null;
  /** unique in the account */
  readonly email: string;
  /** your own id of the affiliate, unique in the account */
  readonly external_id: string | null;
  /** the affiliate in your links; searches include it */
  readonly slug: string | null;
  /** payouts leave out an inactive affiliate */
  readonly status: AffiliateStatus;
  /** how payouts pay, unless a destination says otherwise */
  readonly payout_method: PayoutMethod | null;
  /** the address that PayPal pays */
  readonly paypal_email: string | null;
  /** your switch: payouts leave out an affiliate that is not ready */
  readonly is_ready_for_payout: boolean;
  /** used instead of the minimum of the account; minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout: Readonly<Record<string, number>> | null;
  /**
   * used instead of the setting of the account: gross with the tax, or net with the tax paid on top; gross: they
   * include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created
   */
  readonly commissions_are: CommissionsAre | null;
  /** what the affiliate is by law, if known */
  readonly legal_type: LegalType | null;
  /** where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2) */
  readonly country: string | null;
  /** of e-mails to the affiliate; without it, that of the account */
  readonly language: NoticeLanguage | null;
  /** whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each */
  readonly is_notified: boolean;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface AffiliateBalance {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units of the currency given with it */
  readonly pending: number;
  /** minor units of the currency given with it */
  readonly unpaid: number;
  /** minor units of the currency given with it */
  readonly in_payout: number;
  /** minor units of the currency given with it */
  readonly paid: number;
}

export interface AffiliateBalances {
  /** The type of the record. */
  readonly object: 'affiliate_balances';
  /** the unpaid payout */
  readonly current_payout_id: string | null;
  /** a row per currency in which something is owed */
  readonly balances: readonly OwedBalance[];
}

export interface AffiliateCreatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'affiliate.created';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: Affiliate;
}

export interface AffiliateDeletedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'affiliate.deleted';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: Affiliate;
}

export interface AffiliateDestination {
  /** The type of the record. */
  readonly object: 'affiliate_destination';
  /** The affiliate. */
  readonly affiliate_id: number;
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: DestinationType;
  /** only for this currency; without it, for every currency without its own destination */
  readonly currency: Currency | null;
  /** wise_bank, sepa, ach: the name of the account holder */
  readonly account_holder: string | null;
  /** wise_bank, sepa, ach: the holder in the characters of payment files */
  readonly holder_in_files: string | null;
  /** sepa: the BIC, which few banks still ask for */
  readonly bic: string | null;
  /** ach: nine digits */
  readonly routing_number: string | null;
  /** ach: the type of the account */
  readonly account_type: BankAccountType | null;
  /** wise_bank, sepa, ach: the end of the IBAN or account number */
  readonly last_four: string | null;
  /** wise_bank, sepa: of the IBAN, ISO 3166-1 alpha-2 */
  readonly country: string | null;
  /** the number was lost with the secret key: set the destination again */
  readonly is_lost: boolean;
  /** not paid before: see `destination_wait_hours` of the account; null: paid */
  readonly waits_until: Timestamp | null;
  /** other affiliates with the same IBAN or account, the first 20 ids */
  readonly shared_with: readonly number[];
  /** What the bank of the payee last answered about the name; null: nothing yet. */
  readonly verification: PayeeVerification | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export interface AffiliateDestinations {
  /** The type of the record. */
  readonly object: 'affiliate_destinations';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** the one for all currencies first; empty: paid as `payout_method` and `paypal_email` of the affiliate say */
  readonly destinations: readonly AffiliateDestination[];
}

export interface AffiliateImport {
  /** The type of the record. */
  readonly object: 'affiliate_import';
  /** Whether nothing was stored, because the request only checked the file. */
  readonly dry_run: boolean;
  /** How many lines there are, without the head. */
  readonly lines: number;
  /** How many records are new. */
  readonly created: number;
  /** How many records changed. */
  readonly updated: number;
  /** How many records were stored before with the same content. */
  readonly unchanged: number;
  /** How many were refused, or failed. */
  readonly failed: number;
  /** lines whose `payout_method` became `paypal`, because they have a `paypal_email` and no method */
  readonly methods_set: number;
  /** the first 1,000 bad lines */
  readonly errors: readonly BadLine[];
}

export interface AffiliateInSeveralFiles {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** oldest first */
  readonly files: readonly {
    /** The format of the file. */
    readonly format: 'paypal' | 'wise' | 'wise_bank' | 'sepa' | 'nacha';
    /** The file set that the file belongs to. */
    readonly file_set_id: string;
    /** The number of the part, from 1. */
    readonly part: number;
    /** of the payout when the file set was first downloaded */
    readonly revision: number;
    /** no other file set of its format and currency was downloaded since */
    readonly is_current: boolean;
  }[];
}

export interface AffiliateNotice {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_notice';
  /**
   * paid: a payout that pays the affiliate was completed; returned: a payment to the affiliate was booked as
   * returned; destination_changed: the destination or e-mail address was changed; also sent to the former
   * address; form_lapsing: the tax form lapses at the end of the year; agreement_ending: the self-billing
   * agreement ends within 90 days
   */
  readonly kind: AffiliateNoticeKind;
  /** The affiliate. */
  readonly affiliate_id: number;
  /** an address that the affiliate had until then */
  readonly is_to_former_address: boolean;
  /** the payout it is about */
  readonly payout_id: string | null;
  /** sent: the SMTP server accepted it; failed: it was given up after about a day, or permanently refused */
  readonly status: AffiliateNoticeStatus;
  /** how often it was tried */
  readonly tries: number;
  /** why the last try failed */
  readonly error: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** when the SMTP server accepted it */
  readonly sent_at: Timestamp | null;
}

export type AffiliateNoticeKind =
  | 'paid'
  | 'returned'
  | 'destination_changed'
  | 'form_lapsing'
  | 'agreement_ending';

export interface AffiliateNoticePreview {
  /** The type of the record. */
  readonly object: 'affiliate_notice_preview';
  /**
   * paid: a payout that pays the affiliate was completed; returned: a payment to the affiliate was booked as
   * returned; destination_changed: the destination or e-mail address was changed; also sent to the former
   * address; form_lapsing: the tax form lapses at the end of the year; agreement_ending: the self-billing
   * agreement ends within 90 days
   */
  readonly kind: AffiliateNoticeKind;
  /** of the text */
  readonly language: NoticeLanguage;
  /** whether the account sends this kind */
  readonly is_on: boolean;
  /** whether the server sends e-mail */
  readonly is_email_sent: boolean;
  /** the name of the sender */
  readonly from_name: string;
  /** where answers go; null = to the sender */
  readonly reply_to: string | null;
  /** of the e-mail */
  readonly subject: string;
  /** the body as plain text */
  readonly text: string;
  /** the body as HTML */
  readonly html: string;
}

export type AffiliateNoticeStatus = 'waiting' | 'sent' | 'failed';

/** e-mails to affiliates; null = none are sent */
export interface AffiliateNotices {
  /** what is sent */
  readonly kinds: readonly AffiliateNoticeKind[];
  /** for affiliates without a `language`; default en */
  readonly language: NoticeLanguage;
  /** where answers go; null = to the sender */
  readonly reply_to: string | null;
}

export interface AffiliateStatement {
  /** The type of the record. */
  readonly object: 'affiliate_statement';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The e-mail address. */
  readonly email: string;
  /** the first day; null = from the beginning */
  readonly from: string | null;
  /** the last day; null = until now, including later-dated entries */
  readonly to: string | null;
  /** of the account: the days are in it */
  readonly time_zone: string;
  /** Sums of the affiliate, one for each currency. */
  readonly currencies: readonly StatementBalance[];
}

export type AffiliateStatus = 'active' | 'inactive';

export interface AffiliateTaxProfile {
  /** The type of the record. */
  readonly object: 'affiliate_tax_profile';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** who signed */
  readonly legal_type: TaxLegalType;
  /** the name as signed */
  readonly legal_name: string;
  /** the tax country, in two letters; ISO 3166-1 alpha-2 */
  readonly country: string;
  /** The postal address. */
  readonly address: PostalAddress;
  /** The tax id; null if unknown. */
  readonly tax_id: TaxId | null;
  /** the number of a French business, which its invoices show: SIREN (9 digits) or SIRET (14 digits) */
  readonly siren: string | null;
  /** where Peppol delivers their invoices: the code of the scheme, a colon and the id */
  readonly electronic_address: string | null;
  /** The signed tax form; null if there is none. */
  readonly form: SignedTaxForm | null;
  /** the affiliate agreed that you write their invoices; null: they did not */
  readonly self_billing: SelfBillingAgreement | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface AffiliateUpdatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'affiliate.updated';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: Affiliate;
}

export interface AffiliateWithBalance {
  /** affiliate_id in other records */
  readonly id: number;
  /** The type of the record. */
  readonly object: 'affiliate';
  /** First name */
  readonly name_first: string | null;
  /** Last name */
  readonly name_last: string | null;
  /** unique in the account */
  readonly email: string;
  /** your own id of the affiliate, unique in the account */
  readonly external_id: string | null;
  /** the affiliate in your links; searches include it */
  readonly slug: string | null;
  /** payouts leave out an inactive affiliate */
  readonly status: AffiliateStatus;
  /** how payouts pay, unless a destination says otherwise */
  readonly payout_method: PayoutMethod | null;
  /** the address that PayPal pays */
  readonly paypal_email: string | null;
  /** your switch: payouts leave out an affiliate that is not ready */
  readonly is_ready_for_payout: boolean;
  /** used instead of the minimum of the account; minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout: Readonly<Record<string, number>> | null;
  /**
   * used instead of the setting of the account: gross with the tax, or net with the tax paid on top; gross: they
   * include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created
   */
  readonly commissions_are: CommissionsAre | null;
  /** what the affiliate is by law, if known */
  readonly legal_type: LegalType | null;
  /** where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2) */
  readonly country: string | null;
  /** of e-mails to the affiliate; without it, that of the account */
  readonly language: NoticeLanguage | null;
  /** whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each */
  readonly is_notified: boolean;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** what the affiliate earned, per currency */
  readonly balance: readonly AffiliateBalance[];
  /** when a payout last paid the affiliate */
  readonly last_paid_at: Timestamp | null;
  /** of the destination for all currencies, else of one for some; null: none, paid as `payout_method` says */
  readonly destination_type: DestinationType | null;
  /**
   * how the affiliate is paid: by the destination, or by `payout_method`, or by PayPal if there is a
   * `paypal_email`; null: unknown
   */
  readonly paid_through: DestinationType | null;
  /** whether tax details are stored */
  readonly has_tax_profile: boolean;
}

export interface AlertChannel {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'alert_channel';
  /** The name. */
  readonly name: string;
  /**
   * webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack and
   * Mattermost
   */
  readonly format: AlertFormat;
  /** the host of the URL */
  readonly host: string;
  /** the alerts it receives */
  readonly kinds: readonly AlertKind[];
  /** when a message was last accepted, within the last week */
  readonly last_sent_at: Timestamp | null;
  /** why the last try failed; null if it succeeded */
  readonly last_error: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export type AlertFormat = 'webhook' | 'slack';

export type AlertKind =
  | 'endpoint_failing'
  | 'endpoint_disabled'
  | 'endpoint_recovered'
  | 'deliveries_failed'
  | 'certificate_ending'
  | 'payout_waiting'
  | 'approval_waiting'
  | 'payout_prepared'
  | 'correction_received'
  | 'schedule_skipped'
  | 'tax_forms_lapsing'
  | 'agreements_ending'
  | 'affiliate_notice_failed'
  | 'contact_notice_failed'
  | 'import_done'
  | 'backup_failed'
  | 'disk_almost_full'
  | 'chore_failing';

export interface AlertSettings {
  /** The type of the record. */
  readonly object: 'alert_settings';
  /** The user. */
  readonly user_id: string;
  /** where alerts are sent */
  readonly email: string;
  /** whether the server sends e-mail at all: SMTP_URL */
  readonly is_email_sent: boolean;
  /** true: the role's default alerts; nothing was chosen */
  readonly is_default: boolean;
  /** every kind of alert */
  readonly alerts: readonly {
    /** The kind. */
    readonly kind: AlertKind;
    /** The name for people. */
    readonly label: string;
    /** when it is sent */
    readonly meaning: string;
    /** whether the user gets it by e-mail */
    readonly by_email: boolean;
  }[];
  /** when an e-mail was last sent, within the last week */
  readonly last_sent_at: Timestamp | null;
  /** why the last try failed; null if it succeeded */
  readonly last_error: string | null;
}

export interface AlertTest {
  /** The type of the record. */
  readonly object: 'alert_test';
  /** When it was requested. */
  readonly requested_at: Timestamp;
}

/** the attempts by the class of the answer; none: no answer arrived */
export interface AnswerCounts {
  /** Responses with a status from 200 to 299. */
  readonly '2xx': number;
  /** Redirects, which are not followed. */
  readonly '3xx': number;
  /** Responses with a status from 400 to 499. */
  readonly '4xx': number;
  /** Responses with a status from 500 to 599. */
  readonly '5xx': number;
  /** Attempts without a response. */
  readonly none: number;
}

export interface ApiKey {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'api_key';
  /** The name of the key. */
  readonly name: string;
  /** the first and last characters of the key */
  readonly hint: string;
  /** the id of the key or user that made it */
  readonly created_by: string;
  /** to the minute */
  readonly last_used_at: Timestamp | null;
  /** When it was revoked; null while it is valid. */
  readonly revoked_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export type ApiVersion = '2.0.0';

export type ApplicationKind = 'confidential' | 'public';

export interface Approval {
  /**
   * `waiting`, `rejected`: a second person must approve this revision before the payout can be paid, see
   * `approval` of the account. `GET …/approval` says how many people must approve and who may
   */
  readonly status: ApprovalStatus;
  /** the user who approved or rejected it */
  readonly decided_by: string | null;
  /** When the decision was made; null while it is open. */
  readonly decided_at: Timestamp | null;
  /** their note */
  readonly note: string | null;
}

export type ApprovalBar = 'approver_is_creator' | 'approver_changed_payout' | 'approver_let_in';

export type ApprovalRule = 'none' | 'second_person';

export type ApprovalStatus = 'not_needed' | 'waiting' | 'approved' | 'rejected';

export interface ApprovePayoutBody {
  /** the revision you reviewed: if the payout has another one by now, the decision is refused */
  readonly revision: number;
  /** shown with the payout */
  readonly note?: string | null | undefined;
}

/** the request was an array of events; null = it carried only this event, or is lost */
export interface AttemptBatch {
  /** `webhook-id` of the request */
  readonly id: string;
  /** the number of events it carried */
  readonly event_count: number;
}

/** who claimed it from a pull endpoint; null = it was sent to a URL */
export interface AttemptClaim {
  /** as in the claim */
  readonly lease_id: string;
  /** the id of the key, user or application; that of the endpoint with its token */
  readonly claimed_by: string;
  /** the name that the consumer gave */
  readonly consumer: string | null;
}

export type AttemptStatus = 'succeeded' | 'failed';

export type AttemptTrigger = 'scheduled' | 'manual' | 'recovery';

export interface AuditEntry {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'audit_entry';
  /** Who made the change. */
  readonly actor: {
    /** The kind. */
    readonly kind: ActorKind;
    /** The id of the record. */
    readonly id: string;
  };
  /** who signed in, or on whose grant the application acted */
  readonly user_id: string | null;
  /**
   * the operation, named as in this description; openPortal is the use of a portal link; runPayoutSchedule is a
   * schedule, on behalf of who last changed it; raiseUserRole is a changeUser that made a role higher;
   * rotateSecretKey, abandonSecretKey and endCredentials (of payhook restore) are commands on the machine
   */
  readonly action: string;
  /** the id of the record it changed */
  readonly target: string | null;
  /** identifies the request in the log of the server */
  readonly request_id: string;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export type BackupWithholdingRule = 'none' | 'at_threshold' | 'always';

export interface BadLine {
  /** The number of the line in the file, from 1. */
  readonly line: number;
  /** What is wrong with the line. */
  readonly message: string;
}

export type BankAccountType = 'checking' | 'savings';

/** several events are sent in one request, as an array; null = one event per request */
export interface Batch {
  /** the maximum number of events in a request */
  readonly max_events: number;
  /** the maximum bytes of its body; a larger event is sent alone */
  readonly max_bytes: number;
  /** the maximum milliseconds that an event waits for others; 0 = it is sent with what is already due */
  readonly max_wait_ms: number;
}

/**
 * several events are sent in one request, as an array; omitted fields have their default. null = one event in
 * each request
 */
export interface BatchInput {
  /** the maximum number of events in a request */
  readonly max_events?: number | undefined;
  /** the maximum bytes of its body; a larger event is sent alone */
  readonly max_bytes?: number | undefined;
  /** the maximum milliseconds that an event waits for others; 0 = it is sent with what is already due */
  readonly max_wait_ms?: number | undefined;
}

export type Capability =
  | 'read'
  | 'write'
  | 'files'
  | 'approve'
  | 'tax_ids'
  | 'webhooks'
  | 'self'
  | 'people'
  | 'own';

export interface ChangeAccountBody {
  /** The name. */
  readonly name?: string | undefined;
  /** The currency of amounts that name none. */
  readonly default_currency?: Currency | undefined;
  /** days a new commission is on hold */
  readonly hold_days?: number | undefined;
  /** minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout?: Readonly<Record<string, number>> | undefined;
  /** IANA name: the time zone of days without a time, in filters, files and reports */
  readonly time_zone?: string | undefined;
  /** minor units per currency code: the largest single payment PayPal sends */
  readonly paypal_payment_limit?: Readonly<Record<string, number>> | undefined;
  /** origins of your own pages that may show a portal in a frame; https, or http on localhost */
  readonly portal_origins?: readonly string[] | undefined;
  /**
   * required: publishing an event without an `owner` is refused, so that none reaches the endpoints of every
   * recipient by mistake
   */
  readonly event_owner?: EventOwnerRule | undefined;
  /**
   * what happens to an event whose data violates the schema of its type. warn: it is accepted, the answer has
   * the header Payhook-Schema-Violation, and the type its `last_violation`; refuse: publishing is refused. Types
   * without a schema are accepted
   */
  readonly event_validation?: EventValidationRule | undefined;
  /** the most webhook endpoints of an owner; null = ten in a portal, no limit otherwise */
  readonly endpoints_per_owner?: number | null | undefined;
  /**
   * second_person: a payout is paid only after a person who did not create it has approved it. Only a signed-in
   * owner, or the operator, may change it back to none
   */
  readonly approval?: ApprovalRule | undefined;
  /**
   * hours for which whoever changed where they are paid is not paid; 0 = none. Only a signed-in owner, or the
   * operator, may lower it
   */
  readonly destination_wait_hours?: number | undefined;
  /**
   * who is left out of payouts without a valid W-9 or W-8. at_threshold: whose payments of the year in US
   * dollars, with this one, reach the threshold of Form 1099-NEC, PayPal aside; always: everybody
   */
  readonly payout_form?: PayoutFormRule | undefined;
  /**
   * whether payouts withhold 24 % of payments in US dollars, PayPal aside, to affiliates in the United States
   * without a W-9 or a US tax id. at_threshold: once their payments of the year, with this one, reach the
   * threshold of Form 1099-NEC, or if those of the year before did or something was withheld; always: from the
   * first payment on. Fixed in each line when a payout is created
   */
  readonly backup_withholding?: BackupWithholdingRule | undefined;
  /**
   * gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a
   * payout is created
   */
  readonly commissions_are?: CommissionsAre | undefined;
  /** replaces the settings of all rules: what is missing has its default */
  readonly payout_signals?:
    | {
        /** the line is paid to another account, address or method than the last payment of the last 13 months */
        readonly destination_changed?:
          | {
              /**
               * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
               * has reviewed it
               */
              readonly action?: SignalAction | undefined;
            }
          | undefined;
        /** several affiliates of the payout are paid to one bank account */
        readonly shared_destination?:
          | {
              /**
               * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
               * has reviewed it
               */
              readonly action?: SignalAction | undefined;
            }
          | undefined;
        /** the affiliate was not paid in this currency in the last 13 months, and the amount is above the limit */
        readonly first_payout_above?:
          | {
              /**
               * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
               * has reviewed it
               */
              readonly action?: SignalAction | undefined;
              /** the limit in minor units by currency; a currency without one gives no signal */
              readonly amounts?: Readonly<Record<string, number>> | undefined;
            }
          | undefined;
        /** the amount is more than `times` the largest payment of the last 13 months */
        readonly amount_above_history?:
          | {
              /**
               * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
               * has reviewed it
               */
              readonly action?: SignalAction | undefined;
              /** the amount in minor units by currency up to which there is no signal */
              readonly amounts?: Readonly<Record<string, number>> | undefined;
              /** how many times the largest payment */
              readonly times?: number | undefined;
            }
          | undefined;
        /**
         * at least `affiliates` affiliates of the payout were created by one import of the last `days` days and were
         * never paid
         */
        readonly imported_together?:
          | {
              /**
               * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
               * has reviewed it
               */
              readonly action?: SignalAction | undefined;
              /** how many affiliates */
              readonly affiliates?: number | undefined;
              /** how many days after the import */
              readonly days?: number | undefined;
            }
          | undefined;
      }
    | undefined;
  /**
   * cents by the two letters of a state, for example {"CA": 60000, "OH": null}: the sum of a year from which you
   * report to it, in place of the built-in table; null: you report nothing
   */
  readonly state_thresholds?: Readonly<Record<string, number | null>> | undefined;
  /** The bank account that payouts are paid from (SEPA); null if unknown. */
  readonly debtor?:
    | {
        /** at most 70 characters as banks write it */
        readonly name: string;
        /** any case, with or without blanks */
        readonly iban: string;
        /** The BIC of the bank; null if it is not needed. */
        readonly bic?: string | null | undefined;
        /** the message that your bank takes; default pain.001.001.09 */
        readonly message?: SepaMessage | undefined;
        /** payments in one file; default 10,000. More are split into parts of about the same size */
        readonly rows_per_file?: number | undefined;
        /** instant transfers (SCT Inst) in every file whose request does not choose; default false */
        readonly is_instant?: boolean | undefined;
      }
    | null
    | undefined;
  /** The bank account that payouts are paid from (ACH); null if unknown. */
  readonly originator?:
    | {
        /** the routing number of the bank that takes the file; at most 20 characters */
        readonly immediate_destination: string;
        /** the name of that bank; at most 23 characters */
        readonly immediate_destination_name: string;
        /** nine or ten digits that your bank assigned; at most 20 characters */
        readonly immediate_origin: string;
        /** your name at that bank; at most 23 characters */
        readonly immediate_origin_name: string;
        /** your name on the statements of affiliates; at most 16 characters */
        readonly company_name: string;
        /** the ten letters and digits your bank knows you by, often 1 and your EIN; at most 10 characters */
        readonly company_id: string;
        /**
         * the routing number you pay from, or its first eight digits; default immediate_destination; at most 20
         * characters
         */
        readonly originating_dfi?: string | undefined;
        /**
         * what the payment is, on the statements of affiliates; for businesses (CCD); default PAYOUT; at most 10
         * characters
         */
        readonly entry_description?: string | undefined;
        /**
         * what the payment is, on the statements of affiliates; for persons (PPD); default PAYROLL, which Nacha
         * requires for pay and commissions since March 2026; at most 10 characters
         */
        readonly person_entry_description?: string | undefined;
        /** for your bank, if it asks for it; at most 20 characters */
        readonly discretionary_data?: string | null | undefined;
        /** payments in one file; default 10,000. More are split into several files */
        readonly rows_per_file?: number | undefined;
      }
    | null
    | undefined;
  /** The tax details of the account; null if unknown. */
  readonly tax_profile?:
    | {
        /** The name in the register or the passport. */
        readonly legal_name: string;
        /** ISO 3166-1 alpha-2, any case */
        readonly country: string;
        /** The postal address. */
        readonly address: {
          /** street and number */
          readonly line1: string;
          /** Address, line 2 */
          readonly line2?: string | null | undefined;
          /** Postal code */
          readonly postal_code?: string | null | undefined;
          /** City */
          readonly city: string;
          /** state or province; two letters in the United States */
          readonly region?: string | null | undefined;
        };
        /** its check digits are checked */
        readonly vat_id?: string | null | undefined;
        /** The tax number; null if unknown. */
        readonly tax_number?: string | null | undefined;
        /** its check digit is checked */
        readonly siren?: string | null | undefined;
        /** the code of the scheme, a colon and the id */
        readonly electronic_address?: string | null | undefined;
      }
    | null
    | undefined;
  /** How self-billing invoices are written; null if the account writes none. */
  readonly invoicing?:
    | {
        /** how numbers of invoices begin; default SB- */
        readonly prefix?: string | undefined;
        /** The rate for each kind of seller, the first match applies. */
        readonly rules: readonly {
          /** ISO 3166-1 alpha-2; null = any */
          readonly country?: string | null | undefined;
          /** null = any */
          readonly legal_type?: InvoiceLegalType | null | undefined;
          /** null = with or without one */
          readonly has_vat_id?: boolean | null | undefined;
          /** S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT */
          readonly category: TaxCategory;
          /** hundredths of a percent: 1900 = 19 % */
          readonly rate?: number | undefined;
          /** why no tax is due, as the invoice says it; wanted for E, AE and O */
          readonly exemption?: string | null | undefined;
        }[];
      }
    | null
    | undefined;
  /** The e-mails that affiliates get; null if the account sends none. */
  readonly affiliate_notices?:
    | {
        /** what is sent */
        readonly kinds: readonly AffiliateNoticeKind[];
        /** for affiliates without a `language`; default en */
        readonly language?: NoticeLanguage | undefined;
        /** where answers go; null = to the sender */
        readonly reply_to?: string | null | undefined;
      }
    | null
    | undefined;
  /** The e-mails that contacts of endpoints get; null if the account sends none. */
  readonly contact_notices?:
    | {
        /** your page on which they open their portal: https, or http on localhost */
        readonly portal_url?: string | null | undefined;
        /** default en */
        readonly language?: NoticeLanguage | undefined;
        /** where answers go; null = to the sender */
        readonly reply_to?: string | null | undefined;
      }
    | null
    | undefined;
}

export interface ChangeAffiliateBody {
  /** First name */
  readonly name_first?: string | null | undefined;
  /** Last name */
  readonly name_last?: string | null | undefined;
  /** unique in the account; an e-mail address */
  readonly email?: string | undefined;
  /** your own id of the affiliate, unique in the account */
  readonly external_id?: string | null | undefined;
  /** the affiliate in your links; searches include it */
  readonly slug?: string | null | undefined;
  /** payouts leave out an inactive affiliate */
  readonly status?: AffiliateStatus | undefined;
  /** how payouts pay, unless a destination says otherwise */
  readonly payout_method?: PayoutMethod | null | undefined;
  /** the address that PayPal pays; an e-mail address */
  readonly paypal_email?: string | null | undefined;
  /** your switch: payouts leave out an affiliate that is not ready */
  readonly is_ready_for_payout?: boolean | undefined;
  /** used instead of the minimum of the account; minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout?: Readonly<Record<string, number>> | null | undefined;
  /**
   * used instead of the setting of the account: gross with the tax, or net with the tax paid on top; gross: they
   * include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created
   */
  readonly commissions_are?: CommissionsAre | null | undefined;
  /** what the affiliate is by law, if known */
  readonly legal_type?: LegalType | null | undefined;
  /** where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2) */
  readonly country?: string | null | undefined;
  /** of e-mails to the affiliate; without it, that of the account */
  readonly language?: NoticeLanguage | null | undefined;
  /** whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each */
  readonly is_notified?: boolean | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface ChangeAlertChannelBody {
  /** your name for it */
  readonly name?: string | undefined;
  /** receives messages by POST; stored encrypted and not shown again */
  readonly url?: string | undefined;
  /** the alerts it receives */
  readonly kinds?: readonly AlertKind[] | undefined;
}

export interface ChangeOAuthApplicationBody {
  /** what merchants see when they are asked */
  readonly name?: string | undefined;
  /**
   * where merchants return to, compared character by character: https, or http on a loopback host; for public
   * applications also private-use schemes such as com.example.app:/callback
   */
  readonly redirect_uris?: readonly string[] | undefined;
  /** the scopes that merchants can grant it at most */
  readonly scopes?: readonly Scope[] | undefined;
}

export interface ChangePayoutScheduleBody {
  /** The name. */
  readonly name?: string | undefined;
  /** On which days it runs. */
  readonly every?: ScheduleRhythm | undefined;
  /**
   * week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the account’s time
   * zone and begins at midnight there
   */
  readonly day?: number | undefined;
  /** the filters of the report; null = none */
  readonly filters?: PayoutFilters | null | undefined;
  /** every word must occur in the name, e-mail address or slug of the affiliate */
  readonly search?: string | undefined;
  /** also pays amounts below the minimum */
  readonly ignore_minimum?: boolean | undefined;
  /** false: it creates no payouts until it is activated */
  readonly is_active?: boolean | undefined;
}

export interface ChangeProgramBody {
  /** unique in the account */
  readonly name?: string | undefined;
  /** the days for which new commissions are on hold; null = the account's hold */
  readonly hold_days?: number | null | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface ChangeUserBody {
  /** The name. */
  readonly name?: string | undefined;
  /**
   * owner: may do everything; member: may do everything except API keys, users and applications; finance:
   * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
   * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
   * without payment files and complete account numbers
   */
  readonly role?: Role | undefined;
}

export interface ChangeWebhookEndpointBody {
  /**
   * where events are sent, including pending ones; http or https, without credentials and fragment, at a public
   * address
   */
  readonly url?: string | undefined;
  /** a note of yours */
  readonly description?: string | null | undefined;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner?: string | null | undefined;
  /** your own id of the endpoint, unique in the account */
  readonly external_id?: string | null | undefined;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link; an e-mail address
   */
  readonly contact_email?: string | null | undefined;
  /** the types of events that it receives; names such as payout.paid or payout.*; null = all */
  readonly event_types?: readonly string[] | null | undefined;
  /**
   * conditions on the payload; conditions on the payload that must all hold: a path, and a value or operators
   * ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or take lists of
   * filters. At most 4,096 bytes
   */
  readonly filter?: Readonly<Record<string, unknown>> | null | undefined;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status?: EndpointStatus | undefined;
  /**
   * events with the same ordering key are sent one after the other, in the order in which they were published;
   * applies to events published from now on; false releases the events that wait
   */
  readonly ordered?: boolean | undefined;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch?: BatchInput | null | undefined;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit?: number | null | undefined;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent; null =
   * no limit
   */
  readonly max_age?: number | null | undefined;
  /** your own headers, sent with every delivery; values by name; null removes a header, others stay */
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload?: PayloadForm | undefined;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version?: ApiVersion | undefined;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing?: SigningScheme | undefined;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing?: CustomSigningInput | null | undefined;
  /**
   * a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays
   * if the scheme can use it, else a new one is created
   */
  readonly secret?: string | undefined;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature?: SecondSignatureInput | null | undefined;
  /**
   * an HTTP proxy that requests go through, with user and password if it needs them:
   * http://user:password@proxy:3128; null = that of the server, if any
   */
  readonly proxy?: string | null | undefined;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate?: ClientCertificateInput | null | undefined;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials?: ClientCredentialsInput | null | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
  /** with `status` enabled: what happens to the events that were held; discard cancels them */
  readonly held?: HeldAction | undefined;
}

export interface ChangedWebhookEndpoint {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_endpoint';
  /** push: events are sent to the URL; pull: it has none, and consumers claim its events */
  readonly delivery: EndpointDelivery;
  /** where events are sent, including pending ones; null with pull */
  readonly url: string | null;
  /** a note of yours */
  readonly description: string | null;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner: string | null;
  /** your own id of the endpoint, unique in the account */
  readonly external_id: string | null;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link
   */
  readonly contact_email: string | null;
  /**
   * off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail; none:
   * there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was not opened for
   * 7 days; confirmed: the address gets e-mails
   */
  readonly contact_status: ContactStatus;
  /** the types of events that it receives; null = all */
  readonly event_types: readonly string[] | null;
  /** conditions on the payload; null = none */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status: EndpointStatus;
  /**
   * manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it answered
   * `webhook-delivery: disable`
   */
  readonly disabled_reason: DisabledReason | null;
  /** When it was disabled; null while it is enabled. */
  readonly disabled_at: Timestamp | null;
  /** nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503, 504) */
  readonly paused_until: Timestamp | null;
  /** when the first waiting event is due; null if no event is waiting or the endpoint is disabled */
  readonly next_attempt_at: Timestamp | null;
  /** events with the same ordering key are sent one after the other, in the order in which they were published */
  readonly ordered: boolean;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch: Batch | null;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit: number | null;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent;
   * seconds; null = no limit
   */
  readonly max_age: number | null;
  /** your own headers, sent with every delivery; the names; the values are never shown */
  readonly headers: readonly string[];
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload: PayloadForm;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version: string;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing: SigningScheme;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing: CustomSigning | null;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature: SecondSignature | null;
  /** the HTTP proxy of requests, without its password; null = that of the server, if any */
  readonly proxy: string | null;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate: ClientCertificate | null;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials: ClientCredentials | null;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When the first of the current failures happened; null after a success. */
  readonly first_failure_at: Timestamp | null;
  /** when a consumer last asked for events, to the minute; null with push */
  readonly last_claimed_at: Timestamp | null;
  /** When a delivery last succeeded; null if none has. */
  readonly last_success_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /**
   * only if this created a secret, with the endpoint or because the scheme cannot use the previous one; null
   * when a stored answer is replayed
   */
  readonly secret?: string | null | undefined;
}

/**
 * how the fields of `data` changed, without `updated_at`; null: the value is left out, because it was erased
 * or is large
 */
export interface Changes {
  /** new values of fields that were null or missing */
  readonly added: Readonly<Record<string, unknown>>;
  /** previous values of fields that have another value now */
  readonly updated: Readonly<Record<string, unknown>>;
  /** previous values of fields that are null or missing now */
  readonly removed: Readonly<Record<string, unknown>>;
}

export interface ClaimWebhookEventsBody {
  /** the most events */
  readonly limit?: number | undefined;
  /** for how long nobody else gets them */
  readonly lease_seconds?: number | undefined;
  /** how long to wait for the first event if there is none */
  readonly wait_seconds?: number | undefined;
  /** a name of yours for who claims, shown in the log */
  readonly consumer?: string | undefined;
}

export interface ClaimedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'claimed_event';
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /** from 1 */
  readonly attempt: number;
  /** of this claim */
  readonly lease_id: string;
  /** acknowledge or extend before */
  readonly lease_expires_at: Timestamp;
  /** as they would be sent to a URL, with the signature */
  readonly headers: Readonly<Record<string, string>>;
  /** the text that is signed */
  readonly body: string;
}

export type ClientAuthentication = 'basic' | 'body';

/** sent to a receiver that requests one (mTLS); null = none */
export interface ClientCertificate {
  /** The subject of the certificate. */
  readonly subject: string;
  /** The issuer of the certificate. */
  readonly issuer: string;
  /** SHA-256 of the certificate, hexadecimal */
  readonly fingerprint: string;
  /** When it expires. */
  readonly expires_at: Timestamp;
}

/** shown to the receiver when it asks for one (mTLS); null = none */
export interface ClientCertificateInput {
  /** PEM: the certificate, then the ones that issued it, without the root */
  readonly certificate: string;
  /** PEM: its private key, without a passphrase; never shown */
  readonly key: string;
}

/** for access tokens that are sent in the header Authorization (OAuth 2); null = none */
export interface ClientCredentials {
  /** The token endpoint. */
  readonly token_url: string;
  /** The client id at the token endpoint. */
  readonly client_id: string;
  /** The requested scopes, separated by spaces; null if none are named. */
  readonly scope: string | null;
  /** The requested audience; null if none is named. */
  readonly audience: string | null;
  /**
   * how the client id and secret are sent to the token endpoint: basic, the usual way, in the header
   * Authorization; body, in the body
   */
  readonly authentication: ClientAuthentication;
}

/** for access tokens that are sent in the header Authorization (OAuth 2); null = none */
export interface ClientCredentialsInput {
  /** the token endpoint: http or https, without credentials or fragment, at a public address */
  readonly token_url: string;
  /** The client id at the token endpoint. */
  readonly client_id: string;
  /**
   * never shown; if omitted, the current one is kept, provided that `token_url` and `client_id` are unchanged
   * and nobody else could read it
   */
  readonly client_secret?: string | undefined;
  /** names, separated by spaces; null = none */
  readonly scope?: string | null | undefined;
  /** for servers that require one; null = none */
  readonly audience?: string | null | undefined;
  /**
   * how the client id and secret are sent to the token endpoint: basic, the usual way, in the header
   * Authorization; body, in the body
   */
  readonly authentication?: ClientAuthentication | undefined;
}

/** column to field, or to `ignore`; field to a constant */
export type ColumnMapping = Readonly<
  Record<
    string,
    | string
    | {
        /** The same value for every line. */
        readonly constant: string;
      }
  >
>;

export interface Commission {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_commission';
  /** your id, unique forever; `payhook:…` names what Payhook created itself, such as a clawback */
  readonly external_id: string;
  /** who earned it */
  readonly affiliate_id: number;
  /** the program whose hold applies */
  readonly program_id: number | null;
  /** a clawback is negative: it takes back what was paid before a refund */
  readonly type: CommissionType;
  /** pending = on hold: available_at is in the future */
  readonly status: CommissionStatus;
  /** the status is paid */
  readonly is_paid: boolean;
  /** what the affiliate gets; minor units: what is owed or was paid, after refunds before payment */
  readonly amount: number;
  /** minor units: the original amount */
  readonly original_amount: number;
  /** minor units: what was taken back, before and after payment */
  readonly refunded_amount: number;
  /** Currency */
  readonly currency: Currency;
  /** the amount of the sale; minor units */
  readonly sale_amount: number | null;
  /** basis points of the sale: 2000 is 20 % */
  readonly rate_bps: number | null;
  /** the order in the shop, by which refunds find it */
  readonly order_id: string | null;
  /** the line of the order: commissions with the same line are shares of one sale */
  readonly order_line_id: string | null;
  /** the e-mail address of the buyer */
  readonly customer_email: string | null;
  /** Product id */
  readonly product_id: string | null;
  /** the name of the product */
  readonly product_name: string | null;
  /** Description */
  readonly description: string | null;
  /** Earned */
  readonly occurred_at: Timestamp;
  /** null while it is held for review */
  readonly available_at: Timestamp | null;
  /** the payout it is in or was paid in */
  readonly payout_id: string | null;
  /** When it was paid; null if it was not. */
  readonly paid_at: Timestamp | null;
  /** When it was voided; null if it was not. */
  readonly voided_at: Timestamp | null;
  /** Why it was voided; null without a reason. */
  readonly void_reason: string | null;
  /** of a clawback: the commission it takes back */
  readonly reverses_commission_id: string | null;
  /** Your own keys and texts. */
  readonly metadata: Metadata | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface CommissionAnalytics {
  /** The type of the record. */
  readonly object: 'commission_analytics';
  /** The length of an interval of the series. */
  readonly interval: 'day' | 'week' | 'month';
  /** of the account: the days are in it */
  readonly time_zone: string;
  /** the first day */
  readonly from: string;
  /** the last day */
  readonly to: string;
  /** The intervals, the earliest first. */
  readonly series: readonly CommissionSeries[];
}

export interface CommissionBatch {
  /** The type of the record. */
  readonly object: 'commission_batch';
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** The position in the request, from 0. */
    readonly index: number;
    /** 201 new, 200 stored before, 400 or 409 refused */
    readonly status: number;
    /** The commission. */
    readonly commission?: Commission | undefined;
    /** Why it was refused; absent if it was not. */
    readonly error?:
      | {
          /** The kind of error, as in an error response. */
          readonly code: string;
          /** The reason, as in `Payhook-Reason`. */
          readonly reason: string;
          /** The problem in words, for people. */
          readonly message: string;
        }
      | undefined;
  }[];
}

export interface CommissionBucket {
  /** When the interval begins. */
  readonly starts_at: Timestamp;
  /** the first day, in the zone of the account */
  readonly day: string;
  /** commissions, dated by the sale */
  readonly earned_amount: number;
  /** How many commissions were earned. */
  readonly earned_count: number;
  /** amounts taken by refunds, dated by the refund; reversed refunds do not count */
  readonly refunded_amount: number;
  /** How many commissions were refunded. */
  readonly refunded_count: number;
  /** the remaining amounts of commissions that were voided manually */
  readonly voided_amount: number;
  /** How many commissions were voided. */
  readonly voided_count: number;
  /** manual credits and debits */
  readonly adjusted_amount: number;
  /** How many adjustments were made. */
  readonly adjusted_count: number;
  /** payments; null with a program, because a payment belongs to an affiliate and a currency */
  readonly paid_amount: number | null;
  /** How many commissions were paid; null where payments are not counted. */
  readonly paid_count: number | null;
  /** returned payments, less returns that were undone */
  readonly returned_amount: number | null;
  /** How many payments came back; null where returns are not counted. */
  readonly returned_count: number | null;
}

export interface CommissionClawedBackEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'commission.clawed_back';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: Commission;
}

export interface CommissionCreatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'commission.created';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: Commission;
}

export interface CommissionImport {
  /** The type of the record. */
  readonly object: 'commission_import';
  /** Whether nothing was stored, because the request only checked the file. */
  readonly dry_run: boolean;
  /** How many lines there are, without the head. */
  readonly lines: number;
  /** How many records are new. */
  readonly created: number;
  /** already stored with the same content */
  readonly unchanged: number;
  /** How many were refused, or failed. */
  readonly failed: number;
  /** sums of the good lines */
  readonly totals: readonly {
    /** The currency of the amounts. */
    readonly currency: Currency;
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many there are. */
    readonly count: number;
  }[];
  /** the first 1,000 bad lines */
  readonly errors: readonly BadLine[];
}

export type CommissionInput =
  | CommissionByAffiliateId
  | CommissionByAffiliateExternalId
  | CommissionByAffiliateEmail;

export interface CommissionInputFields {
  /** your id, unique forever; must not begin with `payhook:` */
  readonly external_id: string;
  /** the program whose hold applies */
  readonly program_id?: number | null | undefined;
  /** default sale */
  readonly type?: NewCommissionType | undefined;
  /** what the affiliate gets; in minor units */
  readonly amount?: number | undefined;
  /** default the account currency */
  readonly currency?: Currency | undefined;
  /** the amount of the sale; minor units */
  readonly sale_amount?: number | null | undefined;
  /** basis points of the sale: 2000 is 20 % */
  readonly rate_bps?: number | null | undefined;
  /** the order in the shop, by which refunds find it */
  readonly order_id?: string | null | undefined;
  /** the line of the order: commissions with the same line are shares of one sale */
  readonly order_line_id?: string | null | undefined;
  /** the e-mail address of the buyer; an e-mail address */
  readonly customer_email?: string | null | undefined;
  /** Product id */
  readonly product_id?: string | null | undefined;
  /** the name of the product */
  readonly product_name?: string | null | undefined;
  /** Description */
  readonly description?: string | null | undefined;
  /** RFC 3339; default now */
  readonly occurred_at?: string | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | null | undefined;
}

export interface CommissionByAffiliateId extends CommissionInputFields {
  /** who earned it; exactly one of `affiliate_id`, `affiliate_external_id`, `affiliate_email` */
  readonly affiliate_id: number;
  readonly affiliate_external_id?: undefined;
  readonly affiliate_email?: undefined;
}

export interface CommissionByAffiliateExternalId extends CommissionInputFields {
  readonly affiliate_id?: undefined;
  /** who earned it, by your own id */
  readonly affiliate_external_id: string;
  readonly affiliate_email?: undefined;
}

export interface CommissionByAffiliateEmail extends CommissionInputFields {
  readonly affiliate_id?: undefined;
  readonly affiliate_external_id?: undefined;
  /** who earned it, by e-mail address, in any case */
  readonly affiliate_email: string;
}

export interface CommissionRefund {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_refund';
  /** your own id of the refund, unique forever */
  readonly external_id: string;
  /** waiting: a line of it has no commission yet, or is in doubt */
  readonly status: 'waiting' | 'applied' | 'reversed';
  /** null for a refund of one commission by its id */
  readonly order_id: string | null;
  /** Product */
  readonly product_id: string | null;
  /** why */
  readonly reason: string | null;
  /** when the customer was refunded */
  readonly occurred_at: Timestamp;
  /** When the refund was reversed; null if it was not. */
  readonly reversed_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** minor units of commission that were taken back */
  readonly amount: number;
  /** minor units of the sale refunded; null when the refund was given as commission */
  readonly sale_amount: number | null;
  /** the refund asked for more than was left and took the rest */
  readonly capped: boolean;
  /** The commission. */
  readonly commission: Commission;
  /** The negative commission that takes back what was paid; null if nothing had been paid. */
  readonly clawback: Commission | null;
}

export interface CommissionSeries {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** every interval from the first day to the last */
  readonly buckets: readonly CommissionBucket[];
}

export type CommissionStatus = 'pending' | 'unpaid' | 'paid' | 'voided';

export type CommissionType = 'sale' | 'recurring' | 'bonus' | 'adjustment' | 'clawback';

export interface CommissionUpdatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'commission.updated';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: Commission;
}

export interface CommissionVoidedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'commission.voided';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: Commission;
}

export type CommissionsAre = 'gross' | 'net';

export interface CommissionsImportedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'commissions.imported';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: {
    /** The type of the record. */
    readonly object: 'commission_import';
    /** payout: the parts of lines that a completed payout did not pay and owes again */
    readonly source: 'batch' | 'file' | 'payout';
    /** How many records are new. */
    readonly created: number;
    /** How many records were stored before with the same content. */
    readonly unchanged?: number | undefined;
    /** How many lines were refused. */
    readonly failed?: number | undefined;
    /** Sums, one for each currency. */
    readonly totals: readonly {
      /** The currency of the amounts. */
      readonly currency: Currency;
      /** minor units of the currency given with it */
      readonly amount: number;
      /** How many there are. */
      readonly count: number;
    }[];
  };
}

export interface CompletePayoutBody {
  /** The commissions, one entry each. */
  readonly commissions: readonly {
    /** an affiliate of the payout */
    readonly affiliate_id: number;
    /** whether it was paid; false releases the line, which is owed again */
    readonly is_paid: boolean;
    /** the line that the entry covers; without it, all lines of the affiliate */
    readonly currency?: Currency | undefined;
    /**
     * the amount paid in minor units of `currency`, at most the amount of the line, with the tax on top of it if
     * its commissions are net; the rest is owed again
     */
    readonly amount?: number | undefined;
    /** identifies the transfer, stored with the line */
    readonly payment_reference?: string | null | undefined;
  }[];
  /** refuse the request unless every line is listed */
  readonly require_all?: boolean | undefined;
  /**
   * when the money left: a day YYYY-MM-DD of the account's time zone, or an RFC 3339 instant; not before the
   * payout was created, not in the future; default now
   */
  readonly paid_at?: string | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface CompletedPayout {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_payout';
  /** increases per account, may have gaps */
  readonly number: number;
  /** paid is final */
  readonly status: PayoutStatus;
  /** as normalised and applied */
  readonly filters: Readonly<Record<string, unknown>> | null;
  /** as applied; null = none */
  readonly search: string | null;
  /** the time of creation: it contains what was owed at that time */
  readonly as_of: Timestamp;
  /** null when there are several; amount is null too */
  readonly currency: Currency | null;
  /** minor units of the currency given with it */
  readonly amount: number | null;
  /** one per currency; amount = paid + carried + released once completed */
  readonly totals: readonly PayoutTotal[];
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** the ETag; rises with every change */
  readonly revision: number;
  /** the id of the key, user or application */
  readonly created_by: string;
  /** the schedule that prepared it, which may have been deleted since */
  readonly schedule_id: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** when the money left, as given at completion; default the time of completion */
  readonly paid_at: Timestamp | null;
  /** who completed it */
  readonly paid_by: string | null;
  /** Whether the payout needs approval, and who has decided. */
  readonly approval: Approval;
  /** all lines, or null when there are more than 1,000 */
  readonly affiliates: readonly PayoutLine[] | null;
  /** who was left out, one row per reason */
  readonly excluded: readonly {
    /** the first two are carried forward to the next payout */
    readonly reason: ExclusionReason;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
    /** Sums, one for each currency. */
    readonly totals: readonly {
      /** The currency of the amounts. */
      readonly currency: Currency;
      /** minor units of the currency given with it */
      readonly amount: number;
      /** How many commissions it covers. */
      readonly commission_count: number;
      /** How many affiliates it covers. */
      readonly affiliate_count: number;
    }[];
  }[];
  /**
   * bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
   * affiliate accounts; the first 100, empty once the payout is paid
   */
  readonly shared_destinations: readonly SharedDestination[];
  /** what may point to fraud, by rule: `listPayoutSignals` has the lines and reasons */
  readonly signals: readonly SignalCount[];
  /** affiliates without any listed line: all their lines were released */
  readonly unlisted_affiliate_count: number;
  /** lines (one per affiliate and currency) that were not listed and were released */
  readonly unlisted_line_count: number;
}

/** e-mails to `contact_email` of endpoints; null = none are sent */
export interface ContactNotices {
  /** your page on which they open their portal: https, or http on localhost */
  readonly portal_url: string | null;
  /** default en */
  readonly language: NoticeLanguage;
  /** where answers go; null = to the sender */
  readonly reply_to: string | null;
}

export type ContactStatus = 'off' | 'none' | 'unsent' | 'waiting' | 'expired' | 'confirmed';

export type CorrectedField = 'account_holder' | 'routing_number' | 'account_number' | 'account_type';

export type CorrectionStatus = 'open' | 'outdated' | 'accepted' | 'dismissed';

export interface CreateAdjustmentBody {
  /** your id, unique forever; must not begin with `payhook:` */
  readonly external_id: string;
  /** what the affiliate gets, or below zero owes; in minor units */
  readonly amount: number;
  /** default the account currency */
  readonly currency?: Currency | undefined;
  /** the program whose hold applies */
  readonly program_id?: number | null | undefined;
  /** Description */
  readonly description?: string | null | undefined;
  /** RFC 3339; default now */
  readonly occurred_at?: string | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | null | undefined;
}

export interface CreateAffiliateBody {
  /** First name */
  readonly name_first?: string | null | undefined;
  /** Last name */
  readonly name_last?: string | null | undefined;
  /** unique in the account; an e-mail address */
  readonly email: string;
  /** your own id of the affiliate, unique in the account */
  readonly external_id?: string | null | undefined;
  /** the affiliate in your links; searches include it */
  readonly slug?: string | null | undefined;
  /** payouts leave out an inactive affiliate */
  readonly status?: AffiliateStatus | undefined;
  /** how payouts pay, unless a destination says otherwise */
  readonly payout_method?: PayoutMethod | null | undefined;
  /** the address that PayPal pays; an e-mail address */
  readonly paypal_email?: string | null | undefined;
  /** your switch: payouts leave out an affiliate that is not ready */
  readonly is_ready_for_payout?: boolean | undefined;
  /** used instead of the minimum of the account; minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout?: Readonly<Record<string, number>> | null | undefined;
  /**
   * used instead of the setting of the account: gross with the tax, or net with the tax paid on top; gross: they
   * include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created
   */
  readonly commissions_are?: CommissionsAre | null | undefined;
  /** what the affiliate is by law, if known */
  readonly legal_type?: LegalType | null | undefined;
  /** where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2) */
  readonly country?: string | null | undefined;
  /** of e-mails to the affiliate; without it, that of the account */
  readonly language?: NoticeLanguage | null | undefined;
  /** whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each */
  readonly is_notified?: boolean | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface CreateAlertChannelBody {
  /** your name for it */
  readonly name: string;
  /**
   * webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack and
   * Mattermost
   */
  readonly format: AlertFormat;
  /** receives messages by POST; stored encrypted and not shown again */
  readonly url: string;
  /** the alerts it receives; default: all */
  readonly kinds?: readonly AlertKind[] | undefined;
}

export interface CreateApiKeyBody {
  /** The name. */
  readonly name: string;
}

export interface CreateCommissionBatchBody {
  /** The commissions, one entry each. */
  readonly commissions: readonly CommissionInput[];
  /** creates the good items and reports the bad ones */
  readonly partial?: boolean | undefined;
}

export interface CreateOAuthApplicationBody {
  /** what merchants see when they are asked */
  readonly name: string;
  /** confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE */
  readonly kind: ApplicationKind;
  /**
   * where merchants return to, compared character by character: https, or http on a loopback host; for public
   * applications also private-use schemes such as com.example.app:/callback
   */
  readonly redirect_uris: readonly string[];
  /** the scopes that merchants can grant it at most */
  readonly scopes: readonly Scope[];
}

export interface CreatePayoutScheduleBody {
  /** The name. */
  readonly name: string;
  /** On which days it runs. */
  readonly every: ScheduleRhythm;
  /**
   * week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the account’s time
   * zone and begins at midnight there
   */
  readonly day: number;
  /** the filters of the report; null = none */
  readonly filters?: PayoutFilters | null | undefined;
  /** every word must occur in the name, e-mail address or slug of the affiliate */
  readonly search?: string | undefined;
  /** also pays amounts below the minimum */
  readonly ignore_minimum?: boolean | undefined;
  /** false: it creates no payouts until it is activated */
  readonly is_active?: boolean | undefined;
}

export interface CreatePortalLinkBody {
  /** a portal for all endpoints with the `owner` of this one, in which endpoints can be created and deleted */
  readonly all_of_owner?: boolean | undefined;
  /** a portal that can change and send nothing, and shows no secrets */
  readonly read_only?: boolean | undefined;
  /** the event types that portal users may subscribe to; null = all; default: those of this endpoint */
  readonly event_types?: readonly string[] | null | undefined;
  /** how long the link can be opened */
  readonly ttl_seconds?: number | undefined;
}

export interface CreateProgramBody {
  /** unique in the account */
  readonly name: string;
  /** the days for which new commissions are on hold; null = the account's hold */
  readonly hold_days?: number | null | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface CreateUserBody {
  /** an e-mail address */
  readonly email: string;
  /** The name. */
  readonly name: string;
  /**
   * owner: may do everything; member: may do everything except API keys, users and applications; finance:
   * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
   * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
   * without payment files and complete account numbers
   */
  readonly role: Role;
}

export interface CreateWebhookEndpointBody {
  /** push: events are sent to the URL; pull: it has none, and consumers claim its events */
  readonly delivery?: EndpointDelivery | undefined;
  /**
   * where events are sent, including pending ones; http or https, without credentials and fragment, at a public
   * address
   */
  readonly url?: string | undefined;
  /** a note of yours */
  readonly description?: string | null | undefined;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner?: string | null | undefined;
  /** your own id of the endpoint, unique in the account */
  readonly external_id?: string | null | undefined;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link; an e-mail address
   */
  readonly contact_email?: string | null | undefined;
  /** the types of events that it receives; names such as payout.paid or payout.*; null = all */
  readonly event_types?: readonly string[] | null | undefined;
  /**
   * conditions on the payload; conditions on the payload that must all hold: a path, and a value or operators
   * ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or take lists of
   * filters. At most 4,096 bytes
   */
  readonly filter?: Readonly<Record<string, unknown>> | null | undefined;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status?: EndpointStatus | undefined;
  /**
   * events with the same ordering key are sent one after the other, in the order in which they were published;
   * applies to events published from now on; false releases the events that wait
   */
  readonly ordered?: boolean | undefined;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch?: BatchInput | null | undefined;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit?: number | null | undefined;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent; null =
   * no limit
   */
  readonly max_age?: number | null | undefined;
  /** your own headers, sent with every delivery; values by name; null removes a header, others stay */
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload?: PayloadForm | undefined;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version?: ApiVersion | undefined;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing?: SigningScheme | undefined;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing?: CustomSigningInput | null | undefined;
  /**
   * a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays
   * if the scheme can use it, else a new one is created
   */
  readonly secret?: string | undefined;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature?: SecondSignatureInput | null | undefined;
  /**
   * an HTTP proxy that requests go through, with user and password if it needs them:
   * http://user:password@proxy:3128; null = that of the server, if any
   */
  readonly proxy?: string | null | undefined;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate?: ClientCertificateInput | null | undefined;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials?: ClientCredentialsInput | null | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface CreateWebhookEndpointTokenBody {
  /** For how long the previous secret signs as well, in seconds. */
  readonly overlap_seconds?: number | undefined;
}

/** ISO 4217: in lower case in responses and events, in any case in requests */
export type Currency = string;

export interface CustomSigning {
  /** the header of the signature, in lower case */
  readonly header: string;
  /** the signed text: {body}, and optionally {id}, {timestamp} and {url} */
  readonly content: string;
  /** the value of the header: {signature}, and optionally {timestamp} and {id} */
  readonly value: string;
  /** How bytes are written as text. */
  readonly encoding: SignatureEncoding;
  /** the hash function of the HMAC */
  readonly algorithm: SignatureAlgorithm;
  /** the prefix of new secrets; it is part of the key */
  readonly secret_prefix: string;
  /**
   * further headers that a receiver needs to verify, by name: {timestamp} or {id}, with optional text around it;
   * names in lower case
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** with `signing: custom`, and only then */
export interface CustomSigningInput {
  /** the header of the signature */
  readonly header: string;
  /** the signed text: {body}, and optionally {id}, {timestamp} and {url} */
  readonly content: string;
  /** the value of the header: {signature}, and optionally {timestamp} and {id}; default {signature} */
  readonly value?: string | undefined;
  /** How bytes are written as text. */
  readonly encoding: SignatureEncoding;
  /** the hash function of the HMAC */
  readonly algorithm?: SignatureAlgorithm | undefined;
  /** the prefix of new secrets; it is part of the key */
  readonly secret_prefix?: string | undefined;
  /**
   * further headers that a receiver needs to verify, by name: {timestamp} or {id}, with optional text around it;
   * default none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** YYYY-MM-DD, from 1970 to 2999: a day in the time zone of the account */
export type Day = string;

/** the account that SEPA transfers are paid from */
export interface Debtor {
  /** at most 70 characters as banks write it */
  readonly name: string;
  /** only its end, such as …2051, for callers who may not download payment files */
  readonly iban: string;
  /** The BIC of the bank; null if it is not needed. */
  readonly bic: string | null;
  /** the message that your bank takes; default pain.001.001.09 */
  readonly message: SepaMessage;
  /** payments in one file; default 10,000. More are split into parts of about the same size */
  readonly rows_per_file: number;
  /** instant transfers (SCT Inst) in every file whose request does not choose; default false */
  readonly is_instant: boolean;
}

export interface DeliveryAnalytics {
  /** The type of the record. */
  readonly object: 'delivery_analytics';
  /** The length of an interval of the series. */
  readonly interval: 'minute' | 'hour' | 'day';
  /** of the account, for days */
  readonly time_zone: string;
  /** the beginning of the first bucket */
  readonly from: Timestamp;
  /** the end of the last bucket, exclusive */
  readonly to: Timestamp;
  /** as requested; null = all endpoints */
  readonly webhook_endpoint_id: string | null;
  /** as requested; null = all owners */
  readonly owner: string | null;
  /** every interval, including empty ones */
  readonly buckets: readonly DeliveryBucket[];
  /** Sums of the whole series. */
  readonly totals: DeliverySums;
}

export interface DeliveryBucket {
  /** When the interval begins. */
  readonly starts_at: Timestamp;
  /** deliveries of events published in the bucket: one for each endpoint of an event */
  readonly published: number;
  /** those of them that are delivered by now */
  readonly delivered: number;
  /** those of them that have failed by now */
  readonly failed: number;
  /** those of them that are cancelled by now; the rest is pending or held */
  readonly cancelled: number;
  /** attempts that began in the bucket, of any event */
  readonly attempts: number;
  /** milliseconds, off by at most 9 %: half of the attempts took at most this long; null without attempts */
  readonly p50_ms: number | null;
  /** milliseconds, off by at most 9 %: 95 % of the attempts took at most this long */
  readonly p95_ms: number | null;
  /** milliseconds, off by at most 9 %: 99 % of the attempts took at most this long */
  readonly p99_ms: number | null;
  /** The responses of the receiver, by class. */
  readonly answers: AnswerCounts;
}

/** the number of endpoints by delivery status; all 0: no endpoint gets it */
export interface DeliveryCounts {
  /** Deliveries that wait for an attempt. */
  readonly pending: number;
  /** Deliveries that wait because the endpoint is disabled. */
  readonly held: number;
  /** Deliveries that the receiver accepted. */
  readonly delivered: number;
  /** Deliveries whose attempts are used up. */
  readonly failed: number;
  /** How many are cancelled: discarded, or given up by the receiver. */
  readonly cancelled: number;
  /** endpoints whose filter excluded it when it was published */
  readonly filtered: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled' | 'held';

/** the same over all buckets */
export interface DeliverySums {
  /** deliveries of events published in the bucket: one for each endpoint of an event */
  readonly published: number;
  /** those of them that are delivered by now */
  readonly delivered: number;
  /** those of them that have failed by now */
  readonly failed: number;
  /** those of them that are cancelled by now; the rest is pending or held */
  readonly cancelled: number;
  /** attempts that began in the bucket, of any event */
  readonly attempts: number;
  /** milliseconds, off by at most 9 %: half of the attempts took at most this long; null without attempts */
  readonly p50_ms: number | null;
  /** milliseconds, off by at most 9 %: 95 % of the attempts took at most this long */
  readonly p95_ms: number | null;
  /** milliseconds, off by at most 9 %: 99 % of the attempts took at most this long */
  readonly p99_ms: number | null;
  /** The responses of the receiver, by class. */
  readonly answers: AnswerCounts;
}

export interface DestinationChange {
  /** The field that the column gives. */
  readonly field: CorrectedField;
  /** as it was paid; of an account number the end */
  readonly from: string | null;
  /** what the bank says; of an account number the end */
  readonly to: string;
}

export interface DestinationCorrection {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'destination_correction';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** the name of the affiliate */
  readonly name: string | null;
  /** the payout whose payment the bank corrected */
  readonly payout_id: string;
  /** of the destination; null: the one for all currencies */
  readonly currency: Currency | null;
  /** the change code of Nacha, C01 to C07 */
  readonly code: string;
  /** what the bank corrects */
  readonly changes: readonly DestinationChange[];
  /** open: to be decided. outdated: the destination was replaced since, so it cannot be accepted */
  readonly status: CorrectionStatus;
  /** when the bank sent it, YYYY-MM-DD */
  readonly received_on: string;
  /** when the change must be made: 6 banking days later, YYYY-MM-DD */
  readonly due_on: string;
  /** who accepted or dismissed it */
  readonly decided_by: {
    /** The kind. */
    readonly kind: ActorKind;
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string | null;
  } | null;
  /** When the decision was made; null while it is open. */
  readonly decided_at: Timestamp | null;
}

export type DestinationType = 'paypal' | 'wise' | 'other' | 'wise_bank' | 'sepa' | 'ach';

export type DisabledReason = 'manual' | 'failing' | 'gone' | 'requested';

export interface DiscardEventsOfWebhookEndpointBody {
  /** events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the account */
  readonly since: string;
  /** events created before it, including a whole day; at most now, which is the default */
  readonly until?: string | undefined;
  /** names such as payout.paid or payout.*; null = all */
  readonly types?: readonly string[] | null | undefined;
}

export type EndpointDelivery = 'push' | 'pull';

export type EndpointStatus = 'enabled' | 'disabled';

export interface Erasure {
  /** The type of the record. */
  readonly object: 'erasure';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** in_progress: commissions and the webhook log are still looked through */
  readonly status: ErasureStatus;
  /** When it was requested. */
  readonly requested_at: Timestamp;
  /** When it was completed; null before that. */
  readonly completed_at: Timestamp | null;
}

export type ErasureStatus = 'in_progress' | 'completed';

/** a whole event, as sent */
export interface Event {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes?: Changes | undefined;
  /** The records of this page, in the requested order. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventBatch {
  /** The type of the record. */
  readonly object: 'event_batch';
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** its index in the request */
    readonly index: number;
    /** 201 new, 200 published before */
    readonly status: number;
    /** The stored event. */
    readonly event: Event;
  }[];
}

export type EventOwnerRule = 'optional' | 'required';

export interface EventType {
  /** The type of the record. */
  readonly object: 'event_type';
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /** payhook: Payhook publishes it; own: you do */
  readonly origin: EventTypeOrigin;
  /** when it happens */
  readonly description: string;
  /** shown together with the others of the group */
  readonly group: string | null;
  /** null = it is not deprecated */
  readonly deprecation: string | null;
  /** the JSON schema of the whole event */
  readonly schema: Readonly<Record<string, unknown>>;
  /** An example of the whole event. */
  readonly example: Event | null;
  /** the schema of `data` of an own type, as you set it */
  readonly data_schema: Readonly<Record<string, unknown>> | null;
  /** The last event that violated the schema. */
  readonly last_violation: SchemaViolation | null;
}

export type EventTypeOrigin = 'payhook' | 'own';

export type EventValidationRule = 'off' | 'warn' | 'refuse';

export type ExclusionReason =
  | 'below_minimum'
  | 'negative_balance'
  | 'on_hold'
  | 'affiliate_inactive'
  | 'not_ready'
  | 'form_missing'
  | 'form_expired';

export interface ExtendWebhookLeasesBody {
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** The id of the record. */
    readonly id: string;
    /** of this claim */
    readonly lease_id: string;
  }[];
  /** from now; 0 returns the events, without an attempt */
  readonly lease_seconds: number;
}

export interface FilterTest {
  /** The type of the record. */
  readonly object: 'filter_test';
  /** whether the endpoint would get the event */
  readonly matches: boolean;
  /**
   * conditions on the payload that must all hold: a path, and a value or operators ($eq, $ne, $gt, $gte, $lt,
   * $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or take lists of filters. At most 4,096 bytes
   */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** each condition separately, in the order of the filter */
  readonly conditions: readonly JudgedCondition[];
}

export type FoundType = 'missing' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export type GrantEnd = 'merchant' | 'application' | 'reuse' | 'deleted' | 'user_removed' | 'user_not_owner';

export type GrantStatus = 'active' | 'revoked';

export type HeldAction = 'send' | 'discard';

export interface Import {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'import';
  /** The kind. */
  readonly kind: 'affiliates' | 'commissions';
  /** The status. */
  readonly status: 'completed' | 'undone';
  /** The file as it was uploaded. */
  readonly file: ImportedFile;
  /** How the file is written. */
  readonly dialect: ImportDialect;
  /** The field of each column. */
  readonly mapping: ColumnMapping;
  /** what nobody had said, in words */
  readonly guessed: readonly string[];
  /** lines read */
  readonly lines: number;
  /** How many records are new. */
  readonly created: number;
  /** How many records changed. */
  readonly updated: number;
  /** How many records were stored before with the same content. */
  readonly unchanged: number;
  /** left out, because their status says that they are not owed */
  readonly skipped: number;
  /** bad lines */
  readonly failed: number;
  /** paid payouts made of lines that were paid elsewhere */
  readonly payouts: number;
  /** sums of the good lines */
  readonly totals: readonly {
    /** The currency of the amounts. */
    readonly currency: Currency;
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many there are. */
    readonly count: number;
  }[];
  /** Who created it: the id of a key, a user or an application. */
  readonly created_by: string;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** Who undid it: the id of a key, a user or an application; null if nobody did. */
  readonly undone_by: string | null;
  /** When it was undone; null if it was not. */
  readonly undone_at: Timestamp | null;
  /** when what its undo needs was deleted; null = it can be undone while nothing of it is in use */
  readonly undo_ended_at: Timestamp | null;
}

export interface ImportColumn {
  /** The name of the column in the file. */
  readonly column: string;
  /** null = ignored */
  readonly field: string | null;
  /** how it is known */
  readonly source: 'given' | 'saved' | 'exact' | 'synonym' | 'values' | 'none';
  /** The first values of the column. */
  readonly samples: readonly string[];
}

export interface ImportCounts {
  /** lines read */
  readonly lines: number;
  /** How many records are new. */
  readonly created: number;
  /** How many records changed. */
  readonly updated: number;
  /** How many records were stored before with the same content. */
  readonly unchanged: number;
  /** left out, because their status says that they are not owed */
  readonly skipped: number;
  /** bad lines */
  readonly failed: number;
  /** paid payouts made of lines that were paid elsewhere */
  readonly payouts: number;
  /** sums of the good lines */
  readonly totals: readonly {
    /** The currency of the amounts. */
    readonly currency: Currency;
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many commissions have the currency. */
    readonly count: number;
  }[];
  /** what is wrong with the first 1,000 bad lines */
  readonly errors: readonly ImportError[];
  /** the same errors by column and rule, the most frequent first */
  readonly groups: readonly ImportErrorGroup[];
}

export interface ImportDialect {
  /** How bytes are written as text. */
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** The character between columns. */
  readonly separator: 'comma' | 'semicolon' | 'tab' | 'bar';
  /** The characters at the end of a line. */
  readonly line_end: 'lf' | 'crlf' | 'cr' | 'mixed' | null;
  /** The decimal sign of amounts. */
  readonly decimal: 'point' | 'comma';
  /** The order of day, month and year. */
  readonly dates: 'iso' | 'dmy' | 'mdy';
  /** open: it has no line end, and the file was said to be whole */
  readonly last_line: 'ended' | 'open';
  /** the line that names the columns */
  readonly header_row?: number | undefined;
  /** of a workbook */
  readonly sheet?: string | undefined;
  /** what was said that words of the file mean, by field */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

export interface ImportError {
  /** the line of the file, or the row of the sheet */
  readonly line: number;
  /** the column of the file */
  readonly column: string | null;
  /** The problem in words, for people. */
  readonly message: string;
}

export interface ImportErrorGroup {
  /** the column of the file */
  readonly column: string | null;
  /** without the value, where several lines have the error */
  readonly message: string;
  /** How many there are. */
  readonly count: number;
  /** three at most */
  readonly first: readonly ImportError[];
}

export interface ImportMapping {
  /** The name. */
  readonly name: string;
  /** The type of the record. */
  readonly object: 'import_mapping';
  /** The kind. */
  readonly kind: 'affiliates' | 'commissions';
  /** of the files it is for, in lower case */
  readonly columns: readonly string[];
  /** The field of each column. */
  readonly mapping: ColumnMapping;
  /** the other settings for such files */
  readonly settings: Readonly<Record<string, string>>;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface ImportPreview {
  /** The type of the record. */
  readonly object: 'import_preview';
  /** The kind. */
  readonly kind: 'affiliates' | 'commissions';
  /** The file as it was uploaded. */
  readonly file: UploadedFile;
  /** How the file is written. */
  readonly dialect: ImportDialect;
  /** The field of each column. */
  readonly mapping: ColumnMapping;
  /** The sheets of the workbook; null for other files. */
  readonly workbook: ImportWorkbook | null;
  /** the saved mapping that was used */
  readonly mapping_name: string | null;
  /** The columns of the file. */
  readonly columns: readonly ImportColumn[];
  /** the columns that have words of a fixed set, or countries */
  readonly values: readonly ImportValues[];
  /** what nobody had said, in words */
  readonly guessed: readonly string[];
  /** what must be answered before the file can be imported */
  readonly questions: readonly ImportQuestion[];
  /** the first lines as they are read; `fields` is empty for one that is left out */
  readonly rows: readonly ImportRow[];
  /** The result if it were imported now; null while questions are open. */
  readonly report: ImportCounts | null;
}

export interface ImportProgress {
  /** The type of the record. */
  readonly object: 'import_progress';
  /**
   * looking: how the file is to be read; reading: its lines; writing: comparing them with what is there, and
   * writing. null: no request with this key is being worked on: the file has not arrived as a whole, or it is
   * done
   */
  readonly stage: 'looking' | 'reading' | 'writing' | null;
  /** good lines so far, while they are read */
  readonly lines_read: number | null;
}

export interface ImportQuestion {
  /** What the question is about. */
  readonly about: 'dates' | 'decimal' | 'mapping' | 'paid' | 'values' | 'status_columns' | 'totals';
  /** The problem in words, for people. */
  readonly message: string;
  /** The possible answers. */
  readonly choices: readonly {
    /** The name for people. */
    readonly label: string;
    /** what the next request says: parameters; `mapping` and `values` as JSON to merge into them */
    readonly query: Readonly<Record<string, unknown>>;
  }[];
}

export interface ImportReport {
  /** The type of the record. */
  readonly object: 'import_report';
  /** null in a dry run */
  readonly import_id: string | null;
  /** Whether nothing was stored, because the request only checked the file. */
  readonly dry_run: boolean;
  /** The kind. */
  readonly kind: 'affiliates' | 'commissions';
  /** The file as it was uploaded. */
  readonly file: UploadedFile;
  /** How the file is written. */
  readonly dialect: ImportDialect;
  /** The field of each column. */
  readonly mapping: ColumnMapping;
  /** what nobody had said, in words */
  readonly guessed: readonly string[];
  /** lines read */
  readonly lines: number;
  /** How many records are new. */
  readonly created: number;
  /** How many records changed. */
  readonly updated: number;
  /** How many records were stored before with the same content. */
  readonly unchanged: number;
  /** left out, because their status says that they are not owed */
  readonly skipped: number;
  /** bad lines */
  readonly failed: number;
  /** paid payouts made of lines that were paid elsewhere */
  readonly payouts: number;
  /** sums of the good lines */
  readonly totals: readonly {
    /** The currency of the amounts. */
    readonly currency: Currency;
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many there are. */
    readonly count: number;
  }[];
  /** what is wrong with the first 1,000 bad lines */
  readonly errors: readonly ImportError[];
  /** the same errors by column and rule, the most frequent first */
  readonly groups: readonly ImportErrorGroup[];
}

export interface ImportRow {
  /** The number of the line in the file, from 1. */
  readonly line: number;
  /** The values of the line, by field. */
  readonly fields: Readonly<Record<string, string | null>>;
}

export interface ImportUndoneEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'import.undone';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: Import;
}

export interface ImportValues {
  /** The name of the column in the file. */
  readonly column: string;
  /** The field that the column gives. */
  readonly field: string;
  /** what a value can mean; null = any country, by two letters */
  readonly words: readonly string[] | null;
  /** the most frequent first, 100 at most, those that are not known before others */
  readonly values: readonly {
    /** as the file has it */
    readonly value: string;
    /** How many lines there are, without the head. */
    readonly lines: number;
    /** null: not known, or its lines are refused */
    readonly means: string | null;
    /**
     * given: by the request or a saved mapping; exact: one of our words; synonym: a common word for one; none: not
     * known
     */
    readonly source: 'given' | 'exact' | 'synonym' | 'none';
  }[];
  /** how many different values are not listed */
  readonly more: number;
}

/** null: the file is CSV */
export interface ImportWorkbook {
  /** The sheets, in their order. */
  readonly sheets: readonly {
    /** The name. */
    readonly name: string;
    /** Whether the sheet is hidden. */
    readonly is_hidden: boolean;
  }[];
}

export interface ImportedFile {
  /** The name. */
  readonly name: string | null;
  /** The size in bytes. */
  readonly bytes: number;
  /**
   * a keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key of the
   * server changes; null if dropped since, or if the download was cut off
   */
  readonly digest: string | null;
}

/** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
export type InstantOrDay = string;

export interface Invoice {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'invoice';
  /** The kind. */
  readonly kind: InvoiceKind;
  /** without gaps within its series */
  readonly number: string;
  /** The payout. */
  readonly payout_id: string;
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** the amount paid or returned: net, tax and rounding */
  readonly amount: number;
  /** minor units of the currency given with it */
  readonly net_amount: number;
  /** minor units of the currency given with it */
  readonly tax_amount: number;
  /** 0 or 1: the unit that no net amount plus its tax reaches */
  readonly rounding_amount: number;
  /** S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT */
  readonly tax_category: TaxCategory;
  /** hundredths of a percent: 1900 = 19 % */
  readonly tax_rate: number;
  /** why no tax is due */
  readonly exemption: string | null;
  /** what the country of the seller requires in addition to "Self-billing" */
  readonly wording: readonly string[];
  /** the invoice that a credit note corrects */
  readonly corrects_id: string | null;
  /** YYYY-MM-DD in the time zone of the account */
  readonly issued_on: string;
  /** the day of the payment */
  readonly supplied_on: string;
  /**
   * both sides are registered for VAT in one country where a PDF is not an invoice between businesses: what
   * takes it there
   */
  readonly channel: InvoiceChannel | null;
  /** The affiliate who is paid, as on the invoice. */
  readonly seller: InvoiceSeller;
  /** The account that pays, as on the invoice. */
  readonly buyer: InvoiceBuyer;
  /** The service that is invoiced. */
  readonly description: string;
  /** The text on the bank statement; null if there is none. */
  readonly payment_reference: string | null;
  /** the tax in the currency of the seller's country */
  readonly national_tax: InvoiceNationalTax | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export interface InvoiceBuyer {
  /** The name. */
  readonly name: string;
  /** The postal address. */
  readonly address: PostalAddress;
  /** ISO 3166-1 alpha-2 */
  readonly country: string;
  /** SIREN or SIRET of a French business */
  readonly siren: string | null;
  /** The VAT id; null if unknown. */
  readonly vat_id: string | null;
  /** its end, such as …6789; the file has all of it */
  readonly tax_number: string | null;
}

export type InvoiceChannel = 'peppol' | 'approved_platform' | 'ksef';

export type InvoiceKind = 'invoice' | 'credit_note';

export type InvoiceLegalType = 'person' | 'business';

export interface InvoiceNationalTax {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units of the currency given with it */
  readonly amount: number;
  /** the value of one unit of `currency` of the invoice */
  readonly rate: string;
  /** YYYY-MM-DD */
  readonly quoted_on: string;
  /** who published the rate */
  readonly source: string;
}

export interface InvoiceRateInput {
  /** the currency of the invoices */
  readonly currency: Currency;
  /** that of the country of the supplier */
  readonly national_currency: Currency;
  /** what one unit of `currency` is worth in `national_currency`: a decimal above 0 */
  readonly rate: string;
  /** the day of the rate, YYYY-MM-DD, within 31 days of the payment */
  readonly quoted_on: string;
  /** who published it, as the invoice says it */
  readonly source: string;
}

export interface InvoiceSeller {
  /** The name. */
  readonly name: string;
  /** The postal address. */
  readonly address: PostalAddress;
  /** ISO 3166-1 alpha-2 */
  readonly country: string;
  /** SIREN or SIRET of a French business */
  readonly siren: string | null;
  /** The tax id; null if unknown. */
  readonly tax_id: InvoiceTaxId | null;
}

export type InvoiceSkipReason =
  | 'no_agreement'
  | 'agreement_expired'
  | 'no_rule'
  | 'no_rate'
  | 'no_tax_id'
  | 'tax_not_paid';

export interface InvoiceTaxId {
  /** The type of the tax id. */
  readonly type: InvoiceTaxIdType;
  /** the last four characters, or three of a short one; the file has all of it */
  readonly ending: string;
  /** it was lost with the secret key, so no file can be made */
  readonly is_lost: boolean;
}

export type InvoiceTaxIdType = 'vat' | 'other';

export interface InvoiceTaxRule {
  /** ISO 3166-1 alpha-2; null = any */
  readonly country: string | null;
  /** null = any */
  readonly legal_type: InvoiceLegalType | null;
  /** null = with or without one */
  readonly has_vat_id: boolean | null;
  /** S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT */
  readonly category: TaxCategory;
  /** hundredths of a percent: 1900 = 19 % */
  readonly rate: number;
  /** why no tax is due, as the invoice says it; wanted for E, AE and O */
  readonly exemption: string | null;
}

/** self-billing invoices; null = none are issued */
export interface Invoicing {
  /** how numbers of invoices begin; default SB- */
  readonly prefix: string;
  /** the first one that fits the tax profile of the affiliate counts; where none fits, nothing is issued */
  readonly rules: readonly InvoiceTaxRule[];
}

export interface IssueInvoicesBody {
  /** exchange rates, for invoices whose VAT must be stated in the currency of a country */
  readonly rates?: readonly InvoiceRateInput[] | undefined;
}

export interface IssuedInvoices {
  /** The type of the record. */
  readonly object: 'issued_invoices';
  /** the number issued by this request */
  readonly issued: number;
  /** paid lines without an invoice, the first 1,000 */
  readonly skipped: readonly {
    /** The affiliate. */
    readonly affiliate_id: number;
    /** The currency of the amounts. */
    readonly currency: Currency;
    /**
     * no_agreement: the affiliate had not agreed to self-billing when it was paid; agreement_expired: the
     * agreement had ended before the payment; no_rule: no rule of `invoicing` fits the tax profile of the
     * affiliate; no_rate: the law wants the tax in `national_currency`: issue again with a rate; no_tax_id: the
     * category requires a VAT id of the affiliate (S: or a tax number; AE: and your own); tax_not_paid: the
     * commissions are net, and their line was made without the tax that its rule now wants
     */
    readonly reason: InvoiceSkipReason;
    /** only with `no_rate` */
    readonly national_currency?: Currency | undefined;
  }[];
  /** there are more lines than one request handles: repeat it */
  readonly has_more: boolean;
}

export interface JudgedCondition {
  /** The path of the condition in the event. */
  readonly path: string;
  /** The operator of the condition. */
  readonly operator: string;
  /** the value in the filter */
  readonly value: unknown;
  /** Whether the condition holds. */
  readonly matches: boolean;
  /** the type of the value in the payload */
  readonly found_type: FoundType;
  /** the value in the payload; null for lists and objects */
  readonly found: unknown;
}

export type LeaseResult = 'extended' | 'returned' | 'lease_lost';

export type LegalType = 'person' | 'business';

export interface Me {
  /** The type of the record. */
  readonly object: 'me';
  /** operator: the command line on the machine of the server; portal: who opened a portal link */
  readonly kind: ActorKind;
  /** of the key, the user, the application or the portal link */
  readonly id: string;
  /** The name. */
  readonly name: string | null;
  /** of a user */
  readonly email: string | null;
  /**
   * owner: may do everything; member: may do everything except API keys, users and applications; finance:
   * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
   * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
   * without payment files and complete account numbers
   */
  readonly role: Role;
  /** The scopes it holds. */
  readonly scopes: readonly (
    | 'account'
    | 'users'
    | 'customers'
    | 'checkouts'
    | 'subscriptions'
    | 'subscription_metered_billing'
    | 'integrations'
    | 'orders'
    | 'payments'
    | 'paymentplans'
    | 'webhooks'
    | 'promos'
    | 'affiliates'
    | 'products'
    | 'analytics'
    | 'reports'
  )[];
  /** what it may do; each operation names the one that it needs as `x-capability` */
  readonly capabilities: readonly Capability[];
  /** whether it may use operations that need an API key or an owner */
  readonly has_full_access: boolean;
  /** of a user who is signed in */
  readonly session_id: string | null;
  /** the token that every write with this session sends as `Payhook-CSRF` */
  readonly csrf_token: string | null;
  /** The portal of the caller; null for other callers. */
  readonly portal: Portal | null;
  /** The account of the caller. */
  readonly account: {
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string;
    /** whether it has example data, and may be deleted */
    readonly is_demo: boolean;
    /** The currency of amounts that name none. */
    readonly default_currency: Currency;
    /** IANA name */
    readonly time_zone: string;
  };
  /** the accounts a user is a member of, the last used first; for a key or token its one account */
  readonly accounts: readonly {
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string;
    /**
     * owner: may do everything; member: may do everything except API keys, users and applications; finance:
     * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
     * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
     * without payment files and complete account numbers
     */
    readonly role: Role;
    /** Whether it is the account of this request. */
    readonly is_current: boolean;
    /** Whether it is an account of `payhook demo`, with invented data. */
    readonly is_demo: boolean;
  }[];
  /**
   * whether the installation has several cells: a user may then have accounts in others, which
   * `/sign-in?another` leads to
   */
  readonly has_several_cells: boolean;
}

/**
 * your own keys and texts: at most 50, keys of up to 40 and texts of up to 500 characters; a change replaces
 * all of them
 */
export type Metadata = Readonly<Record<string, string>>;

export type MissingTaxForm = 'w9' | 'w8';

export interface NeededPaymentFile {
  /** as in the path of the download */
  readonly format: 'paypal' | 'wise' | 'wise_bank' | 'sepa' | 'nacha';
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** minor units of the currency given with it */
  readonly amount: number;
  /** the number of files its rows need; 0 if it would be empty */
  readonly part_count: number;
  /** affiliates in the file above `paypal_payment_limit` */
  readonly above_limit_count: number;
  /** How many affiliates the file leaves out. */
  readonly skipped_count: number;
  /** minor units of the currency given with it */
  readonly skipped_amount: number;
  /** affiliates who are paid this way but cannot be in the file, at most 100 */
  readonly skipped: readonly {
    /** The affiliate. */
    readonly affiliate_id: number;
    /** The name. */
    readonly name: string | null;
    /** minor units of the currency given with it */
    readonly amount: number;
    /** why the file cannot pay them */
    readonly reason: string;
  }[];
  /** How many names are written with other characters in the file. */
  readonly rewritten_count: number;
  /**
   * affiliates whose account holder is spelled differently in the file, because banks take Latin letters without
   * accents; at most 100. The bank of the payee compares names: set account_holder to its spelling if that
   * differs
   */
  readonly rewritten: readonly {
    /** The affiliate. */
    readonly affiliate_id: number;
    /** as entered */
    readonly account_holder: string;
    /** as written in the file */
    readonly holder_in_files: string;
  }[];
  /** rules by which a bank may refuse payments that are in the file */
  readonly warnings: readonly PaymentFileWarning[];
  /** the last 100, newest first */
  readonly downloads: readonly PaymentFileDownload[];
}

export interface NewAlertChannel {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'alert_channel';
  /** The name. */
  readonly name: string;
  /**
   * webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack and
   * Mattermost
   */
  readonly format: AlertFormat;
  /** the host of the URL */
  readonly host: string;
  /** the alerts it receives */
  readonly kinds: readonly AlertKind[];
  /** when a message was last accepted, within the last week */
  readonly last_sent_at: Timestamp | null;
  /** why the last try failed; null if it succeeded */
  readonly last_error: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** signs the messages of a webhook; shown once; null for Slack, and when a stored response is replayed */
  readonly secret: string | null;
}

export interface NewApiKey {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'api_key';
  /** The name. */
  readonly name: string;
  /** the first and last characters of the key */
  readonly hint: string;
  /** the id of the key or user that made it */
  readonly created_by: string;
  /** to the minute */
  readonly last_used_at: Timestamp | null;
  /** When it was revoked; null while it is valid. */
  readonly revoked_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** the secret, shown once; null when a stored answer is replayed */
  readonly key: string | null;
}

export type NewCommissionType = 'sale' | 'recurring' | 'bonus';

export interface NewOAuthApplication {
  /** the client_id */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'oauth_application';
  /** The name. */
  readonly name: string;
  /** confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE */
  readonly kind: ApplicationKind;
  /** Where people return to after they granted access. */
  readonly redirect_uris: readonly string[];
  /** the scopes that merchants can grant it at most */
  readonly scopes: readonly Scope[];
  /** the first and last characters of the secret; null for public applications */
  readonly client_secret_hint: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** shown once; null for public applications, and when a stored answer is replayed */
  readonly client_secret: string | null;
}

export interface NewPortalLink {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'portal_link';
  /** the endpoint for which it was created */
  readonly webhook_endpoint_id: string;
  /** the portal shows all endpoints of this owner; null = only this endpoint */
  readonly owner: string | null;
  /** the portal can change and send nothing, and shows no secrets */
  readonly read_only: boolean;
  /** the event types that portal users may subscribe to; null = all */
  readonly event_types: readonly string[] | null;
  /** the filter of endpoints created in the portal; null = none */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** open: its portal is open; ended: its portal has ended; expired: it was not opened in time */
  readonly status: PortalLinkStatus;
  /** the id of the key or user that created it */
  readonly created_by: string;
  /** until when it can be opened */
  readonly expires_at: Timestamp;
  /** when it was opened; a link opens once */
  readonly used_at: Timestamp | null;
  /** when the portal it opened ends */
  readonly ends_at: Timestamp | null;
  /** When it was revoked; null while it is valid. */
  readonly revoked_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** opens the portal once; shown once; null when a stored response is replayed */
  readonly url: string | null;
}

export interface NewUser {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'user';
  /** The e-mail address. */
  readonly email: string;
  /** The name. */
  readonly name: string;
  /**
   * owner: may do everything; member: may do everything except API keys, users and applications; finance:
   * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
   * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
   * without payment files and complete account numbers
   */
  readonly role: Role;
  /** invited: has not accepted the invitation yet */
  readonly status: UserStatus;
  /** When the user was removed; null while the user belongs to the account. */
  readonly removed_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** a link that works once; shown once, and null when a stored answer is replayed */
  readonly invitation_url: string | null;
  /**
   * whether the link is also sent to the user by e-mail: not where the server sends none, nor when the user has
   * had 5 letters, or the account has sent 50, within an hour
   */
  readonly is_emailed: boolean;
}

export interface NewWebhookEndpoint {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_endpoint';
  /** push: events are sent to the URL; pull: it has none, and consumers claim its events */
  readonly delivery: EndpointDelivery;
  /** where events are sent, including pending ones; null with pull */
  readonly url: string | null;
  /** a note of yours */
  readonly description: string | null;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner: string | null;
  /** your own id of the endpoint, unique in the account */
  readonly external_id: string | null;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link
   */
  readonly contact_email: string | null;
  /**
   * off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail; none:
   * there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was not opened for
   * 7 days; confirmed: the address gets e-mails
   */
  readonly contact_status: ContactStatus;
  /** the types of events that it receives; null = all */
  readonly event_types: readonly string[] | null;
  /** conditions on the payload; null = none */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status: EndpointStatus;
  /**
   * manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it answered
   * `webhook-delivery: disable`
   */
  readonly disabled_reason: DisabledReason | null;
  /** When it was disabled; null while it is enabled. */
  readonly disabled_at: Timestamp | null;
  /** nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503, 504) */
  readonly paused_until: Timestamp | null;
  /** when the first waiting event is due; null if no event is waiting or the endpoint is disabled */
  readonly next_attempt_at: Timestamp | null;
  /** events with the same ordering key are sent one after the other, in the order in which they were published */
  readonly ordered: boolean;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch: Batch | null;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit: number | null;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent;
   * seconds; null = no limit
   */
  readonly max_age: number | null;
  /** your own headers, sent with every delivery; the names; the values are never shown */
  readonly headers: readonly string[];
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload: PayloadForm;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version: string;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing: SigningScheme;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing: CustomSigning | null;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature: SecondSignature | null;
  /** the HTTP proxy of requests, without its password; null = that of the server, if any */
  readonly proxy: string | null;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate: ClientCertificate | null;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials: ClientCredentials | null;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When the first of the current failures happened; null after a success. */
  readonly first_failure_at: Timestamp | null;
  /** when a consumer last asked for events, to the minute; null with push */
  readonly last_claimed_at: Timestamp | null;
  /** When a delivery last succeeded; null if none has. */
  readonly last_success_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /**
   * what the receiver verifies with; with `signing: ed25519` the public key; null when a stored answer is
   * replayed
   */
  readonly secret: string | null;
}

export type NoTaxReason = 'no_agreement' | 'agreement_expired' | 'no_rule' | 'no_tax_id' | 'no_invoicing';

export interface NotSent {
  /** The webhook endpoint. */
  readonly webhook_endpoint_id: string;
  /** the current URL of the endpoint; null: it has none */
  readonly url: string | null;
  /**
   * filtered: its filter did not match when the event was published. made_later: the endpoint was created after
   * the event. other_owner: the event was for the endpoints of another owner. not_addressed: the event was for
   * one endpoint only, or reports that this one, or one of another owner, was disabled. not_subscribed: it does
   * not subscribe to the type. subscribed_later: it subscribes to the type now, but did not then, or its record
   * was dropped with its week of the log
   */
  readonly reason: NotSentReason;
}

export type NotSentReason =
  | 'filtered'
  | 'made_later'
  | 'other_owner'
  | 'not_addressed'
  | 'not_subscribed'
  | 'subscribed_later';

export type NoticeLanguage = 'en' | 'de' | 'fr' | 'es';

export interface OAuthApplication {
  /** the client_id */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'oauth_application';
  /** The name. */
  readonly name: string;
  /** confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE */
  readonly kind: ApplicationKind;
  /** Where people return to after they granted access. */
  readonly redirect_uris: readonly string[];
  /** the scopes that merchants can grant it at most */
  readonly scopes: readonly Scope[];
  /** the first and last characters of the secret; null for public applications */
  readonly client_secret_hint: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface OAuthGrant {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'oauth_grant';
  /** The application. */
  readonly application_id: string;
  /** The name of the application. */
  readonly application_name: string;
  /** who granted it */
  readonly user_id: string;
  /** The name of the user. */
  readonly user_name: string;
  /** The scopes it holds. */
  readonly scopes: readonly Scope[];
  /** The status. */
  readonly status: GrantStatus;
  /** When it was last used; null if it never was. */
  readonly last_used_at: Timestamp | null;
  /** When it was revoked; null while it is valid. */
  readonly revoked_at: Timestamp | null;
  /**
   * who ended it: this account, the application itself, a code or refresh token that was used twice, the
   * deletion of the application, the removal of the user, or the user no longer being an owner
   */
  readonly revoked_because: GrantEnd | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

/** whom ACH payments in NACHA files are from, as your bank says */
export interface Originator {
  /** the routing number of the bank that takes the file */
  readonly immediate_destination: string;
  /** the name of that bank; at most 23 characters */
  readonly immediate_destination_name: string;
  /**
   * nine or ten digits that your bank assigned; only its end, such as …2051, for callers who may not download
   * payment files
   */
  readonly immediate_origin: string;
  /** your name at that bank; at most 23 characters */
  readonly immediate_origin_name: string;
  /** your name on the statements of affiliates; at most 16 characters */
  readonly company_name: string;
  /**
   * the ten letters and digits your bank knows you by, often 1 and your EIN; only its end, such as …2051, for
   * callers who may not download payment files
   */
  readonly company_id: string;
  /** the first eight digits of the routing number you pay from */
  readonly originating_dfi: string;
  /**
   * what the payment is, on the statements of affiliates; for businesses (CCD); default PAYOUT; at most 10
   * characters
   */
  readonly entry_description: string;
  /**
   * what the payment is, on the statements of affiliates; for persons (PPD); default PAYROLL, which Nacha
   * requires for pay and commissions since March 2026; at most 10 characters
   */
  readonly person_entry_description: string;
  /** for your bank, if it asks for it; at most 20 characters */
  readonly discretionary_data: string | null;
  /** payments in one file; default 10,000. More are split into several files */
  readonly rows_per_file: number;
}

export interface OwedBalance {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units: the sum of the states */
  readonly owed: number;
  /** a payout without filters would take it now */
  readonly payable: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** not available yet, or held for review */
  readonly on_hold: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** less than the minimum payout of the affiliate */
  readonly below_minimum: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** debts: an amount below zero */
  readonly negative_balance: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** of affiliates who are switched off for payouts */
  readonly not_ready: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** of affiliates who are inactive */
  readonly affiliate_inactive: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** in the unpaid payout */
  readonly in_payout: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
  /** the part of payable whose affiliate has no destination */
  readonly without_destination: {
    /** minor units of the currency given with it */
    readonly amount: number;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
  };
}

export interface OwnSession {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'session';
  /** The user. */
  readonly user_id: string;
  /** the User-Agent header of the browser */
  readonly user_agent: string | null;
  /** the network address that opened it */
  readonly address: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it was last used, to the minute. */
  readonly last_seen_at: Timestamp;
  /** when it ends unless it is used before */
  readonly expires_at: Timestamp;
  /** the account it works in */
  readonly account_id: string;
  /** The name of the account. */
  readonly account_name: string;
  /** whether it is the session of this request */
  readonly is_current: boolean;
}

export interface Pagination {
  /** the number of this page; with `after`, counted from where the walk began */
  readonly page: number;
  /** items per page */
  readonly limit: number;
  /** items across all pages; exact unless the request limited counting with `max_total` */
  readonly total: number;
  /** pages; 0 if there are no items */
  readonly pages: number;
  /** the `after` of the next page, even if rows move meanwhile; null on the last */
  readonly next: string | null;
}

export type PaidMethod = 'paypal' | 'wise' | 'other' | 'wise_bank' | 'sepa' | 'ach';

export interface PaidRow {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** Your own id of the record; null if you gave none. */
  readonly external_id: string | null;
  /** The first name; null if unknown. */
  readonly name_first: string | null;
  /** The last name; null if unknown. */
  readonly name_last: string | null;
  /** The e-mail address. */
  readonly email: string;
  /** The address that PayPal pays; null if unknown. */
  readonly paypal_email: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** How many payouts paid the affiliate. */
  readonly payout_count: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** minor units paid */
  readonly paid_amount: number;
  /** minor units returned in the period, whenever they were paid */
  readonly returned_amount: number;
  /** the difference; below zero if more was returned */
  readonly net_amount: number;
  /** how it was paid, as `paid_through` of the line */
  readonly payout_method: DestinationType | null;
  /** ISO 3166-1 alpha-2 */
  readonly country: string | null;
}

export interface PasswordReset {
  /** The type of the record. */
  readonly object: 'password_reset';
  /** The user. */
  readonly user_id: string;
  /** a link that works once; shown once, and null when a stored answer is replayed */
  readonly reset_url: string | null;
  /**
   * whether the link is also sent to the user by e-mail: not where the server sends none, nor when the user has
   * had 5 letters, or the account has sent 50, within an hour
   */
  readonly is_emailed: boolean;
  /** When it expires. */
  readonly expires_at: Timestamp;
}

export interface PayeeVerification {
  /**
   * whether the name is that of the account, by the bank of the payee. not_possible: it does not say. name_used:
   * the name that the bank has replaced ours, and the bank has not answered since
   */
  readonly result: PayeeVerificationResult;
  /** the name that the bank of the payee has, which it gives for a close match */
  readonly bank_name: string | null;
  /** why, as readable text */
  readonly reason: string | null;
  /** an ISO 20022 code */
  readonly reason_code: string | null;
  /** the account holder that `bank_name` replaced; null: it did not */
  readonly replaced_name: string | null;
  /** the id (MsgId) of the payment file that the bank checked; null: the answer came as a list */
  readonly payment_file: string | null;
  /** when its answer was read */
  readonly verified_at: Timestamp;
}

export type PayeeVerificationAnswer = 'match' | 'close_match' | 'no_match' | 'not_possible';

export type PayeeVerificationResult = 'match' | 'close_match' | 'no_match' | 'not_possible' | 'name_used';

export type PayloadForm = 'full' | 'thin' | 'cloudevents';

export interface PaymentFileChange {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** in the file; null: not in the file */
  readonly amount_then: number | null;
  /** null: a file made now would not contain it */
  readonly amount_now: number | null;
}

export interface PaymentFileDownload {
  /** When the file was downloaded. */
  readonly downloaded_at: Timestamp;
  /** Who did it. */
  readonly by: {
    /** The kind. */
    readonly kind: ActorKind;
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string | null;
  };
  /** the revision of the payout at the download */
  readonly revision: number;
  /** null when the file was not split */
  readonly part: number | null;
  /**
   * a keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key of the
   * server changes; null if dropped since, or if the download was cut off
   */
  readonly digest: string | null;
  /** all parts of a set have the same content; null for the summary */
  readonly file_set_id: string | null;
  /** the set that was downloaded before this one was created; null: none */
  readonly replaces_file_set_id: string | null;
  /** sepa: the MsgId and PmtInfId of the file */
  readonly message_id: string | null;
  /**
   * the payout is unpaid, and a download would now give another file, or another file set was downloaded since:
   * download it again
   */
  readonly is_outdated: boolean;
  /**
   * the number of affiliates whose amount differs between an outdated file and a new one; null if the file is
   * not outdated, was downloaded again, or has several currencies
   */
  readonly change_count: number | null;
  /** the first 100 of them, by affiliate */
  readonly changes: readonly PaymentFileChange[];
}

export interface PaymentFileWarning {
  /** One of six words for the kind of error. */
  readonly code: PaymentFileWarningCode;
  /** the rule, and what to change */
  readonly message: string;
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** the first 20 of them */
  readonly affiliate_ids: readonly number[];
}

export type PaymentFileWarningCode = 'description_not_payroll' | 'message_withdrawn' | 'address_missing';

export interface PaymentFiles {
  /** The type of the record. */
  readonly object: 'payment_files';
  /** The payout. */
  readonly payout_id: string;
  /** The revision of the payout: it rises with every change. */
  readonly revision: number;
  /** The files. */
  readonly files: readonly NeededPaymentFile[];
  /** affiliates paid in another way: their destination or `payout_method` is other */
  readonly by_hand: readonly {
    /** The currency of the amounts. */
    readonly currency: Currency;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
    /** minor units of the currency given with it */
    readonly amount: number;
  }[];
  /** the last 100, newest first */
  readonly summary_downloads: readonly PaymentFileDownload[];
  /**
   * a warning: affiliates who are in several different downloaded files, in the same currency. If two of the
   * files are sent, they are paid twice
   */
  readonly in_several_files_count: number;
  /** the first 100 of them */
  readonly in_several_files: readonly AffiliateInSeveralFiles[];
}

export type PaymentOutcome = 'paid' | 'rejected' | 'returned' | 'pending';

export interface Payout {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_payout';
  /** increases per account, may have gaps */
  readonly number: number;
  /** paid is final */
  readonly status: PayoutStatus;
  /** as normalised and applied */
  readonly filters: Readonly<Record<string, unknown>> | null;
  /** as applied; null = none */
  readonly search: string | null;
  /** the time of creation: it contains what was owed at that time */
  readonly as_of: Timestamp;
  /** null when there are several; amount is null too */
  readonly currency: Currency | null;
  /** minor units of the currency given with it */
  readonly amount: number | null;
  /** one per currency; amount = paid + carried + released once completed */
  readonly totals: readonly PayoutTotal[];
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** the ETag; rises with every change */
  readonly revision: number;
  /** the id of the key, user or application */
  readonly created_by: string;
  /** the schedule that prepared it, which may have been deleted since */
  readonly schedule_id: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** when the money left, as given at completion; default the time of completion */
  readonly paid_at: Timestamp | null;
  /** who completed it */
  readonly paid_by: string | null;
  /** Whether the payout needs approval, and who has decided. */
  readonly approval: Approval;
  /** all lines, or null when there are more than 1,000 */
  readonly affiliates: readonly PayoutLine[] | null;
  /** who was left out, one row per reason */
  readonly excluded: readonly {
    /** the first two are carried forward to the next payout */
    readonly reason: ExclusionReason;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
    /** Sums, one for each currency. */
    readonly totals: readonly {
      /** The currency of the amounts. */
      readonly currency: Currency;
      /** minor units of the currency given with it */
      readonly amount: number;
      /** How many commissions it covers. */
      readonly commission_count: number;
      /** How many affiliates it covers. */
      readonly affiliate_count: number;
    }[];
  }[];
  /**
   * bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
   * affiliate accounts; the first 100, empty once the payout is paid
   */
  readonly shared_destinations: readonly SharedDestination[];
  /** what may point to fraud, by rule: `listPayoutSignals` has the lines and reasons */
  readonly signals: readonly SignalCount[];
}

export interface PayoutApproval {
  /** The type of the record. */
  readonly object: 'payout_approval';
  /** The payout. */
  readonly payout_id: string;
  /** the revision of the payout that this describes */
  readonly revision: number;
  /**
   * `waiting`, `rejected`: a second person must approve this revision before the payout can be paid, see
   * `approval` of the account. `GET …/approval` says how many people must approve and who may
   */
  readonly status: ApprovalStatus;
  /** how many people must approve it; 0 if the account requires no approval or the payout is paid */
  readonly required_count: number;
  /** why two people must approve, as readable text; null when one is enough */
  readonly required_because: string | null;
  /**
   * payees whose name is not that of the account, or could not be compared, by the last answer of their bank:
   * see `listPayoutVerifications`
   */
  readonly mismatch_count: number;
  /** approvals of this revision that count, oldest first */
  readonly approvals: readonly {
    /** The user. */
    readonly user_id: string;
    /** When the user approved. */
    readonly approved_at: Timestamp;
    /** their note */
    readonly note: string | null;
  }[];
  /** who created and changed the payout, oldest first */
  readonly changes: readonly {
    /** the revision that the change produced */
    readonly revision: number;
    /**
     * redirected: the name, readiness or destination of an affiliate in it changed; increased, reduced: an amount
     * did
     */
    readonly change: PayoutChange;
    /** the id of the key, user or application that caused it */
    readonly actor_id: string;
    /** the person behind it; null if unknown */
    readonly user_id: string | null;
    /** When the change was made. */
    readonly changed_at: Timestamp;
  }[];
  /** the users whose role may approve payouts, while the payout is unpaid and needs an approval */
  readonly approvers: readonly {
    /** The user. */
    readonly user_id: string;
    /** Whether the user may approve the payout now. */
    readonly can_approve: boolean;
    /** empty for users who can approve */
    readonly barred_because: readonly {
      /** the reason with which their approval is refused */
      readonly reason: ApprovalBar;
      /** readable text; it begins with "you" for the caller */
      readonly message: string;
      /** who caused the bar */
      readonly actor_id: string;
      /** When it happened. */
      readonly at: Timestamp;
    }[];
  }[];
}

export interface PayoutApprovedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.approved';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export type PayoutChange = 'created' | 'redirected' | 'increased' | 'reduced';

export interface PayoutCreatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.created';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export interface PayoutDeletedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.deleted';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export interface PayoutExclusion {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** the first two are carried forward to the next payout */
  readonly reason: ExclusionReason;
  /** minor units of the currency given with it */
  readonly amount: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
}

/** the value that each field must have, a list of possible values, or an object of operators; all must hold */
export interface PayoutFilters {
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?:
    | number
    | readonly number[]
    | {
        /** Equal to this. */
        readonly eq?: number | undefined;
        /** Different from this. */
        readonly ne?: number | undefined;
        /** One of these. */
        readonly in?: readonly number[] | undefined;
        /** None of these. */
        readonly nin?: readonly number[] | undefined;
      }
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?:
    | number
    | readonly number[]
    | {
        /** Equal to this. */
        readonly eq?: number | undefined;
        /** Different from this. */
        readonly ne?: number | undefined;
        /** One of these. */
        readonly in?: readonly number[] | undefined;
        /** None of these. */
        readonly nin?: readonly number[] | undefined;
      }
    | undefined;
  /** a text of 1 to 255 characters */
  readonly product_id?:
    | string
    | readonly string[]
    | {
        /** Equal to this. */
        readonly eq?: string | undefined;
        /** Different from this. */
        readonly ne?: string | undefined;
        /** One of these. */
        readonly in?: readonly string[] | undefined;
        /** None of these. */
        readonly nin?: readonly string[] | undefined;
      }
    | undefined;
  /** a text of 1 to 255 characters */
  readonly order_id?:
    | string
    | readonly string[]
    | {
        /** Equal to this. */
        readonly eq?: string | undefined;
        /** Different from this. */
        readonly ne?: string | undefined;
        /** One of these. */
        readonly in?: readonly string[] | undefined;
        /** None of these. */
        readonly nin?: readonly string[] | undefined;
      }
    | undefined;
  /** one of paypal, wise, other, wise_bank, sepa, ach */
  readonly payout_method?:
    | DestinationType
    | readonly DestinationType[]
    | {
        /** Equal to this. */
        readonly eq?: DestinationType | undefined;
        /** Different from this. */
        readonly ne?: DestinationType | undefined;
        /** One of these. */
        readonly in?: readonly DestinationType[] | undefined;
        /** None of these. */
        readonly nin?: readonly DestinationType[] | undefined;
      }
    | undefined;
  /** one of active, inactive */
  readonly affiliate_status?:
    | AffiliateStatus
    | readonly AffiliateStatus[]
    | {
        /** Equal to this. */
        readonly eq?: AffiliateStatus | undefined;
        /** Different from this. */
        readonly ne?: AffiliateStatus | undefined;
        /** One of these. */
        readonly in?: readonly AffiliateStatus[] | undefined;
        /** None of these. */
        readonly nin?: readonly AffiliateStatus[] | undefined;
      }
    | undefined;
  /** one of sale, recurring, bonus, adjustment, clawback */
  readonly type?:
    | CommissionType
    | readonly CommissionType[]
    | {
        /** Equal to this. */
        readonly eq?: CommissionType | undefined;
        /** Different from this. */
        readonly ne?: CommissionType | undefined;
        /** One of these. */
        readonly in?: readonly CommissionType[] | undefined;
        /** None of these. */
        readonly nin?: readonly CommissionType[] | undefined;
      }
    | undefined;
  /** true or false */
  readonly is_ready_for_payout?:
    | boolean
    | {
        /** Equal to this. */
        readonly eq?: boolean | undefined;
      }
    | undefined;
  /** an ISO 4217 currency code */
  readonly currency?:
    | Currency
    | readonly Currency[]
    | {
        /** Equal to this. */
        readonly eq?: Currency | undefined;
        /** One of these. */
        readonly in?: readonly Currency[] | undefined;
      }
    | undefined;
  /** an integer of minor units */
  readonly total?:
    | number
    | {
        /** Equal to this. */
        readonly eq?: number | undefined;
        /** Greater, or later, than this. */
        readonly gt?: number | undefined;
        /** This, or greater or later. */
        readonly gte?: number | undefined;
        /** Less, or earlier, than this. */
        readonly lt?: number | undefined;
        /** This, or less or earlier. */
        readonly lte?: number | undefined;
      }
    | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly occurred_at?:
    | {
        /** Greater, or later, than this. */
        readonly gt?: InstantOrDay | undefined;
        /** This, or greater or later. */
        readonly gte?: InstantOrDay | undefined;
        /** Less, or earlier, than this. */
        readonly lt?: InstantOrDay | undefined;
        /** This, or less or earlier. */
        readonly lte?: InstantOrDay | undefined;
      }
    | undefined;
  /** always true: a payout takes unpaid commissions only */
  readonly status?: 'unpaid' | undefined;
}

export type PayoutFormRule = 'none' | 'at_threshold' | 'always';

export interface PayoutLine {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** name and destination follow the affiliate until the payout is paid, and are fixed from then on */
  readonly name: string | null;
  /** The e-mail address. */
  readonly email: string | null;
  /** The address that PayPal pays; null if unknown. */
  readonly paypal_email: string | null;
  /** How the affiliate is paid. */
  readonly payout_method: PayoutMethod | null;
  /** set by the merchant */
  readonly is_ready_for_payout: boolean;
  /** null until the payout is completed; true when all currencies were paid, see totals for each */
  readonly is_paid: boolean | null;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** one per currency */
  readonly totals: readonly PayoutLineTotal[];
  /** identifies the transfer, as given at completion; null when it differs between currencies */
  readonly payment_reference: string | null;
  /** the returned amount in minor units; null when the affiliate is paid in several currencies, see totals */
  readonly returned_amount: number | null;
}

/** the destination: taken from the affiliate until the payout is paid; null: none, paid as `paid_through` says */
export interface PayoutLineDestination {
  /** How the destination is paid. */
  readonly type: DestinationType;
  /**
   * wise_bank, sepa, ach: the last four characters of the IBAN or account number; 0000 after the affiliate was
   * erased
   */
  readonly last_four: string | null;
}

export interface PayoutLineTotal {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units: the amount of the line */
  readonly amount: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** null until the payout is completed; true also for a part payment */
  readonly is_paid: boolean | null;
  /** what was paid; 0 until the payout is completed, and for released lines */
  readonly paid_amount: number;
  /** the unpaid part of a paid line: owed again through an adjustment */
  readonly carried_amount: number;
  /** the part of the payment that was returned */
  readonly returned_amount: number;
  /** identifies the transfer */
  readonly payment_reference: string | null;
  /** in a downloaded payment file that no later file of its format and currency has replaced */
  readonly is_in_file: boolean;
  /** Where the line is paid; null if the affiliate has no destination. */
  readonly destination: PayoutLineDestination | null;
  /**
   * how the affiliate is paid: by the destination, or by `payout_method`, or by PayPal if there is a
   * `paypal_email`; null: unknown
   */
  readonly paid_through: DestinationType | null;
  /** Only with net commissions: the same sums with the tax on top of them. */
  readonly with_tax?: PayoutLineWithTax | undefined;
}

/**
 * only if the commissions are net, or something is withheld: sums of what leaves the bank. The tax is fixed
 * when the payout is created
 */
export interface PayoutLineWithTax {
  /** what leaves the bank: the amount, with the tax on top and without what is withheld */
  readonly amount: number;
  /** the tax on top */
  readonly tax_amount: number;
  /** what is withheld for the IRS (backup withholding); you owe it to the IRS */
  readonly withheld_amount: number;
  /** what left the bank */
  readonly paid_amount: number;
  /** what came back to the bank */
  readonly returned_amount: number;
  /** S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT */
  readonly tax_category: TaxCategory | null;
  /** hundredths of a percent: 1900 = 19 % */
  readonly tax_rate: number | null;
  /** why no tax is due */
  readonly exemption: string | null;
  /** hundredths of a percent: 2400 = 24 %; null: nothing is withheld */
  readonly withholding_rate: number | null;
  /**
   * why it has no tax, if no category applies. no_agreement: the affiliate had not agreed to self-billing;
   * agreement_expired: the agreement had ended; no_rule: no rule of `invoicing` fits the tax profile of the
   * affiliate; no_tax_id: the category requires a VAT id of the affiliate (S: or a tax number; AE: and your
   * own); no_invoicing: the account has no `invoicing` or no `tax_profile`
   */
  readonly reason: NoTaxReason | null;
}

export type PayoutMethod = 'paypal' | 'wise' | 'other';

export interface PayoutPaidEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.paid';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export interface PayoutPreview {
  /** Always null: a preview is not stored. */
  readonly id: null;
  /** The type of the record. */
  readonly object: 'affiliate_payout';
  /** Always null: a preview has no number. */
  readonly number: null;
  /** paid is final */
  readonly status: PayoutStatus;
  /** as normalised and applied */
  readonly filters: Readonly<Record<string, unknown>> | null;
  /** as applied; null = none */
  readonly search: string | null;
  /** the time of creation: it contains what was owed at that time */
  readonly as_of: Timestamp;
  /** null when there are several; amount is null too */
  readonly currency: Currency | null;
  /** minor units of the currency given with it */
  readonly amount: number | null;
  /** one per currency; amount = paid + carried + released once completed */
  readonly totals: readonly PayoutTotal[];
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** Always null: a preview is not stored. */
  readonly revision: null;
  /** Always null: a preview is not stored. */
  readonly created_by: null;
  /** Always null: no schedule creates a preview. */
  readonly schedule_id: null;
  /** When it was created. */
  readonly created_at: null;
  /** When it last changed. */
  readonly updated_at: null;
  /** when the money left, as given at completion; default the time of completion */
  readonly paid_at: Timestamp | null;
  /** who completed it */
  readonly paid_by: string | null;
  /** Always null: nobody decides about a preview. */
  readonly approval: null;
  /** all lines, or null when there are more than 1,000 */
  readonly affiliates: readonly PayoutLine[] | null;
  /** who was left out, one row per reason */
  readonly excluded: readonly {
    /** the first two are carried forward to the next payout */
    readonly reason: ExclusionReason;
    /** How many affiliates it covers. */
    readonly affiliate_count: number;
    /** Sums, one for each currency. */
    readonly totals: readonly {
      /** The currency of the amounts. */
      readonly currency: Currency;
      /** minor units of the currency given with it */
      readonly amount: number;
      /** How many commissions it covers. */
      readonly commission_count: number;
      /** How many affiliates it covers. */
      readonly affiliate_count: number;
    }[];
  }[];
  /**
   * bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
   * affiliate accounts; the first 100, empty once the payout is paid
   */
  readonly shared_destinations: readonly SharedDestination[];
  /** what may point to fraud, by rule: `listPayoutSignals` has the lines and reasons */
  readonly signals: readonly SignalCount[];
  /** the unpaid payout that prevents creating this one */
  readonly current_payout_id: string | null;
}

export interface PayoutPreviewExclusion {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The e-mail address. */
  readonly email: string;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** the first two are carried forward to the next payout */
  readonly reason: ExclusionReason;
  /** minor units of the currency given with it */
  readonly amount: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** minor units: the minimum that a sum `below_minimum` does not reach */
  readonly minimum_payout: number | null;
  /** when the first commission `on_hold` becomes available; null when all are held for review */
  readonly available_at: Timestamp | null;
}

export interface PayoutRejectedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.rejected';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export interface PayoutResult {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'payout_result';
  /** The payout. */
  readonly payout_id: string;
  /** The kind. */
  readonly kind: PayoutResultKind;
  /** The size of the file in bytes. */
  readonly file_bytes: number;
  /**
   * a keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key of the
   * server changes; null if dropped since, or if the download was cut off
   */
  readonly digest: string | null;
  /** the revision of the payout when the file was uploaded */
  readonly revision: number;
  /** How many lines there are of each kind. */
  readonly counts: PayoutResultCounts;
  /** Who did it. */
  readonly by: {
    /** The kind. */
    readonly kind: ActorKind;
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string | null;
  };
  /** When it was created. */
  readonly created_at: Timestamp;
}

export interface PayoutResultCounts {
  /** lines whose money left */
  readonly paid: number;
  /** lines that were refused before money left */
  readonly rejected: number;
  /** lines whose money left and came back */
  readonly returned: number;
  /** lines that are not decided yet */
  readonly pending: number;
  /** lines of the payout without a clear answer in the file */
  readonly unanswered: number;
  /** statements that match no line; see `problems` */
  readonly problems: number;
  /** entries that are not our payments */
  readonly others: number;
}

export type PayoutResultKind =
  | 'camt.053'
  | 'camt.054'
  | 'pain.002'
  | 'verification'
  | 'nacha'
  | 'paypal'
  | 'wise'
  | 'paid_list';

export interface PayoutResultLine {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name of the affiliate; null if unknown. */
  readonly name: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** The reference of the payment. */
  readonly reference: string;
  /** rejected: no money left. returned: it left and came back. pending: the bank or provider has not decided */
  readonly outcome: PaymentOutcome;
  /** the amount paid, refused or returned, in minor units */
  readonly amount: number;
  /** the amount of the line */
  readonly line_amount: number;
  /** why, as readable text */
  readonly reason: string | null;
  /** an ISO 20022 code, or the status of the provider */
  readonly reason_code: string | null;
  /** YYYY-MM-DD, as in the file */
  readonly booked_on: string | null;
  /** the identifier used by the bank or provider */
  readonly bank_reference: string | null;
  /** the id (MsgId) of the payment file that contains it, if the file names one */
  readonly payment_file: string | null;
  /** nothing left to do: the payout was completed with this result, or the return is booked */
  readonly is_booked: boolean;
}

export interface PayoutResultProblem {
  /** The kind. */
  readonly kind: PayoutResultProblemKind;
  /** null when it concerns no affiliate of the payout */
  readonly affiliate_id: number | null;
  /** The reference of the payment. */
  readonly reference: string | null;
  /** what is wrong, and where in the file */
  readonly message: string;
}

export type PayoutResultProblemKind =
  | 'other_account'
  | 'other_payout'
  | 'unknown_reference'
  | 'other_currency'
  | 'other_amount'
  | 'duplicate'
  | 'contradiction'
  | 'unknown_file'
  | 'other_payee'
  | 'unclear'
  | 'inexact_reference';

export interface PayoutResultProposal {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'payout_result';
  /** The payout. */
  readonly payout_id: string;
  /** The kind. */
  readonly kind: PayoutResultKind;
  /** The size of the file in bytes. */
  readonly file_bytes: number;
  /**
   * a keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key of the
   * server changes; null if dropped since, or if the download was cut off
   */
  readonly digest: string | null;
  /** the revision of the payout when the file was uploaded */
  readonly revision: number;
  /** How many lines there are of each kind. */
  readonly counts: PayoutResultCounts;
  /** Who did it. */
  readonly by: {
    /** The kind. */
    readonly kind: ActorKind;
    /** The id of the record. */
    readonly id: string;
    /** The name. */
    readonly name: string | null;
  };
  /** When it was created. */
  readonly created_at: Timestamp;
  /** the lines that the file is about */
  readonly lines: readonly PayoutResultLine[];
  /** the first of each kind for each affiliate, and the first 1000 that concern no affiliate of the payout */
  readonly problems: readonly PayoutResultProblem[];
  /** the payees whose names the bank compared with their accounts: it says nothing about their payments */
  readonly verifications: readonly PayoutResultVerification[];
  /**
   * what banks correct in where affiliates are paid, proposed until somebody accepts or dismisses it: it says
   * nothing about payments
   */
  readonly corrections: readonly DestinationCorrection[];
  /** the revisions of the payout at which the answered files were made, if it has changed since */
  readonly outdated_revisions: readonly number[];
  /** when the same file was uploaded before; null = never */
  readonly uploaded_before: Timestamp | null;
}

export interface PayoutResultVerification {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** The reference of the payment. */
  readonly reference: string;
  /** whether the name is that of the account, by the bank of the payee. not_possible: it does not say */
  readonly result: PayeeVerificationAnswer;
  /** the name that the bank checked, as in the file */
  readonly account_holder: string | null;
  /** the name that the bank of the payee has, which it gives for a close match */
  readonly bank_name: string | null;
  /** why, as readable text */
  readonly reason: string | null;
  /** an ISO 20022 code */
  readonly reason_code: string | null;
}

export interface PayoutReturn {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'payout_return';
  /** The payout. */
  readonly payout_id: string;
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** what is owed again, in minor units */
  readonly amount: number;
  /** the tax on top of it, which came back too and is not owed; 0 if the amount includes the tax */
  readonly tax_amount: number;
  /** the part of it that had been withheld for the IRS, and did not come back to the bank */
  readonly withheld_amount: number;
  /** your id of the request that booked it */
  readonly external_id: string | null;
  /** Why the money came back. */
  readonly reason: string;
  /** identifies it in your books */
  readonly reference: string | null;
  /** the adjustment that makes the money owed again */
  readonly commission_id: string;
  /** When the money came back. */
  readonly returned_at: Timestamp;
  /** when it was undone; null = in force */
  readonly undone_at: Timestamp | null;
}

export interface PayoutSchedule {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'payout_schedule';
  /** The name. */
  readonly name: string;
  /** On which days it runs. */
  readonly every: ScheduleRhythm;
  /**
   * week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the account’s time
   * zone and begins at midnight there
   */
  readonly day: number;
  /** as given; null = none */
  readonly filters: unknown;
  /** A text that the chosen affiliates contain. */
  readonly search: string;
  /** Whether amounts below the minimum are paid too. */
  readonly ignore_minimum: boolean;
  /** false: it creates no payouts until it is activated */
  readonly is_active: boolean;
  /** who last changed it, and so counts as the creator of its payouts */
  readonly made_by: string;
  /** the next due day; null while inactive */
  readonly next_on: string | null;
  /** The last run; null before the first. */
  readonly last_run: ScheduleRun | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface PayoutSelection {
  /** the filters of the report; null = none */
  readonly filters?: PayoutFilters | null | undefined;
  /** every word must occur in the name, e-mail address or slug of the affiliate */
  readonly search?: string | undefined;
  /** also pays amounts below the minimum */
  readonly ignore_minimum?: boolean | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface PayoutSignal {
  /** The type of the record. */
  readonly object: 'payout_signal';
  /** what was found: `payout_signals` of the account has the rules */
  readonly rule: SignalRule;
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** of the line when it was found */
  readonly amount: number;
  /** Why; null for what the rule does not look at. */
  readonly details: SignalDetails;
  /** the payout is not approved, and the line is in no payment file and not paid, until somebody has reviewed it */
  readonly blocks: boolean;
  /** the revision of the payout in which it was found; null in a preview */
  readonly revision: number | null;
  /** the revision in which it was gone; null: it holds */
  readonly ended_revision: number | null;
  /** When it was found; null in a preview. */
  readonly found_at: Timestamp | null;
  /** the user who reviewed it, or approved the payout with it */
  readonly reviewed_by: string | null;
  /** When it was reviewed; null: not yet. */
  readonly reviewed_at: Timestamp | null;
  /** The note of who reviewed it. */
  readonly review_note: string | null;
}

/** what is looked for in payouts because it may point to fraud */
export interface PayoutSignals {
  /** The line is paid elsewhere than the last payment. */
  readonly destination_changed: SignalSetting;
  /** Several affiliates of the payout are paid to one bank account. */
  readonly shared_destination: SignalSetting;
  /** A first payment above a limit. */
  readonly first_payout_above: SignalLimit;
  /** An amount far above the payments before. */
  readonly amount_above_history: SignalHistory;
  /** Affiliates whom one import created are paid for the first time. */
  readonly imported_together: SignalImport;
}

export type PayoutStatus = 'unpaid' | 'paid';

export interface PayoutSummary {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_payout';
  /** increases per account, may have gaps */
  readonly number: number;
  /** paid is final */
  readonly status: PayoutStatus;
  /** as normalised and applied */
  readonly filters: Readonly<Record<string, unknown>> | null;
  /** as applied; null = none */
  readonly search: string | null;
  /** the time of creation: it contains what was owed at that time */
  readonly as_of: Timestamp;
  /** null when there are several; amount is null too */
  readonly currency: Currency | null;
  /** minor units of the currency given with it */
  readonly amount: number | null;
  /** one per currency; amount = paid + carried + released once completed */
  readonly totals: readonly PayoutTotal[];
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** the ETag; rises with every change */
  readonly revision: number;
  /** the id of the key, user or application */
  readonly created_by: string;
  /** the schedule that prepared it, which may have been deleted since */
  readonly schedule_id: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** when the money left, as given at completion; default the time of completion */
  readonly paid_at: Timestamp | null;
  /** who completed it */
  readonly paid_by: string | null;
  /** Whether the payout needs approval, and who has decided. */
  readonly approval: Approval;
}

export interface PayoutTotal {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units of the currency given with it */
  readonly amount: number;
  /** How many commissions it covers. */
  readonly commission_count: number;
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** what was paid, in minor units */
  readonly paid_amount: number;
  /** commissions of lines that were paid, also in part */
  readonly paid_count: number;
  /** the unpaid part of paid lines: owed again through an adjustment */
  readonly carried_amount: number;
  /** minor units of the currency given with it */
  readonly released_amount: number;
  /** commissions that were released and are owed again */
  readonly released_count: number;
  /** Only with net commissions: the same sums with the tax on top of them. */
  readonly with_tax?: PayoutTotalWithTax | undefined;
}

/** only if commissions are net, or something is withheld: sums of what leaves the bank */
export interface PayoutTotalWithTax {
  /** what leaves the bank: the amount, with the tax on top and without what is withheld */
  readonly amount: number;
  /** the tax on top */
  readonly tax_amount: number;
  /** what is withheld for the IRS (backup withholding); you owe it to the IRS */
  readonly withheld_amount: number;
  /** what left the bank */
  readonly paid_amount: number;
}

export interface PayoutUpdatedEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'payout.updated';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: PayoutSummary;
}

export interface PayoutVerification {
  /** The type of the record. */
  readonly object: 'payee_verification';
  /** The affiliate. */
  readonly affiliate_id: number;
  /** the name of the affiliate */
  readonly name: string | null;
  /** the name in payment files */
  readonly account_holder: string | null;
  /** the end of the IBAN */
  readonly last_four: string | null;
  /** of the destination; null: the one for all currencies */
  readonly currency: Currency | null;
  /**
   * whether the name is that of the account, by the bank of the payee. not_possible: it does not say. name_used:
   * the name that the bank has replaced ours, and the bank has not answered since
   */
  readonly result: PayeeVerificationResult;
  /** the name that the bank of the payee has, which it gives for a close match */
  readonly bank_name: string | null;
  /** why, as readable text */
  readonly reason: string | null;
  /** an ISO 20022 code */
  readonly reason_code: string | null;
  /** the account holder that `bank_name` replaced; null: it did not */
  readonly replaced_name: string | null;
  /** the id (MsgId) of the payment file that the bank checked; null: the answer came as a list */
  readonly payment_file: string | null;
  /** when its answer was read */
  readonly verified_at: Timestamp;
}

/** what a portal is of; null for every other caller */
export interface Portal {
  /** the endpoint its link was made at */
  readonly webhook_endpoint_id: string;
  /** it is of all endpoints of this owner; null = of the one alone */
  readonly owner: string | null;
  /** what endpoints may be subscribed to; null = all */
  readonly event_types: readonly string[] | null;
  /** When it ends. */
  readonly ends_at: Timestamp;
}

export interface PortalLink {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'portal_link';
  /** the endpoint for which it was created */
  readonly webhook_endpoint_id: string;
  /** the portal shows all endpoints of this owner; null = only this endpoint */
  readonly owner: string | null;
  /** the portal can change and send nothing, and shows no secrets */
  readonly read_only: boolean;
  /** the event types that portal users may subscribe to; null = all */
  readonly event_types: readonly string[] | null;
  /** the filter of endpoints created in the portal; null = none */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** open: its portal is open; ended: its portal has ended; expired: it was not opened in time */
  readonly status: PortalLinkStatus;
  /** the id of the key or user that created it */
  readonly created_by: string;
  /** until when it can be opened */
  readonly expires_at: Timestamp;
  /** when it was opened; a link opens once */
  readonly used_at: Timestamp | null;
  /** when the portal it opened ends */
  readonly ends_at: Timestamp | null;
  /** When it was revoked; null while it is valid. */
  readonly revoked_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export type PortalLinkStatus = 'unused' | 'open' | 'ended' | 'expired' | 'revoked';

export interface PostalAddress {
  /** street and number */
  readonly line1: string;
  /** Address, line 2 */
  readonly line2: string | null;
  /** Postal code */
  readonly postal_code: string | null;
  /** City */
  readonly city: string;
  /** state or province; two letters in the United States */
  readonly region: string | null;
}

export interface PreviewRecoveryOfWebhookEndpointBody {
  /** recover: sends the events again; discard: cancels those that wait */
  readonly action?: RecoveryAction | undefined;
  /**
   * events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the account;
   * required without `missing`, by default the oldest event
   */
  readonly since?: string | undefined;
  /** the events that the endpoint never got, but would get now; not with `status` */
  readonly missing?: boolean | undefined;
  /** events created before it, including a whole day; at most now, which is the default */
  readonly until?: string | undefined;
  /** the status of the events in the log, one or several; default failed */
  readonly status?: RecoveredStatus | readonly RecoveredStatus[] | undefined;
  /** names such as payout.paid or payout.*; null = all */
  readonly types?: readonly string[] | null | undefined;
}

export interface Program {
  /** The id of the record. */
  readonly id: number;
  /** The type of the record. */
  readonly object: 'affiliate_program';
  /** unique in the account */
  readonly name: string;
  /** the days for which new commissions are on hold; null = the account's hold */
  readonly hold_days: number | null;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface PublishEventBatchBody {
  /** The events, one entry each. */
  readonly events: readonly PublishEventBody[];
}

export interface PublishEventBody {
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /**
   * passed on unchanged; a number may have 131,072 digits before the decimal point and 16,383 after it, written
   * without an exponent
   */
  readonly data: Readonly<Record<string, unknown>>;
  /** Your own id of the record; null if you gave none. */
  readonly external_id?: string | undefined;
  /** ordered endpoints get the events of a key one at a time, in the order of publishing */
  readonly ordering_key?: string | undefined;
  /** only the endpoints of this owner get the event; without it all do */
  readonly owner?: string | undefined;
  /** texts by which you find the event again; receivers do not get them */
  readonly tags?: readonly string[] | undefined;
}

export interface PublishedEvent {
  /** `webhook-id` for every receiver */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'published_event';
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /** the id under which the platform published it */
  readonly external_id: string | null;
  /** ordered endpoints get the events of a key one at a time */
  readonly ordering_key: string | null;
  /** only the endpoints of this owner get it; null = all */
  readonly owner: string | null;
  /** sorted; receivers do not get them */
  readonly tags: readonly string[];
  /** When it was created. */
  readonly created_at: Timestamp;
  /** The deliveries of the event, by status. */
  readonly deliveries: DeliveryCounts;
}

export interface PublishedEventWhole {
  /** `webhook-id` for every receiver */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'published_event';
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /** the id under which the platform published it */
  readonly external_id: string | null;
  /** ordered endpoints get the events of a key one at a time */
  readonly ordering_key: string | null;
  /** only the endpoints of this owner get it; null = all */
  readonly owner: string | null;
  /** sorted; receivers do not get them */
  readonly tags: readonly string[];
  /** When it was created. */
  readonly created_at: Timestamp;
  /** The deliveries of the event, by status. */
  readonly deliveries: DeliveryCounts;
  /** The event as it is sent. */
  readonly payload: Event;
  /** its records in the log, at most 100; `event_id` finds all of them there */
  readonly sent_to: readonly WebhookEventAt[];
  /** the other current endpoints, at most 100, oldest first */
  readonly not_sent_to: readonly NotSent[];
}

export interface PutAffiliateByExternalIdBody {
  /** First name */
  readonly name_first?: string | null | undefined;
  /** Last name */
  readonly name_last?: string | null | undefined;
  /** unique in the account; an e-mail address */
  readonly email?: string | undefined;
  /** the affiliate in your links; searches include it */
  readonly slug?: string | null | undefined;
  /** payouts leave out an inactive affiliate */
  readonly status?: AffiliateStatus | undefined;
  /** how payouts pay, unless a destination says otherwise */
  readonly payout_method?: PayoutMethod | null | undefined;
  /** the address that PayPal pays; an e-mail address */
  readonly paypal_email?: string | null | undefined;
  /** your switch: payouts leave out an affiliate that is not ready */
  readonly is_ready_for_payout?: boolean | undefined;
  /** used instead of the minimum of the account; minor units per currency code, for example {"usd": 5000} */
  readonly minimum_payout?: Readonly<Record<string, number>> | null | undefined;
  /**
   * used instead of the setting of the account: gross with the tax, or net with the tax paid on top; gross: they
   * include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created
   */
  readonly commissions_are?: CommissionsAre | null | undefined;
  /** what the affiliate is by law, if known */
  readonly legal_type?: LegalType | null | undefined;
  /** where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2) */
  readonly country?: string | null | undefined;
  /** of e-mails to the affiliate; without it, that of the account */
  readonly language?: NoticeLanguage | null | undefined;
  /** whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each */
  readonly is_notified?: boolean | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export type PutAffiliateDestinationBody =
  | PaypalDestination
  | WiseDestination
  | OtherDestination
  | Wise_bankDestination
  | SepaDestination
  | AchDestination;

export interface PutAffiliateDestinationBodyFields {
  /** only for this currency; without it, for every currency without its own destination */
  readonly currency?: Currency | null | undefined;
}

export interface PaypalDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'paypal';
  readonly account_holder?: undefined;
  readonly iban?: undefined;
  readonly bic?: undefined;
  readonly routing_number?: undefined;
  readonly account_number?: undefined;
  readonly account_type?: undefined;
}

export interface WiseDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'wise';
  readonly account_holder?: undefined;
  readonly iban?: undefined;
  readonly bic?: undefined;
  readonly routing_number?: undefined;
  readonly account_number?: undefined;
  readonly account_type?: undefined;
}

export interface OtherDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'other';
  readonly account_holder?: undefined;
  readonly iban?: undefined;
  readonly bic?: undefined;
  readonly routing_number?: undefined;
  readonly account_number?: undefined;
  readonly account_type?: undefined;
}

export interface Wise_bankDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'wise_bank';
  /** wise_bank, sepa, ach: the name of the account holder */
  readonly account_holder: string;
  /** wise_bank, sepa: the IBAN, with or without blanks */
  readonly iban: string;
  readonly bic?: undefined;
  readonly routing_number?: undefined;
  readonly account_number?: undefined;
  readonly account_type?: undefined;
}

export interface SepaDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'sepa';
  /** wise_bank, sepa, ach: the name of the account holder */
  readonly account_holder: string;
  /** wise_bank, sepa: the IBAN, with or without blanks */
  readonly iban: string;
  /** sepa: the BIC, which few banks still ask for */
  readonly bic?: string | undefined;
  readonly routing_number?: undefined;
  readonly account_number?: undefined;
  readonly account_type?: undefined;
}

export interface AchDestination extends PutAffiliateDestinationBodyFields {
  /**
   * paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account;
   * other: your own method
   */
  readonly type: 'ach';
  /** wise_bank, sepa, ach: the name of the account holder */
  readonly account_holder: string;
  readonly iban?: undefined;
  readonly bic?: undefined;
  /** ach: nine digits */
  readonly routing_number: string;
  /** ach: the number of the account */
  readonly account_number: string;
  /** ach: the type of the account */
  readonly account_type: BankAccountType;
}

export interface PutAffiliateTaxProfileBody {
  /** who signed */
  readonly legal_type: TaxLegalType;
  /** the name as signed */
  readonly legal_name: string;
  /** the tax country, in two letters; ISO 3166-1 alpha-2, any case */
  readonly country: string;
  /** a tax profile */
  readonly address: {
    /** street and number */
    readonly line1: string;
    /** Address, line 2 */
    readonly line2?: string | null | undefined;
    /** Postal code */
    readonly postal_code?: string | null | undefined;
    /** City */
    readonly city: string;
    /** state or province; two letters in the United States */
    readonly region?: string | null | undefined;
  };
  /** without it the current one is kept, because it cannot be read back; null removes it */
  readonly tax_id?:
    | {
        /**
         * us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a number that
         * is not checked
         */
        readonly type: TaxIdType;
        /** the tax id, with or without spaces and hyphens; it cannot be read back */
        readonly number: string;
      }
    | null
    | undefined;
  /** the number of a French business, which its invoices show: SIREN (9 digits) or SIRET (14 digits) */
  readonly siren?: string | null | undefined;
  /** where Peppol delivers their invoices: the code of the scheme, a colon and the id */
  readonly electronic_address?: string | null | undefined;
  /** a tax form */
  readonly form?:
    | {
        /** the form that was signed; w8ben is for persons and w8bene for businesses */
        readonly type: TaxForm;
        /** the day the form was signed; YYYY-MM-DD */
        readonly signed_on: string;
        /** where you keep the form: a name, number or link */
        readonly document?: string | null | undefined;
      }
    | null
    | undefined;
  /** the affiliate agreed that you write their invoices; null: they did not */
  readonly self_billing?:
    | {
        /** the day from which the agreement applies; empty if they write their own invoices; YYYY-MM-DD */
        readonly agreed_on: string;
        /** the last day of the agreement; empty if it has none; YYYY-MM-DD */
        readonly expires_on?: string | null | undefined;
        /** the name of the person who agreed */
        readonly agreed_by: string;
        /** where you keep the agreement: a name, number or link */
        readonly document?: string | null | undefined;
      }
    | null
    | undefined;
}

export interface PutEventTypeBody {
  /** when it happens */
  readonly description: string;
  /** for showing types together; default null */
  readonly group?: string | null | undefined;
  /** why the type should not be used any more, and what to use instead; default null = it is not deprecated */
  readonly deprecation?: string | null | undefined;
  /**
   * a JSON schema (2020-12) of `data`, at most 64 KiB; `$ref` only within it, `pattern` only without groups, and
   * no `format`, `patternProperties` and `unevaluatedProperties` are checked
   */
  readonly data_schema?: Readonly<Record<string, unknown>> | null | undefined;
  /** an example of `data`, which matches the schema; test events have it */
  readonly data_example?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface PutWebhookEndpointByExternalIdBody {
  /** push: events are sent to the URL; pull: it has none, and consumers claim its events */
  readonly delivery?: EndpointDelivery | undefined;
  /**
   * where events are sent, including pending ones; http or https, without credentials and fragment, at a public
   * address
   */
  readonly url?: string | undefined;
  /** a note of yours */
  readonly description?: string | null | undefined;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner?: string | null | undefined;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link; an e-mail address
   */
  readonly contact_email?: string | null | undefined;
  /** the types of events that it receives; names such as payout.paid or payout.*; null = all */
  readonly event_types?: readonly string[] | null | undefined;
  /**
   * conditions on the payload; conditions on the payload that must all hold: a path, and a value or operators
   * ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or take lists of
   * filters. At most 4,096 bytes
   */
  readonly filter?: Readonly<Record<string, unknown>> | null | undefined;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status?: EndpointStatus | undefined;
  /**
   * events with the same ordering key are sent one after the other, in the order in which they were published;
   * applies to events published from now on; false releases the events that wait
   */
  readonly ordered?: boolean | undefined;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch?: BatchInput | null | undefined;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit?: number | null | undefined;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent; null =
   * no limit
   */
  readonly max_age?: number | null | undefined;
  /** your own headers, sent with every delivery; values by name; null removes a header, others stay */
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload?: PayloadForm | undefined;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version?: ApiVersion | undefined;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing?: SigningScheme | undefined;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing?: CustomSigningInput | null | undefined;
  /**
   * a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays
   * if the scheme can use it, else a new one is created
   */
  readonly secret?: string | undefined;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature?: SecondSignatureInput | null | undefined;
  /**
   * an HTTP proxy that requests go through, with user and password if it needs them:
   * http://user:password@proxy:3128; null = that of the server, if any
   */
  readonly proxy?: string | null | undefined;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate?: ClientCertificateInput | null | undefined;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials?: ClientCredentialsInput | null | undefined;
  /** Your own keys and texts. */
  readonly metadata?: Metadata | undefined;
}

export interface RecoverWebhookEndpointBody {
  /**
   * events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the account;
   * required without `missing`, by default the oldest event
   */
  readonly since?: string | undefined;
  /** the events that the endpoint never got, but would get now; not with `status` */
  readonly missing?: boolean | undefined;
  /** events created before it, including a whole day; at most now, which is the default */
  readonly until?: string | undefined;
  /** the status of the events in the log, one or several; default failed */
  readonly status?: RecoveredStatus | readonly RecoveredStatus[] | undefined;
  /** names such as payout.paid or payout.*; null = all */
  readonly types?: readonly string[] | null | undefined;
}

export type RecoveredStatus = 'failed' | 'pending' | 'delivered' | 'cancelled';

export type RecoveryAction = 'recover' | 'discard';

export interface RecoveryFilters {
  /** From when. */
  readonly since: Timestamp;
  /** Until when. */
  readonly until: Timestamp;
  /** The status. */
  readonly status: readonly RecoveredStatus[];
  /** null = all */
  readonly types: readonly string[] | null;
  /** the events that it never got; `status` is then empty */
  readonly missing: boolean;
}

export interface RecoveryPreview {
  /** The type of the record. */
  readonly object: 'recovery_preview';
  /** The webhook endpoint. */
  readonly webhook_endpoint_id: string;
  /** recover: sends the events again; discard: cancels those that wait */
  readonly action: RecoveryAction;
  /** What the recovery sends again, or the discard cancels. */
  readonly filters: RecoveryFilters;
  /** events that match now */
  readonly matching_count: number;
}

export type RecoveryStatus = 'pending' | 'running' | 'paused' | 'completed' | 'cancelled';

export interface Refund {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'affiliate_refund';
  /** your own id of the refund, unique forever */
  readonly external_id: string;
  /** waiting: a line of it has no commission yet, or is in doubt */
  readonly status: 'waiting' | 'applied' | 'reversed';
  /** null for a refund of one commission by its id */
  readonly order_id: string | null;
  /** Product */
  readonly product_id: string | null;
  /** why */
  readonly reason: string | null;
  /** when the customer was refunded */
  readonly occurred_at: Timestamp;
  /** When the refund was reversed; null if it was not. */
  readonly reversed_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** of a refund by order: what it covers */
  readonly lines: readonly RefundLine[];
  /** what it took of each commission */
  readonly refunds: readonly RefundItem[];
}

export interface RefundCommissionBody {
  /** your own id of the refund, unique forever; sending the same refund again changes nothing */
  readonly external_id: string;
  /** minor units of commission to take back */
  readonly amount?: number | undefined;
  /** minor units of the sale; the commission is reduced pro rata */
  readonly sale_amount?: number | undefined;
  /** why */
  readonly reason?: string | null | undefined;
  /** when the customer was refunded; RFC 3339; default now */
  readonly occurred_at?: string | undefined;
}

export interface RefundItem {
  /** minor units of commission that were taken back */
  readonly amount: number;
  /** minor units of the sale refunded; null when the refund was given as commission */
  readonly sale_amount: number | null;
  /** the refund asked for more than was left and took the rest */
  readonly capped: boolean;
  /** The commission. */
  readonly commission: Commission;
  /** The negative commission that takes back what was paid; null if nothing had been paid. */
  readonly clawback: Commission | null;
}

export interface RefundLine {
  /** The line of the order, by your own id. */
  readonly order_line_id: string | null;
  /** of the one commission the line is */
  readonly external_id: string | null;
  /** minor units of commission */
  readonly amount: number | null;
  /** minor units of the sale */
  readonly sale_amount: number | null;
  /** of the amount, once it is known */
  readonly currency: string | null;
  /** in_doubt: it could belong to several commissions that came in; reverse it and name lines */
  readonly status: 'waiting' | 'in_doubt' | 'applied';
}

export interface RefundOrderBody {
  /** your own id of the refund, unique forever; sending the same refund again changes nothing */
  readonly external_id: string;
  /** Order */
  readonly order_id: string;
  /** Product */
  readonly product_id?: string | null | undefined;
  /** the currency of the amounts; a different one is refused */
  readonly currency?: Currency | undefined;
  /** each with either order_line_id or external_id */
  readonly lines?:
    | readonly {
        /** The line of the order, by your own id. */
        readonly order_line_id?: string | undefined;
        /** of one commission */
        readonly external_id?: string | undefined;
        /** minor units of the sale; the commission is reduced pro rata */
        readonly sale_amount?: number | undefined;
      }[]
    | undefined;
  /** minor units of commission to take back */
  readonly amount?: number | undefined;
  /** minor units of the sale; the commission is reduced pro rata */
  readonly sale_amount?: number | undefined;
  /** why */
  readonly reason?: string | null | undefined;
  /** when the customer was refunded; RFC 3339; default now */
  readonly occurred_at?: string | undefined;
}

export interface RejectPayoutBody {
  /** the revision you reviewed: if the payout has another one by now, the decision is refused */
  readonly revision: number;
  /** shown with the payout */
  readonly note?: string | null | undefined;
}

export interface ReportEntry {
  /** the column of the report */
  readonly kind: 'earned' | 'adjusted' | 'refunded' | 'voided' | 'paid' | 'returned';
  /** the instant whose day counts */
  readonly occurred_at: Timestamp;
  /** the change of what is owed: below zero for refunds, voids and payments */
  readonly amount: number;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** The affiliate. */
  readonly affiliate_id: number;
  /** the current one of the affiliate */
  readonly country: string | null;
  /** The program. */
  readonly program_id: number | null;
  /** the method of a payment or return */
  readonly paid_through: DestinationType | null;
  /** The commission. */
  readonly commission_id: string | null;
  /** The refund. */
  readonly refund_id: string | null;
  /** The payout. */
  readonly payout_id: string | null;
  /** the `external_id` of the commission or refund, or the payout */
  readonly what: string;
  /** the order, or the reference of the payment */
  readonly reference: string | null;
}

export interface ReportSummary {
  /** The type of the record. */
  readonly object: 'report_summary';
  /** Who did it. */
  readonly by: 'currency' | 'method' | 'program' | 'country' | 'affiliate';
  /** the first day; null = from the beginning */
  readonly from: string | null;
  /** the last day; null = until now, including later-dated entries */
  readonly to: string | null;
  /** of the account: the days are in it */
  readonly time_zone: string;
  /** of the whole period, one for each currency */
  readonly totals: readonly ReportSummaryTotal[];
  /**
   * one for each group and currency: ordered by currency, then the most paid, the most earned and the most owed
   * first
   */
  readonly rows: readonly ReportSummaryRow[];
  /** of all pages */
  readonly row_count: number;
  /** The number of the page, from 1. */
  readonly page: number;
  /** How many rows a page has at most. */
  readonly per_page: number;
}

export interface ReportSummaryRow {
  /**
   * the currency, payout method, id of the program, country (ISO 3166-1 alpha-2) or id of the affiliate; null:
   * none, or unknown
   */
  readonly key: string | null;
  /** of the program or affiliate; the e-mail address of an affiliate without a name */
  readonly name: string | null;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** owed before the first day */
  readonly opening_amount: number | null;
  /** commissions, dated by the sale */
  readonly earned_amount: number | null;
  /** manual credits, less debits, dated by their own date */
  readonly adjusted_amount: number | null;
  /** amounts taken by refunds, also of paid commissions, dated by the refund; reversed refunds do not count */
  readonly refunded_amount: number | null;
  /** the remaining amounts of commissions that were voided manually, dated by the day they were voided */
  readonly voided_amount: number | null;
  /** payments, dated by the payment */
  readonly paid_amount: number | null;
  /** returned payments, less returns that were undone, dated by the return */
  readonly returned_amount: number | null;
  /** owed after the last day: opening + earned + adjusted - refunded - voided - paid + returned */
  readonly closing_amount: number | null;
}

export interface ReportSummaryTotal {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** owed before the first day */
  readonly opening_amount: number | null;
  /** commissions, dated by the sale */
  readonly earned_amount: number | null;
  /** manual credits, less debits, dated by their own date */
  readonly adjusted_amount: number | null;
  /** amounts taken by refunds, also of paid commissions, dated by the refund; reversed refunds do not count */
  readonly refunded_amount: number | null;
  /** the remaining amounts of commissions that were voided manually, dated by the day they were voided */
  readonly voided_amount: number | null;
  /** payments, dated by the payment */
  readonly paid_amount: number | null;
  /** returned payments, less returns that were undone, dated by the return */
  readonly returned_amount: number | null;
  /** owed after the last day: opening + earned + adjusted - refunded - voided - paid + returned */
  readonly closing_amount: number | null;
}

export interface ReturnPayoutLineBody {
  /** your id: sending the same return again books nothing more */
  readonly external_id?: string | null | undefined;
  /** without it all currencies, or with an amount the only currency paid */
  readonly currency?: Currency | undefined;
  /**
   * what came back to the bank in minor units, with the tax if it was paid on top, and without what was
   * withheld; without it, everything not yet returned
   */
  readonly amount?: number | undefined;
  /** Why the money came back. */
  readonly reason: string;
  /** The reference of the return at the bank; null if there is none. */
  readonly reference?: string | null | undefined;
}

export interface ReviewPayoutSignalsBody {
  /** the revision you reviewed: if the payout has another one by now, the review is refused */
  readonly revision: number;
  /** only signals of this rule */
  readonly rule?: SignalRule | undefined;
  /** only signals of this affiliate */
  readonly affiliate_id?: number | undefined;
  /** only signals of lines in this currency */
  readonly currency?: Currency | undefined;
  /** kept with the signals */
  readonly note?: string | null | undefined;
}

export type Role = 'owner' | 'member' | 'finance' | 'approver' | 'viewer';

export interface RotateWebhookEndpointSecretBody {
  /** For how long the previous secret signs as well, in seconds. */
  readonly overlap_seconds?: number | undefined;
  /**
   * a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays
   * if the scheme can use it, else a new one is created
   */
  readonly secret?: string | undefined;
}

export type ScheduleOutcome = 'created' | 'empty' | 'refused';

export type ScheduleRhythm = 'week' | 'month';

export interface ScheduleRun {
  /** the last due day */
  readonly due_on: string;
  /** When the schedule ran. */
  readonly ran_at: Timestamp;
  /** empty: there was nothing to pay; refused: see `reason` */
  readonly outcome: ScheduleOutcome;
  /** why it created no payout */
  readonly reason: string | null;
  /** the payout it created, which may have been deleted since */
  readonly payout_id: string | null;
}

/**
 * the last event that violated the schema, noted at most once a minute while `event_validation` is not off;
 * null in a portal
 */
export interface SchemaViolation {
  /** when it was published */
  readonly at: Timestamp;
  /** field and rule */
  readonly message: string;
}

export type Scope =
  | 'account'
  | 'users'
  | 'customers'
  | 'checkouts'
  | 'subscriptions'
  | 'subscription_metered_billing'
  | 'integrations'
  | 'orders'
  | 'payments'
  | 'paymentplans'
  | 'webhooks'
  | 'promos'
  | 'affiliates'
  | 'products'
  | 'analytics'
  | 'reports';

/** also sent until `expires_at` */
export interface SecondSignature {
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing: SigningScheme;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing: CustomSigning | null;
  /** When it expires. */
  readonly expires_at: Timestamp;
}

/**
 * also sent until `expires_at`. Fields that are left out have the values of the previous signature. Without
 * it, a change of scheme or secret sends the previous signature for a day; null = none
 */
export interface SecondSignatureInput {
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing?: SigningScheme | undefined;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing?: CustomSigningInput | null | undefined;
  /**
   * a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays
   * if the scheme can use it, else a new one is created
   */
  readonly secret?: string | undefined;
  /** an RFC 3339 instant, at most 90 days ahead */
  readonly expires_at: string;
}

export interface SelfBillingAgreement {
  /** the day from which the agreement applies; empty if they write their own invoices; YYYY-MM-DD */
  readonly agreed_on: string;
  /** the last day of the agreement; empty if it has none; YYYY-MM-DD */
  readonly expires_on: string | null;
  /** the name of the person who agreed */
  readonly agreed_by: string;
  /** where you keep the agreement: a name, number or link */
  readonly document: string | null;
}

export type SepaMessage = 'pain.001.001.09' | 'pain.001.001.03';

export interface Session {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'session';
  /** The user. */
  readonly user_id: string;
  /** the User-Agent header of the browser */
  readonly user_agent: string | null;
  /** the network address that opened it */
  readonly address: string | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it was last used, to the minute. */
  readonly last_seen_at: Timestamp;
  /** when it ends unless it is used before */
  readonly expires_at: Timestamp;
}

export interface SetAlertSettingsBody {
  /** the alerts to get by e-mail; null = the role's default */
  readonly kinds: readonly AlertKind[] | null;
}

export interface SharedDestination {
  /** The type, such as `payout.paid`. */
  readonly type: DestinationType;
  /** the last four characters of the IBAN or account number */
  readonly last_four: string;
  /** How many affiliates it covers. */
  readonly affiliate_count: number;
  /** the first 20 */
  readonly affiliates: readonly SharedDestinationAffiliate[];
}

export interface SharedDestinationAffiliate {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The e-mail address. */
  readonly email: string | null;
}

export type SignalAction = 'off' | 'warn' | 'block';

export interface SignalCount {
  /** what was found: `payout_signals` of the account has the rules */
  readonly rule: SignalRule;
  /** lines with the signal */
  readonly line_count: number;
  /** of them, those that nobody has reviewed */
  readonly unreviewed_count: number;
  /** of these, those that block */
  readonly blocking_count: number;
}

export interface SignalDestination {
  /** The type, such as `payout.paid`. */
  readonly type: DestinationType;
  /**
   * wise_bank, sepa, ach: the last four characters of the IBAN or account number; 0000 after the affiliate was
   * erased
   */
  readonly last_four: string | null;
}

/** why; null for what the rule does not look at */
export interface SignalDetails {
  /** first_payout_above, amount_above_history: the amount is above it */
  readonly limit: number | null;
  /** amount_above_history: the largest payment before */
  readonly largest_payment: number | null;
  /** destination_changed: where the last payment went. */
  readonly previous_destination: SignalDestination | null;
  /** destination_changed, shared_destination: where the line is paid. */
  readonly destination: SignalDestination | null;
  /** shared_destination: the affiliates with this account, the first 20 */
  readonly affiliates: readonly number[] | null;
  /** shared_destination, imported_together: how many affiliates */
  readonly affiliate_count: number | null;
  /** imported_together: the import */
  readonly import_id: string | null;
}

export interface SignalHistory {
  /**
   * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
   * has reviewed it
   */
  readonly action: SignalAction;
  /** the amount in minor units by currency up to which there is no signal */
  readonly amounts: Readonly<Record<string, number>>;
  /** how many times the largest payment */
  readonly times: number;
}

export interface SignalImport {
  /**
   * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
   * has reviewed it
   */
  readonly action: SignalAction;
  /** how many affiliates */
  readonly affiliates: number;
  /** how many days after the import */
  readonly days: number;
}

export interface SignalLimit {
  /**
   * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
   * has reviewed it
   */
  readonly action: SignalAction;
  /** the limit in minor units by currency; a currency without one gives no signal */
  readonly amounts: Readonly<Record<string, number>>;
}

export type SignalRule =
  | 'destination_changed'
  | 'shared_destination'
  | 'first_payout_above'
  | 'amount_above_history'
  | 'imported_together';

export interface SignalSetting {
  /**
   * off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until somebody
   * has reviewed it
   */
  readonly action: SignalAction;
}

export type SignatureAlgorithm = 'sha256' | 'sha512' | 'sha1';

export type SignatureEncoding = 'hex' | 'base64';

export interface SignedTaxForm {
  /** the form that was signed; w8ben is for persons and w8bene for businesses */
  readonly type: TaxForm;
  /** the day the form was signed; YYYY-MM-DD */
  readonly signed_on: string;
  /** the last day of the third calendar year after the signature; null: a form of this type does not lapse */
  readonly valid_until: string | null;
  /** where you keep the form: a name, number or link */
  readonly document: string | null;
}

export type SigningScheme = 'standard' | 'ed25519' | 'stripe' | 'github' | 'shopify' | 'slack' | 'custom';

export interface StatementBalance {
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** owed before the first day */
  readonly opening_amount: number;
  /** commissions, dated by the sale */
  readonly earned_amount: number;
  /** manual credits and debits */
  readonly adjusted_amount: number;
  /** below zero: amounts taken by refunds, dated by the refund; reversed refunds do not count */
  readonly refunded_amount: number;
  /** below zero: the remaining amounts of commissions that were voided manually */
  readonly voided_amount: number;
  /** below zero: payments, dated by the payment */
  readonly paid_amount: number;
  /** returned payments, less returns that were undone */
  readonly returned_amount: number;
  /** owed after the last day: the opening amount plus all others */
  readonly closing_amount: number;
}

export interface System {
  /** The type of the record. */
  readonly object: 'system';
  /** of the last migration */
  readonly schema_version: number;
  /** The database. */
  readonly database: {
    /** The version of PostgreSQL. */
    readonly version: string;
    /** The size in bytes. */
    readonly size_bytes: number;
    /** When it started. */
    readonly started_at: Timestamp;
  };
  /** of all accounts */
  readonly backlog: {
    /** deliveries that somebody must act on, of all accounts */
    readonly queued_count: number;
    /** of these, due now at endpoints that are enabled */
    readonly due_count: number;
    /** of these, behind another delivery of their ordering key, which has to end first */
    readonly behind_count: number;
    /** when the first of them at an endpoint that is enabled was published */
    readonly behind_since: Timestamp | null;
    /** since when the first of them is due */
    readonly oldest_due_at: Timestamp | null;
  };
  /** The processes that deliver events. */
  readonly workers: {
    /** what delivers at the moment: machine and process */
    readonly processes: readonly {
      /** The name. */
      readonly name: string;
      /** When it started. */
      readonly started_at: Timestamp;
    }[];
    /** when one of them last took something to send */
    readonly last_claim_at: Timestamp | null;
    /** attempts under way, of all accounts */
    readonly in_flight_count: number;
  };
  /** The background work, and when each part last ran. */
  readonly chores: readonly {
    /** The name. */
    readonly name: string;
    /** by any process; noted once a minute at most */
    readonly last_done_at: Timestamp;
  }[];
  /** of all cells: what has failed, at every process that tried, since it was last done */
  readonly failing_chores: readonly {
    /** The name. */
    readonly name: string;
    /** of the first failure */
    readonly since: Timestamp;
    /** why it failed the last time */
    readonly message: string;
    /** the cell in which it fails */
    readonly cell: number;
  }[];
  /** made by `payhook backup`, by any process */
  readonly backups: {
    /** The last backup; null before the first. */
    readonly last: {
      /** the instant that it holds */
      readonly made_at: Timestamp;
      /** where it was written, on the machine that made it */
      readonly file: string;
      /** The size in bytes. */
      readonly size_bytes: number;
      /** How long it took, in milliseconds. */
      readonly duration_ms: number;
    } | null;
    /** of BACKUP_EVERY; null when a backup was made since */
    readonly failure: {
      /** When it failed. */
      readonly failed_at: Timestamp;
      /** why, and what to do */
      readonly message: string;
    } | null;
  };
  /** the alerts of people and channels */
  readonly alerts: {
    /** messages of all accounts that are still to be sent */
    readonly waiting_count: number;
    /** given up within the last week */
    readonly failed_count: number;
    /** why the last of these was given up */
    readonly last_error: string | null;
  };
  /** of the program */
  readonly version: string;
  /** DATABASE_REPLICA_URL, as the server that answers sees it; null when it is not set */
  readonly replica: {
    /** whether lists, reports and CSV files are read from it */
    readonly is_used: boolean;
    /** why not; null = it is used */
    readonly problem: string | null;
    /** for how long it has not had what the primary has */
    readonly lag_ms: number | null;
    /** WAL of the primary that it has not replayed */
    readonly lag_bytes: number | null;
  } | null;
  /** by number; cell 0 is the database of DATABASE_URL */
  readonly cells: readonly {
    /** The number of the cell. */
    readonly number: number;
    /** a draining cell takes no new accounts */
    readonly state: 'open' | 'draining';
    /** why it cannot be used; null = it can */
    readonly problem: string | null;
    /** of its PostgreSQL; null = that of cell 0 */
    readonly host: string | null;
    /** null = that of the login */
    readonly schema: string | null;
    /** of its last migration; this and the counts are null while it cannot be used */
    readonly schema_version: number | null;
    /** How many accounts it holds; null if it cannot be reached. */
    readonly account_count: number | null;
    /** deliveries that are due now at endpoints that are enabled */
    readonly due_count: number | null;
    /** processes that deliver */
    readonly worker_count: number | null;
  }[];
  /** where the data folder is; null when the database is elsewhere */
  readonly disk: {
    /** The free bytes of the disk. */
    readonly free_bytes: number;
    /** The size of the disk in bytes. */
    readonly total_bytes: number;
  } | null;
}

export type TaxCategory = 'S' | 'Z' | 'E' | 'AE' | 'O';

export type TaxForm = 'w9' | 'w8ben' | 'w8bene' | 'w8eci' | 'w8exp' | 'w8imy' | 'vat_registration' | 'other';

export interface TaxId {
  /**
   * us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a number that
   * is not checked
   */
  readonly type: TaxIdType;
  /** the last four characters, of a short one fewer */
  readonly ending: string;
  /** it was lost with the secret key: set it again */
  readonly is_lost: boolean;
  /** other affiliates with the same tax id, the first 20 ids */
  readonly shared_with: readonly number[];
}

export type TaxIdType = 'us_ssn' | 'us_itin' | 'us_ein' | 'vat' | 'other';

export type TaxLegalType = 'person' | 'business';

export interface TestWebhookEndpointBody {
  /** a type of the catalogue or your own; default webhook_endpoint.test */
  readonly type?: string | undefined;
  /** passed on unchanged; default: that of webhook_endpoint.test */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** How the fields of `data` changed. */
  readonly changes?: Changes | undefined;
}

export interface TestWebhookEndpointFilterBody {
  /** default: the filter of the endpoint */
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  /** a whole event, as sent */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** RFC 3339, in UTC with milliseconds */
export type Timestamp = string;

export interface UploadedFile {
  /** The name. */
  readonly name: string | null;
  /** The size in bytes. */
  readonly bytes: number;
}

export type UsTaxFormat = 'filing_service' | 'iris' | 'tin_matching';

export interface UsTaxPayment {
  /** How it was paid. */
  readonly method: PaidMethod;
  /** The currency of the amounts. */
  readonly currency: Currency;
  /** minor units of the currency given with it */
  readonly paid_amount: number;
  /** minor units of the currency given with it */
  readonly returned_amount: number;
  /** minor units of the currency given with it */
  readonly net_amount: number;
}

export interface UsTaxReport {
  /** The type of the record. */
  readonly object: 'us_tax_report';
  /** The calendar year. */
  readonly year: number;
  /** of the account: the year begins and ends at its midnights */
  readonly time_zone: string;
  /** cents: the sum from which a Form 1099-NEC is due */
  readonly threshold_amount: number;
  /** false: the threshold of that year was not yet published when this version was released */
  readonly is_threshold_known: boolean;
  /** The affiliates whose payments must be reported. */
  readonly reportable: {
    /** in the United States, with the threshold or more, or something was withheld: they are in the export */
    readonly affiliate_count: number;
    /** cents: the sum paid to them */
    readonly amount: number;
  };
  /** cents: the sum paid by PayPal to anyone */
  readonly processor_amount: number;
  /** cents: the sum withheld, which you owe to the IRS */
  readonly withheld_amount: number;
  /** affiliates who need a W-9 and have none */
  readonly missing_w9_count: number;
  /** affiliates elsewhere without a W-8 */
  readonly missing_w8_count: number;
  /** affiliates in the export without a US tax id */
  readonly missing_tax_id_count: number;
  /** affiliates who were also paid in other currencies, which are not converted */
  readonly other_currency_count: number;
  /** the states with affiliates to report there; `state_thresholds` of the account replaces the built-in table */
  readonly states: readonly UsTaxState[];
  /** What the report covers and what it leaves out. */
  readonly remark: string;
}

export type UsTaxResidence = 'us' | 'foreign' | 'unknown';

export interface UsTaxRow {
  /** The affiliate. */
  readonly affiliate_id: number;
  /** The name. */
  readonly name: string | null;
  /** The e-mail address. */
  readonly email: string;
  /** of the tax profile */
  readonly legal_name: string | null;
  /** The kind of taxpayer; null if unknown. */
  readonly legal_type: TaxLegalType | null;
  /** of the tax profile, or of the affiliate */
  readonly country: string | null;
  /** by the signed form unless it has lapsed, else by the country */
  readonly residence: UsTaxResidence;
  /** The signed tax form; null if there is none. */
  readonly form: TaxForm | null;
  /** the day; null: it does not lapse, or there is none */
  readonly form_valid_until: string | null;
  /** The type of the tax id; null if unknown. */
  readonly tax_id_type: TaxIdType | null;
  /** The last characters of the tax id; null if unknown. */
  readonly tax_id_ending: string | null;
  /**
   * w9: in the United States, or country unknown and paid the threshold or more; w8: elsewhere without a W-8, or
   * with one that had lapsed before the year
   */
  readonly missing_form: MissingTaxForm | null;
  /** cents: paid by methods that you report, less returns */
  readonly reportable_amount: number;
  /** cents: paid by PayPal, which reports it itself (Form 1099-K), less returns */
  readonly processor_amount: number;
  /** cents: withheld from them (backup withholding, box 4 of Form 1099-NEC), less what returns reversed */
  readonly withheld_amount: number;
  /** `reportable_amount` is the threshold or more */
  readonly is_above_threshold: boolean;
  /** the `region` of a tax profile in the United States, if it has the two letters of a state, in capitals */
  readonly state: string | null;
  /** cents: the sum from which the state is reported to; null: not at all, or the state is not known */
  readonly state_threshold_amount: number | null;
  /** `reportable_amount` is above zero, and `state_threshold_amount` or more */
  readonly is_above_state_threshold: boolean;
  /** every method and currency, in minor units; other currencies than USD are not converted */
  readonly payments: readonly UsTaxPayment[];
}

export interface UsTaxState {
  /** the two letters of the state */
  readonly state: string;
  /** cents: the sum from which the state is reported to */
  readonly threshold_amount: number;
  /** with that sum or more */
  readonly affiliate_count: number;
  /** cents: the sum paid to them */
  readonly amount: number;
}

export interface UseVerifiedNameBody {
  /** `verification.bank_name` of the destination */
  readonly name: string;
  /** absent: the destination for all currencies */
  readonly currency?: Currency | undefined;
}

export interface User {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'user';
  /** The e-mail address. */
  readonly email: string;
  /** The name. */
  readonly name: string;
  /**
   * owner: may do everything; member: may do everything except API keys, users and applications; finance:
   * manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys;
   * approver: reads, downloads payment files and approves payouts, but changes nothing else; viewer: only reads,
   * without payment files and complete account numbers
   */
  readonly role: Role;
  /** invited: has not accepted the invitation yet */
  readonly status: UserStatus;
  /** When the user was removed; null while the user belongs to the account. */
  readonly removed_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export type UserStatus = 'invited' | 'active' | 'removed';

export interface VoidCommissionBody {
  /** The reason. */
  readonly reason?: string | null | undefined;
}

export interface WebhookAcknowledgements {
  /** The type of the record. */
  readonly object: 'webhook_acknowledgements';
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** The id of the record. */
    readonly id: string;
    /** of this claim */
    readonly lease_id: string;
    /**
     * acknowledged: also if it was before, with the same status; lease_lost: the lease has ended, so nothing was
     * changed
     */
    readonly result: AcknowledgementResult;
  }[];
}

export interface WebhookAttempt {
  /** from 1 */
  readonly number: number;
  /** manual: a manual retry */
  readonly trigger: AttemptTrigger;
  /** The status. */
  readonly status: AttemptStatus;
  /** null: a consumer claimed it */
  readonly url: string | null;
  /** When it started; null before that. */
  readonly started_at: Timestamp;
  /** How long it took, in milliseconds. */
  readonly duration_ms: number;
  /** as sent; the values of your own headers are hidden */
  readonly request_headers: Readonly<Record<string, string>> | null;
  /** as sent, if it differs from `payload`: thin or a CloudEvent; in a batch its part of the array */
  readonly request_body: string | null;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch: AttemptBatch | null;
  /** Who claimed it from a pull endpoint; null = it was sent to a URL. */
  readonly claim: AttemptClaim | null;
  /** null without a response */
  readonly response_status: number | null;
  /** as received */
  readonly response_headers: Readonly<Record<string, string>> | null;
  /** its first 16 KiB; in a batch of several events its first KiB */
  readonly response_body: string | null;
  /** the body is longer than the stored part */
  readonly response_truncated: boolean;
  /** why it failed, as a stable code; null if it succeeded */
  readonly error_code: string | null;
  /** the same as readable text */
  readonly error_message: string | null;
}

export interface WebhookClaim {
  /** The type of the record. */
  readonly object: 'webhook_claim';
  /** The results, in the order of the request. */
  readonly items: readonly ClaimedEvent[];
}

export interface WebhookEndpoint {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_endpoint';
  /** push: events are sent to the URL; pull: it has none, and consumers claim its events */
  readonly delivery: EndpointDelivery;
  /** where events are sent, including pending ones; null with pull */
  readonly url: string | null;
  /** a note of yours */
  readonly description: string | null;
  /**
   * your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint
   * that has an owner keeps it
   */
  readonly owner: string | null;
  /** your own id of the endpoint, unique in the account */
  readonly external_id: string | null;
  /**
   * the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
   * confirmed by a link
   */
  readonly contact_email: string | null;
  /**
   * off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail; none:
   * there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was not opened for
   * 7 days; confirmed: the address gets e-mails
   */
  readonly contact_status: ContactStatus;
  /** the types of events that it receives; null = all */
  readonly event_types: readonly string[] | null;
  /** conditions on the payload; null = none */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** events for a disabled endpoint are held until it is enabled */
  readonly status: EndpointStatus;
  /**
   * manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it answered
   * `webhook-delivery: disable`
   */
  readonly disabled_reason: DisabledReason | null;
  /** When it was disabled; null while it is enabled. */
  readonly disabled_at: Timestamp | null;
  /** nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503, 504) */
  readonly paused_until: Timestamp | null;
  /** when the first waiting event is due; null if no event is waiting or the endpoint is disabled */
  readonly next_attempt_at: Timestamp | null;
  /** events with the same ordering key are sent one after the other, in the order in which they were published */
  readonly ordered: boolean;
  /** How events are sent together in one request; null if each is sent alone. */
  readonly batch: Batch | null;
  /** the most requests that it is sent in a second; null = no limit */
  readonly rate_limit: number | null;
  /**
   * an event that was not delivered this many seconds after it was created is cancelled instead of sent;
   * seconds; null = no limit
   */
  readonly max_age: number | null;
  /** your own headers, sent with every delivery; the names; the values are never shown */
  readonly headers: readonly string[];
  /**
   * the form of the events: a thin one has no data, which the receiver reads with an API key; full: the whole
   * event. thin: the event without its `data`, but with the id of its subject and the path to read it.
   * cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts
   */
  readonly payload: PayloadForm;
  /** the version of the API in which it receives events; by default the current one when the endpoint is created */
  readonly api_version: string;
  /**
   * standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. stripe,
   * github, shopify, slack: as these services sign, so that receivers written for them need no change. custom:
   * as `custom_signing` says
   */
  readonly signing: SigningScheme;
  /** The scheme of `signing: custom`; null with another scheme. */
  readonly custom_signing: CustomSigning | null;
  /** A further signature that is sent until it expires; null if there is none. */
  readonly second_signature: SecondSignature | null;
  /** the HTTP proxy of requests, without its password; null = that of the server, if any */
  readonly proxy: string | null;
  /** The certificate shown to the receiver (mTLS), without its key; null if there is none. */
  readonly client_certificate: ClientCertificate | null;
  /** How access tokens for the receiver are requested (OAuth 2); null if none are. */
  readonly client_credentials: ClientCredentials | null;
  /** Your own keys and texts. */
  readonly metadata: Metadata;
  /** When the first of the current failures happened; null after a success. */
  readonly first_failure_at: Timestamp | null;
  /** when a consumer last asked for events, to the minute; null with push */
  readonly last_claimed_at: Timestamp | null;
  /** When a delivery last succeeded; null if none has. */
  readonly last_success_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

export interface WebhookEndpointDisabledEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'webhook_endpoint.disabled';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** How the fields of `data` changed. */
  readonly changes: Changes;
  /** The records of this page, in the requested order. */
  readonly data: WebhookEndpoint;
}

export interface WebhookEndpointSecret {
  /** The type of the record. */
  readonly object: 'webhook_endpoint_secret';
  /**
   * what the receiver verifies with; with `signing: ed25519` the public key; null when a stored answer is
   * replayed
   */
  readonly secret: string | null;
  /** when the second signature ends: that of the previous secret, or one that was given */
  readonly previous_secret_expires_at: Timestamp | null;
  /** with `signing: ed25519`: where anyone can read the public keys, as a JSON Web Key Set */
  readonly public_keys_url: string | null;
}

export interface WebhookEndpointTestEvent {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'event';
  /** The type, such as `payout.paid`. */
  readonly type: 'webhook_endpoint.test';
  /** When the change happened. */
  readonly timestamp: Timestamp;
  /** The account that it belongs to. */
  readonly account_id: string;
  /** The version of the API that the form of the event belongs to. */
  readonly api_version: '2.0.0';
  /** sent to test the endpoint: nothing happened */
  readonly is_test?: true | undefined;
  /** The records of this page, in the requested order. */
  readonly data: {
    /** The type of the record. */
    readonly object: 'webhook_test';
    /** the endpoint to which it was sent */
    readonly webhook_endpoint_id: string;
    /** A text that says that it is a test. */
    readonly message: string;
  };
}

export interface WebhookEndpointToken {
  /** The type of the record. */
  readonly object: 'webhook_endpoint_token';
  /** the secret, shown once; null when a stored answer is replayed */
  readonly token: string | null;
  /** null: there is none */
  readonly previous_token_expires_at: Timestamp | null;
}

export interface WebhookEvent {
  /** the event's id: `webhook-id` for the receiver */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_event';
  /** the endpoint it is sent to */
  readonly webhook_endpoint_id: string;
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /**
   * held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too old, or
   * given up by the receiver
   */
  readonly status: DeliveryStatus;
  /** attempts made so far */
  readonly attempt_count: number;
  /** null if none is planned, or it waits for another event */
  readonly next_attempt_at: Timestamp | null;
  /** the event of the same ordering key that must end first, at an ordered endpoint; null = none */
  readonly waits_for: string | null;
  /** When the last attempt was made; null before the first. */
  readonly last_attempt_at: Timestamp | null;
  /** of the last attempt; null without a response */
  readonly last_response_status: number | null;
  /** why the last attempt failed */
  readonly last_error_code: string | null;
  /** When it was delivered; null if it was not. */
  readonly delivered_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export interface WebhookEventAt {
  /** the current URL of the endpoint; null: it has none */
  readonly url: string | null;
  /** the event's id: `webhook-id` for the receiver */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_event';
  /** the endpoint it is sent to */
  readonly webhook_endpoint_id: string;
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /**
   * held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too old, or
   * given up by the receiver
   */
  readonly status: DeliveryStatus;
  /** attempts made so far */
  readonly attempt_count: number;
  /** null if none is planned, or it waits for another event */
  readonly next_attempt_at: Timestamp | null;
  /** the event of the same ordering key that must end first, at an ordered endpoint; null = none */
  readonly waits_for: string | null;
  /** When the last attempt was made; null before the first. */
  readonly last_attempt_at: Timestamp | null;
  /** of the last attempt; null without a response */
  readonly last_response_status: number | null;
  /** why the last attempt failed */
  readonly last_error_code: string | null;
  /** When it was delivered; null if it was not. */
  readonly delivered_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
}

export interface WebhookEventWithAttempts {
  /** the event's id: `webhook-id` for the receiver */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_event';
  /** the endpoint it is sent to */
  readonly webhook_endpoint_id: string;
  /** The type, such as `payout.paid`. */
  readonly type: string;
  /**
   * held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too old, or
   * given up by the receiver
   */
  readonly status: DeliveryStatus;
  /** attempts made so far */
  readonly attempt_count: number;
  /** null if none is planned, or it waits for another event */
  readonly next_attempt_at: Timestamp | null;
  /** the event of the same ordering key that must end first, at an ordered endpoint; null = none */
  readonly waits_for: string | null;
  /** When the last attempt was made; null before the first. */
  readonly last_attempt_at: Timestamp | null;
  /** of the last attempt; null without a response */
  readonly last_response_status: number | null;
  /** why the last attempt failed */
  readonly last_error_code: string | null;
  /** When it was delivered; null if it was not. */
  readonly delivered_at: Timestamp | null;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** the event as sent */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The attempts, the latest first. */
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookLeases {
  /** The type of the record. */
  readonly object: 'webhook_leases';
  /** The results, in the order of the request. */
  readonly items: readonly {
    /** The id of the record. */
    readonly id: string;
    /** of this claim */
    readonly lease_id: string;
    /** lease_lost: the lease has ended, so nothing was changed */
    readonly result: LeaseResult;
    /** null: nobody has the event now */
    readonly lease_expires_at: Timestamp | null;
  }[];
}

export interface WebhookRecovery {
  /** The id of the record. */
  readonly id: string;
  /** The type of the record. */
  readonly object: 'webhook_recovery';
  /** The webhook endpoint. */
  readonly webhook_endpoint_id: string;
  /** recover: sends the events again; discard: cancels those that wait */
  readonly action: RecoveryAction;
  /** paused: the endpoint is disabled; the recovery continues when it is enabled */
  readonly status: RecoveryStatus;
  /** What the recovery sends again, or the discard cancels. */
  readonly filters: RecoveryFilters;
  /** its progress from `since` to `until`: events created before this were processed */
  readonly processed_until: Timestamp | null;
  /** events it queued; 0 for a discard */
  readonly queued_count: number;
  /** events it cancelled; 0 for a recovery */
  readonly discarded_count: number;
  /** events that were already due or being sent: that attempt counts */
  readonly skipped_count: number;
  /** Who created it: the id of a key, a user or an application. */
  readonly created_by: string;
  /** When it was created. */
  readonly created_at: Timestamp;
  /** When it started; null before that. */
  readonly started_at: Timestamp | null;
  /** When it was completed; null before that. */
  readonly completed_at: Timestamp | null;
  /** When it was cancelled; null if it was not. */
  readonly cancelled_at: Timestamp | null;
}

/** An event of Payhook: `type` decides the type of `data`. */
export type PayhookEvent =
  | PayoutCreatedEvent
  | PayoutUpdatedEvent
  | PayoutApprovedEvent
  | PayoutRejectedEvent
  | PayoutPaidEvent
  | PayoutDeletedEvent
  | CommissionCreatedEvent
  | CommissionUpdatedEvent
  | CommissionVoidedEvent
  | CommissionClawedBackEvent
  | CommissionsImportedEvent
  | AffiliateCreatedEvent
  | AffiliateUpdatedEvent
  | AffiliateDeletedEvent
  | ImportUndoneEvent
  | WebhookEndpointDisabledEvent
  | WebhookEndpointTestEvent;

export interface ListPayoutsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?:
    | 'id'
    | '-id'
    | 'created_at'
    | '-created_at'
    | 'updated_at'
    | '-updated_at'
    | 'paid_at'
    | '-paid_at'
    | 'number'
    | '-number'
    | 'affiliate_count'
    | '-affiliate_count'
    | 'commission_count'
    | '-commission_count'
    | 'status'
    | '-status'
    | undefined;
  readonly status?: 'unpaid' | 'paid' | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lt]'?: InstantOrDay | undefined;
}

export interface PreviewPayoutAffiliatesQuery extends PageQuery {
  /** a field; a leading - means descending; default `id` */
  readonly sort?:
    | 'id'
    | '-id'
    | 'affiliate_id'
    | '-affiliate_id'
    | 'commission_count'
    | '-commission_count'
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
}

export interface PreviewPayoutExclusionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `id` */
  readonly sort?: 'id' | '-id' | 'affiliate_id' | '-affiliate_id' | 'amount' | '-amount' | undefined;
  readonly reason?:
    | 'below_minimum'
    | 'negative_balance'
    | 'on_hold'
    | 'affiliate_inactive'
    | 'not_ready'
    | 'form_missing'
    | 'form_expired'
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
}

export interface PreviewPayoutSignalsQuery extends PageQuery {
  /** a field; a leading - means descending; default `affiliate_id` */
  readonly sort?: 'affiliate_id' | '-affiliate_id' | 'amount' | '-amount' | undefined;
  readonly rule?:
    | 'destination_changed'
    | 'shared_destination'
    | 'first_payout_above'
    | 'amount_above_history'
    | 'imported_together'
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  readonly blocks?: boolean | undefined;
}

export interface ListPayoutSchedulesQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'created_at' | '-created_at' | 'name' | '-name' | undefined;
}

export interface ListPayoutAffiliatesQuery extends PageQuery {
  /** a field; a leading - means descending; default `id` */
  readonly sort?: 'id' | '-id' | 'affiliate_id' | '-affiliate_id' | 'is_paid' | '-is_paid' | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  readonly is_paid?: boolean | undefined;
  /** a text that is not empty */
  readonly payment_reference?: string | undefined;
}

export interface ListPayoutCommissionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'occurred_at' | '-occurred_at' | undefined;
  readonly status?: 'pending' | 'unpaid' | 'paid' | 'voided' | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?: number | undefined;
  readonly has_program?: boolean | undefined;
  /** an id that begins with po_, or none */
  readonly payout_id?: string | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  readonly type?: 'sale' | 'recurring' | 'bonus' | 'adjustment' | 'clawback' | undefined;
  /** a text that is not empty */
  readonly order_id?: string | undefined;
  /** a text that is not empty */
  readonly order_line_id?: string | undefined;
  /** a text that is not empty */
  readonly external_id?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lt]'?: InstantOrDay | undefined;
}

export interface ListPayoutExclusionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `id` */
  readonly sort?: 'id' | '-id' | 'affiliate_id' | '-affiliate_id' | 'amount' | '-amount' | undefined;
  readonly reason?:
    | 'below_minimum'
    | 'negative_balance'
    | 'on_hold'
    | 'affiliate_inactive'
    | 'not_ready'
    | 'form_missing'
    | 'form_expired'
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
}

export interface ListPayoutSignalsQuery extends PageQuery {
  /** a field; a leading - means descending; default `affiliate_id` */
  readonly sort?:
    | 'affiliate_id'
    | '-affiliate_id'
    | 'amount'
    | '-amount'
    | 'is_reviewed'
    | '-is_reviewed'
    | undefined;
  readonly rule?:
    | 'destination_changed'
    | 'shared_destination'
    | 'first_payout_above'
    | 'amount_above_history'
    | 'imported_together'
    | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  readonly blocks?: boolean | undefined;
  readonly is_ended?: boolean | undefined;
  readonly is_reviewed?: boolean | undefined;
}

export interface ListPayoutReturnsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-id` */
  readonly sort?: 'id' | '-id' | 'returned_at' | '-returned_at' | 'amount' | '-amount' | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  readonly is_undone?: boolean | undefined;
}

export interface ListInvoicesQuery extends PageQuery {
  /** a field; a leading - means descending; default `-id` */
  readonly sort?: 'id' | '-id' | 'amount' | '-amount' | undefined;
  /** a text that is not empty */
  readonly number?: string | undefined;
  /** an id that begins with po_ */
  readonly payout_id?: string | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  readonly kind?: 'invoice' | 'credit_note' | undefined;
}

export interface DownloadInvoiceQuery {
  readonly format?: 'pdf' | 'html' | 'xml' | 'ubl' | undefined;
}

export interface DownloadInvoicesOfPayoutQuery {
  readonly format?: 'pdf' | 'xml' | 'ubl' | undefined;
}

export interface DownloadPaymentFileQuery {
  /** the currency of the amounts */
  readonly currency?: Currency | undefined;
  /** the part, if there are more rows than fit into one file */
  readonly part?: number | undefined;
  /**
   * payments in one part; defaults to the maximum of the provider, or for bank files the setting of `debtor` or
   * `originator`. Another number makes another file set
   */
  readonly rows_per_file?: number | undefined;
  /** leaves out affiliates the file cannot pay, instead of refusing */
  readonly allow_skipped?: boolean | undefined;
  /** the currency the transfers are paid from; default the payout currency */
  readonly source_currency?: Currency | undefined;
  /**
   * bank files: the day on which the bank should pay, `YYYY-MM-DD`; defaults to today in your time zone for
   * `sepa`, the next banking day for `nacha`
   */
  readonly execution_date?: string | undefined;
  /** sepa: whether the transfers are instant (SCT Inst); defaults to `is_instant` of the `debtor` */
  readonly instant?: boolean | undefined;
  readonly whole_units?: 'down' | undefined;
}

export interface TakePayoutResultQuery {
  /**
   * names of columns, separated by commas, that say nothing about payments in a list of your own; any other
   * unknown column is refused
   */
  readonly ignore_columns?: string | undefined;
}

export interface ListPayoutResultsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-id` */
  readonly sort?: 'id' | '-id' | undefined;
  readonly kind?:
    | 'camt.053'
    | 'camt.054'
    | 'pain.002'
    | 'verification'
    | 'nacha'
    | 'paypal'
    | 'wise'
    | 'paid_list'
    | undefined;
}

export interface ListPayoutVerificationsQuery extends PageQuery {
  /** a field; a leading - means descending; default `affiliate_id` */
  readonly sort?: 'affiliate_id' | '-affiliate_id' | 'verified_at' | '-verified_at' | undefined;
  readonly result?: 'match' | 'close_match' | 'no_match' | 'not_possible' | 'name_used' | undefined;
  readonly is_mismatch?: boolean | undefined;
}

export interface GetReportSummaryQuery extends PageQuery {
  /**
   * a month, quarter or year such as 2026-07, 2026-Q3, 2026, or this_month, last_month, this_quarter,
   * last_quarter, this_year, last_year. Default this_month
   */
  readonly period?: string | undefined;
  /** instead of a period: the first day */
  readonly from?: Day | undefined;
  /** the last day */
  readonly to?: Day | undefined;
  readonly by?: 'currency' | 'method' | 'program' | 'country' | 'affiliate' | undefined;
  /**
   * by affiliate, only those of a country (ISO 3166-1 alpha-2), or none: whose country is not known; the totals
   * are of all
   */
  readonly country?: string | undefined;
  /** by affiliate, only the rows in a currency; the totals are of all */
  readonly currency?: string | undefined;
}

export interface DownloadReportSummaryQuery {
  /**
   * a month, quarter or year such as 2026-07, 2026-Q3, 2026, or this_month, last_month, this_quarter,
   * last_quarter, this_year, last_year. Default this_month
   */
  readonly period?: string | undefined;
  /** instead of a period: the first day */
  readonly from?: Day | undefined;
  /** the last day */
  readonly to?: Day | undefined;
  readonly by?: 'currency' | 'method' | 'program' | 'country' | 'affiliate' | undefined;
  /**
   * by affiliate, only those of a country (ISO 3166-1 alpha-2), or none: whose country is not known; the totals
   * are of all
   */
  readonly country?: string | undefined;
  /** by affiliate, only the rows in a currency; the totals are of all */
  readonly currency?: string | undefined;
  readonly format?: 'csv' | 'pdf' | 'html' | undefined;
}

export interface ListReportEntriesQuery extends PageQuery {
  /** a field; a leading - means descending; default `-occurred_at` */
  readonly sort?: 'occurred_at' | '-occurred_at' | undefined;
  /** a day YYYY-MM-DD, from 1970 to 2999 */
  readonly from?: Day | undefined;
  /** a day YYYY-MM-DD, from 1970 to 2999 */
  readonly to?: Day | undefined;
  readonly kind?: 'earned' | 'adjusted' | 'refunded' | 'voided' | 'paid' | 'returned' | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** a code of two letters such as DE (ISO 3166-1 alpha-2), or none */
  readonly country?: string | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?: number | undefined;
  readonly has_program?: boolean | undefined;
  readonly payout_method?: 'paypal' | 'wise' | 'other' | 'wise_bank' | 'sepa' | 'ach' | 'none' | undefined;
}

export interface DownloadPaidReportQuery {
  /** four digits, 1970 to 2999 */
  readonly year?: string | undefined;
  /** the first day */
  readonly from?: Day | undefined;
  /** the last day */
  readonly to?: Day | undefined;
}

export interface ListPaidReportQuery extends PageQuery {
  /** a field; a leading - means descending; default `id` */
  readonly sort?: 'id' | '-id' | 'affiliate_id' | '-affiliate_id' | undefined;
  /** a day YYYY-MM-DD, from 1970 to 2999 */
  readonly from?: Day | undefined;
  /** a day YYYY-MM-DD, from 1970 to 2999 */
  readonly to?: Day | undefined;
  /** four digits such as 2026, from 1970 to 2999 */
  readonly year?: string | undefined;
}

export interface GetUsTaxReportQuery {
  /** four digits, from 2020; default this year */
  readonly year?: string | undefined;
}

export interface ListUsTaxReportQuery extends PageQuery {
  /** a field; a leading - means descending; default `affiliate_id` */
  readonly sort?: 'affiliate_id' | '-affiliate_id' | 'reportable_amount' | '-reportable_amount' | undefined;
  /** four digits such as 2026 */
  readonly year?: string | undefined;
  readonly residence?: 'us' | 'foreign' | 'unknown' | undefined;
  readonly missing_form?: 'w9' | 'w8' | undefined;
  readonly is_above_state_threshold?: boolean | undefined;
  readonly is_reportable?: boolean | undefined;
}

export interface ExportUsTaxReportQuery {
  /** four digits, from 2020; default this year */
  readonly year?: string | undefined;
  /**
   * filing_service: CSV with the fields of Form 1099-NEC as Avalara names them; iris: CSV in the columns of the
   * IRS’s template; tin_matching: text for the bulk TIN matching of the IRS, with everybody in the United States
   * who has a tax id there
   */
  readonly format?: UsTaxFormat | undefined;
}

export interface GetAffiliateStatementQuery {
  /** four digits, 1970 to 2999 */
  readonly year?: string | undefined;
  /** the first day */
  readonly from?: Day | undefined;
  /** the last day */
  readonly to?: Day | undefined;
}

export interface DownloadAffiliateStatementQuery {
  /** four digits, 1970 to 2999 */
  readonly year?: string | undefined;
  /** the first day */
  readonly from?: Day | undefined;
  /** the last day */
  readonly to?: Day | undefined;
  readonly format?: 'csv' | 'pdf' | 'html' | undefined;
}

export interface ListAffiliatesQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?:
    | 'id'
    | '-id'
    | 'created_at'
    | '-created_at'
    | 'email'
    | '-email'
    | 'unpaid'
    | '-unpaid'
    | undefined;
  /** a text that is not empty */
  readonly external_id?: string | undefined;
  readonly status?: 'active' | 'inactive' | undefined;
  readonly is_ready_for_payout?: boolean | undefined;
  readonly payout_method?: 'paypal' | 'wise' | 'other' | 'wise_bank' | 'sepa' | 'ach' | 'none' | undefined;
  readonly has_destination?: boolean | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?: number | undefined;
  /** an e-mail address */
  readonly email?: string | undefined;
  /** at most 200 characters */
  readonly search?: string | undefined;
  /** an ISO 4217 currency code */
  readonly balance_currency?: Currency | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface GetCommissionAnalyticsQuery {
  readonly interval?: 'day' | 'week' | 'month' | undefined;
  /** the series begins with the interval that contains this day. Default: 30 days, 12 weeks or 12 months */
  readonly from?: Day | undefined;
  /** the series ends with the interval that contains this day. Default today */
  readonly to?: Day | undefined;
  /** the currency of the amounts */
  readonly currency?: Currency | undefined;
  /** only commissions of this program */
  readonly program_id?: string | undefined;
}

export interface GetDeliveryAnalyticsQuery {
  readonly interval?: 'minute' | 'hour' | 'day' | undefined;
  /** the series begins with the interval that contains this. Default: 60 minutes, 24 hours or 30 days */
  readonly from?: InstantOrDay | undefined;
  /** the series ends with the interval that contains this. Default now */
  readonly to?: InstantOrDay | undefined;
  /** only deliveries to this endpoint, which may be deleted */
  readonly webhook_endpoint_id?: string | undefined;
  /** only deliveries to the endpoints of this owner, including deleted ones */
  readonly owner?: string | undefined;
}

export interface ImportAffiliatesQuery {
  /** only checks the file, and stores nothing */
  readonly dry_run?: boolean | undefined;
  /** stores the good lines although others are bad */
  readonly partial?: boolean | undefined;
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly progress_key?: string | undefined;
}

export interface DeleteAffiliateDestinationQuery {
  /** absent: the one for all currencies */
  readonly currency?: Currency | undefined;
}

export interface ListDestinationCorrectionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `due_on` */
  readonly sort?: 'due_on' | '-due_on' | 'id' | '-id' | undefined;
  readonly status?: 'open' | 'outdated' | 'accepted' | 'dismissed' | undefined;
  /** an id that begins with po_ */
  readonly payout_id?: string | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
}

export interface ListAffiliateNoticesQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'created_at' | '-created_at' | undefined;
  readonly kind?:
    | 'paid'
    | 'returned'
    | 'destination_changed'
    | 'form_lapsing'
    | 'agreement_ending'
    | undefined;
  readonly status?: 'waiting' | 'sent' | 'failed' | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
}

export interface PreviewAffiliateNoticeQuery {
  /**
   * paid: a payout that pays the affiliate was completed; returned: a payment to the affiliate was booked as
   * returned; destination_changed: the destination or e-mail address was changed; also sent to the former
   * address; form_lapsing: the tax form lapses at the end of the year; agreement_ending: the self-billing
   * agreement ends within 90 days
   */
  readonly kind: AffiliateNoticeKind;
  /** default: that of the account */
  readonly language?: NoticeLanguage | undefined;
}

export interface ListAffiliateTaxProfilesQuery extends PageQuery {
  /** a field; a leading - means descending; default `affiliate_id` */
  readonly sort?:
    | 'affiliate_id'
    | '-affiliate_id'
    | 'legal_name'
    | '-legal_name'
    | 'signed_on'
    | '-signed_on'
    | undefined;
  readonly form?:
    | 'w9'
    | 'w8ben'
    | 'w8bene'
    | 'w8eci'
    | 'w8exp'
    | 'w8imy'
    | 'vat_registration'
    | 'other'
    | undefined;
  readonly form_status?: 'none' | 'valid' | 'lapsing' | 'lapsed' | undefined;
  readonly self_billing_status?: 'none' | 'valid' | 'ending' | 'ended' | undefined;
}

export interface ListProgramsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'name' | '-name' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListCommissionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'occurred_at' | '-occurred_at' | undefined;
  readonly status?: 'pending' | 'unpaid' | 'paid' | 'voided' | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?: number | undefined;
  readonly has_program?: boolean | undefined;
  /** an id that begins with po_, or none */
  readonly payout_id?: string | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  readonly type?: 'sale' | 'recurring' | 'bonus' | 'adjustment' | 'clawback' | undefined;
  /** a text that is not empty */
  readonly order_id?: string | undefined;
  /** a text that is not empty */
  readonly order_line_id?: string | undefined;
  /** a text that is not empty */
  readonly external_id?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'voided_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'paid_at[lt]'?: InstantOrDay | undefined;
}

export interface ImportCommissionsQuery {
  /** only checks the file, and stores nothing */
  readonly dry_run?: boolean | undefined;
  /** stores the good lines although others are bad */
  readonly partial?: boolean | undefined;
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly progress_key?: string | undefined;
}

export interface ListRefundsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'occurred_at' | '-occurred_at' | undefined;
  readonly status?: 'waiting' | 'applied' | 'reversed' | undefined;
  /** a text that is not empty */
  readonly order_id?: string | undefined;
  /** a text that is not empty */
  readonly external_id?: string | undefined;
  /** an id that begins with com_ */
  readonly commission_id?: string | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly affiliate_id?: number | undefined;
  /** an integer from 1 to 9007199254740991 */
  readonly program_id?: number | undefined;
  readonly has_program?: boolean | undefined;
  /** an ISO 4217 currency code */
  readonly currency?: Currency | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'occurred_at[lt]'?: InstantOrDay | undefined;
}

export interface PreviewImportQuery {
  readonly kind: 'affiliates' | 'commissions';
  /**
   * JSON: `{"Column of the file": "field"}`, `"ignore"` for a column to leave out, and `{"field": {"constant":
   * "usd"}}` for the value of every line; or the name of a mapping that was saved. Columns it does not name are
   * guessed
   */
  readonly mapping?: string | undefined;
  /** the name of a sheet of a workbook; default the first visible one that is not empty */
  readonly sheet?: string | undefined;
  /** the line that names the columns; lines above it are left out */
  readonly header_row?: number | undefined;
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | undefined;
  readonly separator?: 'comma' | 'semicolon' | 'tab' | 'bar' | undefined;
  readonly decimal?: 'point' | 'comma' | undefined;
  readonly dates?: 'iso' | 'dmy' | 'mdy' | undefined;
  readonly paid?: 'import' | 'skip' | undefined;
  /**
   * JSON: what the words of the file mean, by field: `{"status": {"gesperrt": "inactive"}, "country": {"Hellas":
   * "GR"}}`; `"refuse"` makes the lines with a word bad. Common words in several languages need not be said
   */
  readonly values?: string | undefined;
  readonly status_columns?: 'ignore' | undefined;
  readonly totals?: 'import' | 'skip' | undefined;
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly progress_key?: string | undefined;
  /** shown in the record */
  readonly file_name?: string | undefined;
}

export interface CreateImportQuery {
  readonly kind: 'affiliates' | 'commissions';
  /**
   * JSON: `{"Column of the file": "field"}`, `"ignore"` for a column to leave out, and `{"field": {"constant":
   * "usd"}}` for the value of every line; or the name of a mapping that was saved. Columns it does not name are
   * guessed
   */
  readonly mapping?: string | undefined;
  /** the name of a sheet of a workbook; default the first visible one that is not empty */
  readonly sheet?: string | undefined;
  /** the line that names the columns; lines above it are left out */
  readonly header_row?: number | undefined;
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | undefined;
  readonly separator?: 'comma' | 'semicolon' | 'tab' | 'bar' | undefined;
  readonly decimal?: 'point' | 'comma' | undefined;
  readonly dates?: 'iso' | 'dmy' | 'mdy' | undefined;
  readonly paid?: 'import' | 'skip' | undefined;
  /**
   * JSON: what the words of the file mean, by field: `{"status": {"gesperrt": "inactive"}, "country": {"Hellas":
   * "GR"}}`; `"refuse"` makes the lines with a word bad. Common words in several languages need not be said
   */
  readonly values?: string | undefined;
  readonly status_columns?: 'ignore' | undefined;
  readonly totals?: 'import' | 'skip' | undefined;
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly progress_key?: string | undefined;
  /** shown in the record */
  readonly file_name?: string | undefined;
  /** only checks the file, and stores nothing */
  readonly dry_run?: boolean | undefined;
  /** stores the good lines although others are bad */
  readonly partial?: boolean | undefined;
  /** imports although the meaning of columns or values was guessed */
  readonly accept_guesses?: boolean | undefined;
  /** saves the mapping for files with the same header */
  readonly save_as?: string | undefined;
}

export interface ListImportsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  readonly kind?: 'affiliates' | 'commissions' | undefined;
  readonly status?: 'completed' | 'undone' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface DownloadBadLinesQuery {
  readonly kind: 'affiliates' | 'commissions';
  /**
   * JSON: `{"Column of the file": "field"}`, `"ignore"` for a column to leave out, and `{"field": {"constant":
   * "usd"}}` for the value of every line; or the name of a mapping that was saved. Columns it does not name are
   * guessed
   */
  readonly mapping?: string | undefined;
  /** the name of a sheet of a workbook; default the first visible one that is not empty */
  readonly sheet?: string | undefined;
  /** the line that names the columns; lines above it are left out */
  readonly header_row?: number | undefined;
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | undefined;
  readonly separator?: 'comma' | 'semicolon' | 'tab' | 'bar' | undefined;
  readonly decimal?: 'point' | 'comma' | undefined;
  readonly dates?: 'iso' | 'dmy' | 'mdy' | undefined;
  readonly paid?: 'import' | 'skip' | undefined;
  /**
   * JSON: what the words of the file mean, by field: `{"status": {"gesperrt": "inactive"}, "country": {"Hellas":
   * "GR"}}`; `"refuse"` makes the lines with a word bad. Common words in several languages need not be said
   */
  readonly values?: string | undefined;
  readonly status_columns?: 'ignore' | undefined;
  readonly totals?: 'import' | 'skip' | undefined;
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly progress_key?: string | undefined;
  /** shown in the record */
  readonly file_name?: string | undefined;
}

export interface GetImportProgressQuery {
  /** a new name for this request: getImportProgress uses it to report the progress of the request */
  readonly key: string;
}

export interface ListImportMappingsQuery extends PageQuery {
  /** a field; a leading - means descending; default `name` */
  readonly sort?: 'name' | '-name' | 'updated_at' | '-updated_at' | undefined;
  readonly kind?: 'affiliates' | 'commissions' | undefined;
}

export interface ListWebhookEndpointsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
  /** a text that is not empty */
  readonly owner?: string | undefined;
  /** a text that is not empty */
  readonly external_id?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListPortalLinksQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  readonly status?: 'unused' | 'open' | 'ended' | 'expired' | 'revoked' | undefined;
  /** an id that begins with we_ */
  readonly webhook_endpoint_id?: string | undefined;
  /** a text that is not empty */
  readonly owner?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListRecoveriesOfWebhookEndpointQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListEventsOfWebhookEndpointQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  /**
   * counting rows one by one may stop here: a `total` equal to it means at least that many, and pages beyond are
   * empty
   */
  readonly max_total?: number | undefined;
  readonly status?: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'held' | undefined;
  /** an event type such as payout.paid, or a prefix such as payout.*; under our own prefixes it must exist */
  readonly type?: string | undefined;
  /** an id that begins with evt_ */
  readonly event_id?: string | undefined;
  /** an external_id that an event was published under */
  readonly external_id?: string | undefined;
  /** an HTTP status from 100 to 599: that of the last response */
  readonly response_status?: number | undefined;
  readonly response_class?: '2xx' | '3xx' | '4xx' | '5xx' | 'none' | undefined;
  /** why the last attempt failed, as in last_error_code */
  readonly error_code?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListWebhookEventsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  /**
   * counting rows one by one may stop here: a `total` equal to it means at least that many, and pages beyond are
   * empty
   */
  readonly max_total?: number | undefined;
  readonly status?: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'held' | undefined;
  /** an event type such as payout.paid, or a prefix such as payout.*; under our own prefixes it must exist */
  readonly type?: string | undefined;
  /** an id that begins with evt_ */
  readonly event_id?: string | undefined;
  /** an external_id that an event was published under */
  readonly external_id?: string | undefined;
  /** an HTTP status from 100 to 599: that of the last response */
  readonly response_status?: number | undefined;
  readonly response_class?: '2xx' | '3xx' | '4xx' | '5xx' | 'none' | undefined;
  /** why the last attempt failed, as in last_error_code */
  readonly error_code?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
  /** an id that begins with we_ */
  readonly webhook_endpoint_id?: string | undefined;
  /** a tag that an event was published with */
  readonly tag?: string | undefined;
  /** a text that is not empty */
  readonly owner?: string | undefined;
}

export interface ListEventsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  /**
   * counting rows one by one may stop here: a `total` equal to it means at least that many, and pages beyond are
   * empty
   */
  readonly max_total?: number | undefined;
  /** an event type such as payout.paid, or a prefix such as payout.*; under our own prefixes it must exist */
  readonly type?: string | undefined;
  /** an external_id that an event was published under */
  readonly external_id?: string | undefined;
  /** a text that is not empty */
  readonly owner?: string | undefined;
  /** a tag that an event was published with */
  readonly tag?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListEventTypesQuery extends PageQuery {
  /** a field; a leading - means descending; default `type` */
  readonly sort?: 'type' | '-type' | undefined;
}

export interface GetActorsQuery {
  /** ids from fields such as `created_by` and `paid_by`, separated by commas: at most 100 */
  readonly ids: string;
}

export interface GetAlertSettingsQuery {
  /** the user; default: the signed-in user. Only owners and API keys may name another user. */
  readonly user_id?: string | undefined;
}

export interface SetAlertSettingsQuery {
  /** the user; default: the signed-in user. Only owners and API keys may name another user. */
  readonly user_id?: string | undefined;
}

export interface TestAlertSettingsQuery {
  /** the user; default: the signed-in user. Only owners and API keys may name another user. */
  readonly user_id?: string | undefined;
}

export interface ListAlertChannelsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'name' | '-name' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListApiKeysQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?:
    | 'id'
    | '-id'
    | 'created_at'
    | '-created_at'
    | 'name'
    | '-name'
    | 'last_used_at'
    | '-last_used_at'
    | undefined;
  readonly status?: 'active' | 'revoked' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListUsersQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?:
    | 'id'
    | '-id'
    | 'created_at'
    | '-created_at'
    | 'name'
    | '-name'
    | 'email'
    | '-email'
    | undefined;
  readonly status?: 'active' | 'invited' | 'removed' | undefined;
  readonly role?: 'owner' | 'member' | 'finance' | 'approver' | 'viewer' | undefined;
  /** an e-mail address */
  readonly email?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListSessionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'last_seen_at' | '-last_seen_at' | undefined;
  /** an id that begins with usr_ */
  readonly user_id?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListOwnSessionsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-last_seen_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'last_seen_at' | '-last_seen_at' | undefined;
}

export interface ListAuditLogQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | undefined;
  readonly actor_kind?: 'key' | 'user' | 'application' | 'operator' | 'portal' | undefined;
  /** a text that is not empty */
  readonly actor_id?: string | undefined;
  /** a text that is not empty */
  readonly action?: string | undefined;
  /** a text that is not empty */
  readonly target?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListOAuthApplicationsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'name' | '-name' | undefined;
  readonly kind?: 'confidential' | 'public' | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

export interface ListOAuthGrantsQuery extends PageQuery {
  /** a field; a leading - means descending; default `-created_at` */
  readonly sort?: 'id' | '-id' | 'created_at' | '-created_at' | 'last_used_at' | '-last_used_at' | undefined;
  readonly status?: 'active' | 'revoked' | undefined;
  /** an id that begins with app_ */
  readonly application_id?: string | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[gt]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lte]'?: InstantOrDay | undefined;
  /** an RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999 */
  readonly 'created_at[lt]'?: InstantOrDay | undefined;
}

/** Every operation of the API: what it takes, and what it gives. */
export interface Operations {
  /** List affiliate payouts. List affiliate payouts. */
  readonly listPayouts: {
    readonly query?: ListPayoutsQuery;
    readonly result: Page<PayoutSummary>;
  };
  /**
   * Create a payout. Takes all unpaid commissions that match the filters and are not on hold. An account has at
   * most one unpaid payout.
   */
  readonly createPayout: {
    readonly body?: PayoutSelection;
    readonly header: 'Idempotency-Key';
    readonly result: Payout;
  };
  /**
   * Preview a payout. Shows exactly what create would do now, without doing it. Use it as a report of what you
   * owe.
   */
  readonly previewPayout: {
    readonly body?: PayoutSelection;
    readonly header: 'Idempotency-Key';
    readonly result: PayoutPreview;
  };
  /** List the lines a payout would pay. Works for any number of rows. Each page is computed when requested. */
  readonly previewPayoutAffiliates: {
    readonly query?: PreviewPayoutAffiliatesQuery;
    readonly body?: PayoutSelection;
    readonly header: 'Idempotency-Key';
    readonly result: Page<PayoutLine>;
  };
  /**
   * List the affiliates a payout would leave out. Works for any number of rows. Each page is computed when
   * requested.
   */
  readonly previewPayoutExclusions: {
    readonly query?: PreviewPayoutExclusionsQuery;
    readonly body?: PayoutSelection;
    readonly header: 'Idempotency-Key';
    readonly result: Page<PayoutPreviewExclusion>;
  };
  /**
   * List the signals of a payout that would be created. Works for any number of rows. Each page is computed when
   * requested.
   */
  readonly previewPayoutSignals: {
    readonly query?: PreviewPayoutSignalsQuery;
    readonly body?: PayoutSelection;
    readonly header: 'Idempotency-Key';
    readonly result: Page<PayoutSignal>;
  };
  /** Get the current unpaid payout. Get the current unpaid payout. */
  readonly getCurrentPayout: {
    readonly result: Payout;
  };
  /** Get a payout by id. `current` in place of the id reads the unpaid payout, here and in the paths below. */
  readonly getPayout: {
    readonly path: [payout_id: string];
    readonly result: Payout;
  };
  /**
   * Complete a payout. Marks who was paid. A line is one affiliate in one currency. An entry covers one line, or
   * without `currency` all lines of the affiliate. Listed with true: paid, in full or up to `amount`, with the
   * rest owed again. Listed with false, or not listed: the commissions are released and owed again.
   */
  readonly completePayout: {
    readonly path: [payout_id: string];
    readonly body: CompletePayoutBody;
    readonly header: 'Idempotency-Key' | 'If-Match';
    readonly result: CompletedPayout;
  };
  /** Delete a payout. Only an unpaid payout can be deleted; its commissions are released. */
  readonly deletePayout: {
    readonly path: [payout_id: string];
    readonly header: 'If-Match';
    readonly result: undefined;
  };
  /**
   * Get the approval of a payout. Who created and changed the payout, how many people must approve it, who did,
   * and for each owner and member whether they can approve, or why not.
   */
  readonly getPayoutApproval: {
    readonly path: [payout_id: string];
    readonly result: PayoutApproval;
  };
  /**
   * Approve a payout. For accounts whose `approval` is `second_person`. Needs the session of a user who did not
   * create or change the payout, and was not let in since by a user who did. An approval applies to one
   * revision: any change of the payout voids it. A payout whose author is unknown needs two. Until approved, it
   * has no payment files and cannot be completed. `getPayoutApproval` says who may approve.
   */
  readonly approvePayout: {
    readonly path: [payout_id: string];
    readonly body: ApprovePayoutBody;
    readonly header: 'Idempotency-Key';
    readonly result: Payout;
  };
  /** Reject a payout. The payout stays visible as it is until it is changed, deleted or approved. */
  readonly rejectPayout: {
    readonly path: [payout_id: string];
    readonly body: RejectPayoutBody;
    readonly header: 'Idempotency-Key';
    readonly result: Payout;
  };
  /** List schedules of payouts. List schedules of payouts. */
  readonly listPayoutSchedules: {
    readonly query?: ListPayoutSchedulesQuery;
    readonly result: Page<PayoutSchedule>;
  };
  /**
   * Create a schedule of payouts. On its day, a schedule creates a payout as `POST /v2/affiliates/payouts`
   * would, and a person completes it. It is first due after today. If no server was running on a due day, it
   * runs once when a server starts. If there is nothing to pay, or another payout is unpaid, it creates none
   * until its next due day, and `last_run` says why.
   */
  readonly createPayoutSchedule: {
    readonly body: CreatePayoutScheduleBody;
    readonly header: 'Idempotency-Key';
    readonly result: PayoutSchedule;
  };
  /** Get a schedule of payouts. Get a schedule of payouts. */
  readonly getPayoutSchedule: {
    readonly path: [schedule_id: string];
    readonly result: PayoutSchedule;
  };
  /**
   * Change a schedule of payouts. The author of a change counts as the creator of the next payouts, and so
   * cannot approve them. The next due day is counted from today.
   */
  readonly changePayoutSchedule: {
    readonly path: [schedule_id: string];
    readonly body: ChangePayoutScheduleBody;
    readonly header: 'Idempotency-Key';
    readonly result: PayoutSchedule;
  };
  /** Delete a schedule of payouts. Its payouts stay. */
  readonly deletePayoutSchedule: {
    readonly path: [schedule_id: string];
    readonly result: undefined;
  };
  /**
   * Download payout CSV. One row per commission: all commissions of an unpaid payout, and the paid ones of a
   * paid payout.
   */
  readonly downloadPayout: {
    readonly path: [payout_id: string];
    readonly result: Download;
  };
  /** List the lines of a payout. List the lines of a payout. */
  readonly listPayoutAffiliates: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutAffiliatesQuery;
    readonly result: Page<PayoutLine>;
  };
  /** List the commissions of a payout. List the commissions of a payout. */
  readonly listPayoutCommissions: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutCommissionsQuery;
    readonly result: Page<Commission>;
  };
  /** List the affiliates left out of a payout. List the affiliates left out of a payout. */
  readonly listPayoutExclusions: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutExclusionsQuery;
    readonly result: Page<PayoutExclusion>;
  };
  /**
   * List the signals of a payout. What may point to fraud in its lines, found when it was created and when it
   * changed, and who reviewed it. Those that no longer hold stay: `is_ended=false` leaves them out.
   */
  readonly listPayoutSignals: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutSignalsQuery;
    readonly result: Page<PayoutSignal>;
  };
  /** Download the signals of a payout as CSV. Download the signals of a payout as CSV. */
  readonly downloadPayoutSignals: {
    readonly path: [payout_id: string];
    readonly result: Download;
  };
  /**
   * Review signals of a payout. Notes that you, a signed-in user, have looked into signals, so that they no
   * longer block. Signals that are found later need a review of their own. Approving the payout reviews those
   * that do not block.
   */
  readonly reviewPayoutSignals: {
    readonly path: [payout_id: string];
    readonly body: ReviewPayoutSignalsBody;
    readonly header: 'Idempotency-Key';
    readonly result: Payout;
  };
  /**
   * Book a return. Books the return of a payment, in full or in part, as often as needed, up to the amount paid.
   * The money is owed to the affiliate again, exempt from the minimum. Idempotent by `external_id`.
   */
  readonly returnPayoutLine: {
    readonly path: [payout_id: string, affiliate_id: number];
    readonly body: ReturnPayoutLineBody;
    readonly header: 'Idempotency-Key';
    readonly result: PayoutLine;
  };
  /** List the returns of a line. Includes returns that were undone. */
  readonly listPayoutReturns: {
    readonly path: [payout_id: string, affiliate_id: number];
    readonly query?: ListPayoutReturnsQuery;
    readonly result: Page<PayoutReturn>;
  };
  /**
   * Delete a return. Undoes a return booked by mistake, as long as its money was not paid again. Its adjustment
   * is voided and leaves the unpaid payout. The record stays, with `undone_at`.
   */
  readonly deletePayoutReturn: {
    readonly path: [payout_id: string, affiliate_id: number, return_id: string];
    readonly result: undefined;
  };
  /**
   * Issue the invoices of a payout. For each paid line of an affiliate who agreed to self-billing, issues an
   * invoice for the payment, including tax by the rules of `invoicing`, and a credit note for returns since.
   * Repeating the request issues only what is missing. A return of an invoiced line is credited when it is
   * booked. Where VAT must be stated in the currency of the supplier’s country (members of the EU, GB) and the
   * payment is in another, the line is skipped unless `rates` has the rate.
   */
  readonly issueInvoices: {
    readonly path: [payout_id: string];
    readonly body?: IssueInvoicesBody;
    readonly header: 'Idempotency-Key';
    readonly result: IssuedInvoices;
  };
  /** List invoices. Self-billing invoices and credit notes. */
  readonly listInvoices: {
    readonly query?: ListInvoicesQuery;
    readonly result: Page<Invoice>;
  };
  /** Get an invoice. Get an invoice. */
  readonly getInvoice: {
    readonly path: [invoice_id: string];
    readonly result: Invoice;
  };
  /**
   * Download an invoice. Not for viewers, because it contains the whole tax id of the affiliate. `pdf` is a
   * PDF/A-3 with the XML in it (Factur-X, ZUGFeRD 2, profile EN 16931), `xml` that XML alone, `html` a page to
   * print, `ubl` an invoice of Peppol BIS Self-Billing 3, which an access point sends to the electronic
   * addresses of today.
   */
  readonly downloadInvoice: {
    readonly path: [invoice_id: string];
    readonly query?: DownloadInvoiceQuery;
    readonly result: Download;
  };
  /**
   * Download the invoices of a payout. A zip archive of its invoices and credit notes, each as `downloadInvoice`
   * writes it. If some cannot be written, `skipped.csv` in it has their numbers, affiliates and the reasons
   * (`invoice`, `affiliate_id`, `reason`, `message`); if none can, the request is refused for the reason of the
   * first. The audit log records the download. Not for viewers.
   */
  readonly downloadInvoicesOfPayout: {
    readonly path: [payout_id: string];
    readonly query?: DownloadInvoicesOfPayoutQuery;
    readonly result: Download;
  };
  /**
   * Get the payment files that a payout needs. One file for each payment method and currency: whom it pays, whom
   * it cannot pay and why, the sums, and who downloaded it at which revision. A download is recorded before its
   * first byte is sent. `in_several_files` lists affiliates whom two different files pay.
   */
  readonly getPaymentFiles: {
    readonly path: [payout_id: string];
    readonly result: PaymentFiles;
  };
  /**
   * Download a payment file. One row per affiliate and currency: all lines of an unpaid payout, and the paid
   * lines of a paid one. The formats: `summary`: a list for people with a header: all affiliates and currencies,
   * and what Complete noted (takes no parameters); `paypal`: upload file of PayPal Payouts (takes currency,
   * part, rows_per_file, allow_skipped, whole_units); `wise`: batch payments of Wise, to recipients known by
   * e-mail; the amount that arrives is fixed and you pay the fees (takes currency, part, rows_per_file,
   * allow_skipped, source_currency); `wise_bank`: batch payments of Wise in EUR, to recipients with an IBAN, who
   * need not answer an e-mail; the amount that arrives is fixed and you pay the fees (takes currency, part,
   * rows_per_file, allow_skipped, source_currency); `sepa`: credit transfers in EUR for a European bank
   * (pain.001) (takes currency, part, rows_per_file, allow_skipped, execution_date, instant); `nacha`: ACH
   * credits in USD for a bank in the United States (takes currency, part, rows_per_file, allow_skipped,
   * execution_date). The header Payhook-Skipped-Affiliates counts affiliates left out of the chosen currency,
   * Payhook-Affiliates-Above-Limit those in it whose amount PayPal may refuse: see `paypal_payment_limit`. A
   * bank's file is paid from the `debtor` or `originator` of the account. A file keeps its bytes and its id as
   * long as nothing it depends on changes: rows, debtor or originator, rows per file, day. Otherwise it belongs
   * to another file set, which names the one it replaces. Payhook-Affiliates-In-Other-Files warns of affiliates
   * whom an earlier, different file also pays. Viewers may not download payment files, because they contain
   * whole account numbers.
   */
  readonly downloadPaymentFile: {
    readonly path: [payout_id: string, format: string];
    readonly query?: DownloadPaymentFileQuery;
    readonly result: Download;
  };
  /**
   * Read the answer of a bank or provider. Takes a camt.053, camt.054 or pain.002 of a bank, a NACHA file with
   * returns, a report of PayPal or Wise, verifications of payees as JSON, or a CSV file with `reference` or
   * `affiliate_id`. Its kind is recognised by its bytes; text/csv, application/xml and application/json are
   * accepted too. The response proposes a result for each line and changes nothing; verifications of payees are
   * kept with their destinations, and corrections of destinations are proposed. Complete the payout with the
   * lines you agree with, and book returns. A line without an answer may have been paid: do not release it
   * before you know. docs/results.md has the layouts.
   */
  readonly takePayoutResult: {
    readonly path: [payout_id: string];
    readonly query?: TakePayoutResultQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: PayoutResultProposal;
  };
  /** List the result files of a payout. List the result files of a payout. */
  readonly listPayoutResults: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutResultsQuery;
    readonly result: Page<PayoutResult>;
  };
  /**
   * List what banks answered about the payees of a payout. The last verification of each destination that the
   * payout pays, also from the files of earlier payouts. A destination that was changed since has none.
   * `is_mismatch=true` lists those to decide about before the payout is approved.
   */
  readonly listPayoutVerifications: {
    readonly path: [payout_id: string];
    readonly query?: ListPayoutVerificationsQuery;
    readonly result: Page<PayoutVerification>;
  };
  /**
   * Get what was earned, refunded and paid in a period. Amounts by currency and group, for a period in the
   * account's time zone. Amounts of different currencies are never added. In each row: opening + earned +
   * adjusted - refunded - voided - paid + returned = closing. A refund or payment that is entered late still
   * belongs to the day on which it happened. By `method`, only what was paid and returned is known, by the
   * method of the payment; by `program`, everything else, because a payment belongs to an affiliate and a
   * currency. These amounts are null. Countries are the current ones of the affiliates.
   */
  readonly getReportSummary: {
    readonly query?: GetReportSummaryQuery;
    readonly result: ReportSummary;
  };
  /**
   * Download what was earned, refunded and paid in a period. Amounts by currency and group, for a period in the
   * account's time zone. Amounts of different currencies are never added. In each row: opening + earned +
   * adjusted - refunded - voided - paid + returned = closing. A refund or payment that is entered late still
   * belongs to the day on which it happened. By `method`, only what was paid and returned is known, by the
   * method of the payment; by `program`, everything else, because a payment belongs to an affiliate and a
   * currency. These amounts are null. Countries are the current ones of the affiliates. `csv` has all rows, with
   * decimal amounts; `pdf` is an A4 document and `html` a page to print, each of at most 1,000 rows.
   */
  readonly downloadReportSummary: {
    readonly query?: DownloadReportSummaryQuery;
    readonly result: Download;
  };
  /**
   * List the entries behind the amounts of a report. One entry for each commission, adjustment, refund, void,
   * payment and return. An amount of a report is the sum of the entries of its kind, days, currency and group,
   * and what is owed after a day that of all entries up to it. Only payments and returns have a `payout_method`,
   * and only the others a program.
   */
  readonly listReportEntries: {
    readonly query?: ListReportEntriesQuery;
    readonly result: Page<ReportEntry>;
  };
  /**
   * Download the payments of a period. One row per affiliate, currency and payout method, on a cash basis: what
   * was paid in the period, what was returned in it, and the difference. A period is a `year`, or the days
   * `from` and `to`, both included, in the account's time zone; a missing bound is open. Names, addresses and
   * countries are current, `payout_method` is that of the payment.
   */
  readonly downloadPaidReport: {
    readonly query?: DownloadPaidReportQuery;
    readonly result: Download;
  };
  /**
   * List the payments of a period. One row per affiliate, currency and payout method, on a cash basis: what was
   * paid in the period, what was returned in it, and the difference. A period is a `year`, or the days `from`
   * and `to`, both included, in the account's time zone; a missing bound is open. Names, addresses and countries
   * are current, `payout_method` is that of the payment.
   */
  readonly listPaidReport: {
    readonly query?: ListPaidReportQuery;
    readonly result: Page<PaidRow>;
  };
  /**
   * Get the sums of a year for US tax forms. The figures that a payer in the United States needs for a calendar
   * year of the account’s time zone: who was paid by which method, net of returns, and who has not signed a
   * form. PayPal reports its payments on Form 1099-K, so they are separate. It is a list, not advice.
   */
  readonly getUsTaxReport: {
    readonly query?: GetUsTaxReportQuery;
    readonly result: UsTaxReport;
  };
  /**
   * List affiliates for US tax forms. The figures that a payer in the United States needs for a calendar year of
   * the account’s time zone: who was paid by which method, net of returns, and who has not signed a form. PayPal
   * reports its payments on Form 1099-K, so they are separate. It is a list, not advice. One row per affiliate.
   */
  readonly listUsTaxReport: {
    readonly query?: ListUsTaxReportQuery;
    readonly result: Page<UsTaxRow>;
  };
  /**
   * Export the data of Form 1099-NEC for a filing service or the IRS. A file with whole tax ids. By default one
   * row for each affiliate in the United States who was paid the threshold or more by methods that you report,
   * and the columns are the fields of the form as Avalara (formerly Track1099) names them; a service with other
   * names lets you map them. The download is recorded in the audit log.
   */
  readonly exportUsTaxReport: {
    readonly query?: ExportUsTaxReportQuery;
    readonly header: 'Idempotency-Key';
    readonly result: Download;
  };
  /**
   * Get the statement of an affiliate. By currency: what was owed before the period, what was earned, adjusted,
   * refunded, voided, paid and returned in it, and what was owed after it. Consecutive statements join without a
   * gap. A refund that is entered late still belongs to the day on which it happened.
   */
  readonly getAffiliateStatement: {
    readonly path: [affiliate_id: number];
    readonly query?: GetAffiliateStatementQuery;
    readonly result: AffiliateStatement;
  };
  /**
   * Download the statement of an affiliate. By currency: what was owed before the period, what was earned,
   * adjusted, refunded, voided, paid and returned in it, and what was owed after it. Consecutive statements join
   * without a gap. A refund that is entered late still belongs to the day on which it happened. The file has
   * every entry between the balances of a currency. `pdf` is an A4 document and `html` a page to print; both
   * show the names of the account and of the affiliate, and at most 5,000 entries.
   */
  readonly downloadAffiliateStatement: {
    readonly path: [affiliate_id: number];
    readonly query?: DownloadAffiliateStatementQuery;
    readonly result: Download;
  };
  /**
   * List affiliates. With their balances. `sort=-unpaid` begins with whom most is owed that a payout may take,
   * in `balance_currency`, by default the account's; who has nothing in it stays in the list, at 0.
   */
  readonly listAffiliates: {
    readonly query?: ListAffiliatesQuery;
    readonly result: Page<AffiliateWithBalance>;
  };
  /**
   * Create an affiliate. If the affiliate exists, the answer is a 409 whose `Location` is the affiliate with
   * that e-mail address or external_id.
   */
  readonly createAffiliate: {
    readonly body: CreateAffiliateBody;
    readonly header: 'Idempotency-Key';
    readonly result: Affiliate;
  };
  /**
   * Get what is owed in all. What all affiliates are owed, by currency and state. `payable` is what a payout
   * without filters would take now; what else is not in the unpaid payout has the reason for which that would
   * leave it out.
   */
  readonly getBalances: {
    readonly result: AffiliateBalances;
  };
  /**
   * Get what was earned, refunded and paid over time. Amounts and counts by currency and by day, week or month
   * in the account's time zone, at most 400 intervals. Over all time, earned plus adjusted plus returned, less
   * refunded, voided and paid, is what is owed.
   */
  readonly getCommissionAnalytics: {
    readonly query?: GetCommissionAnalyticsQuery;
    readonly result: CommissionAnalytics;
  };
  /**
   * Get webhook deliveries over time. By minute, hour or day: published events and the status of their
   * deliveries, attempts by answer, and percentiles of their durations. At most 1500 minutes, 750 hours or 400
   * days. A delivery counts when its event was published, an attempt when it began. Counts are deleted with the
   * log, after `WEBHOOK_RETENTION_DAYS`.
   */
  readonly getDeliveryAnalytics: {
    readonly query?: GetDeliveryAnalyticsQuery;
    readonly result: DeliveryAnalytics;
  };
  /**
   * Import affiliates from CSV. Creates or updates, by external_id, else by e-mail. Columns: name_first,
   * name_last, email, external_id, slug, status, payout_method, paypal_email, is_ready_for_payout,
   * commissions_are, legal_type, country, language; email is required. A column that is not there is left
   * unchanged, an empty cell clears; a PayPal address without a method sets `payout_method` to `paypal`. Where
   * they are paid: destination_type, account_holder, iban, bic, routing_number, account_number, account_type.
   * Their tax profile: legal_name, tax_country, address_line1, address_line2, address_postal_code, address_city,
   * address_region, tax_id, tax_id_type, tax_form, tax_form_signed_on, tax_form_document, siren,
   * electronic_address, self_billing_agreed_on, self_billing_expires_on, self_billing_agreed_by,
   * self_billing_document. A line without any cell of these leaves them. One transaction: a bad line stops the
   * import with nothing written, unless `partial`; `dry_run` reports and writes nothing. Files of another shape
   * go to `/v2/imports`.
   */
  readonly importAffiliates: {
    readonly query?: ImportAffiliatesQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: AffiliateImport;
  };
  /** Get an affiliate with its balance. Get an affiliate with its balance. */
  readonly getAffiliate: {
    readonly path: [affiliate_id: number];
    readonly result: AffiliateWithBalance;
  };
  /**
   * Change an affiliate. Changes the fields you send; null clears. A new name or destination shows in the unpaid
   * payout at once and raises its revision. Sending the current values is no change and causes no event.
   */
  readonly changeAffiliate: {
    readonly path: [affiliate_id: number];
    readonly body: ChangeAffiliateBody;
    readonly header: 'Idempotency-Key';
    readonly result: Affiliate;
  };
  /**
   * Erase the person behind an affiliate. Takes names, e-mail addresses and your own id out of the affiliate,
   * its payouts and imports at once, then out of commissions, refunds, events, attempts, stored answers and the
   * audit log. It cannot be undone. Amounts stay, and the affiliate stays as an inactive one without a name. Ask
   * again to learn whether it is completed. An affiliate with the same e-mail address that is created or
   * imported afterwards is a new one.
   */
  readonly eraseAffiliate: {
    readonly path: [affiliate_id: number];
    readonly header: 'Idempotency-Key';
    readonly result: Erasure;
  };
  /** Get an affiliate by your own id. With its balance. */
  readonly getAffiliateByExternalId: {
    readonly path: [external_id: string];
    readonly result: AffiliateWithBalance;
  };
  /**
   * Create or change an affiliate by your own id. Creates the affiliate with this external_id (201; `email` is
   * required), or changes the fields you send if it exists (200). Absent fields stay as they are, null clears,
   * and sending the current values causes no event. Two requests at once create one affiliate. An e-mail address
   * of another affiliate is a 409.
   */
  readonly putAffiliateByExternalId: {
    readonly path: [external_id: string];
    readonly body: PutAffiliateByExternalIdBody;
    readonly header: 'Idempotency-Key';
    readonly result: Affiliate;
  };
  /**
   * Get where an affiliate is paid. The one destination for all currencies, and those for single currencies.
   * Account numbers are shown by their last four characters.
   */
  readonly getAffiliateDestinations: {
    readonly path: [affiliate_id: number];
    readonly result: AffiliateDestinations;
  };
  /**
   * Set where an affiliate is paid. Replaces the destination for `currency`, or the one for all currencies.
   * `sepa` needs `account_holder` and `iban`, and takes `bic`; `ach` needs `account_holder`, `routing_number`,
   * `account_number` and `account_type`; the other types need nothing more. A destination is used instead of
   * `payout_method`. It shows in the unpaid payout at once and raises its revision. IBAN and account number are
   * sealed and never shown again.
   */
  readonly putAffiliateDestination: {
    readonly path: [affiliate_id: number];
    readonly body: PutAffiliateDestinationBody;
    readonly header: 'Idempotency-Key';
    readonly result: AffiliateDestination;
  };
  /**
   * Delete where an affiliate is paid. Deletes the destination for `currency`, or the one for all currencies.
   * Without any the affiliate is paid as its `payout_method` and `paypal_email` say. Raises the revision of the
   * unpaid payout.
   */
  readonly deleteAffiliateDestination: {
    readonly path: [affiliate_id: number];
    readonly query?: DeleteAffiliateDestinationQuery;
    readonly result: undefined;
  };
  /**
   * Use the name that the bank of the payee has. Makes `verification.bank_name` of a destination its account
   * holder. IBAN and BIC stay. Like every change it raises the revision of the unpaid payout, and
   * `destination_wait_hours` applies. The answer of the bank is kept, with the name that was replaced.
   */
  readonly useVerifiedName: {
    readonly path: [affiliate_id: number];
    readonly body: UseVerifiedNameBody;
    readonly header: 'Idempotency-Key';
    readonly result: AffiliateDestination;
  };
  /**
   * List what banks corrected in where affiliates are paid. The notifications of change in the NACHA files of
   * banks, those due first. Account numbers are shown by their last four characters.
   */
  readonly listDestinationCorrections: {
    readonly query?: ListDestinationCorrectionsQuery;
    readonly result: Page<DestinationCorrection>;
  };
  /**
   * Accept the correction of a destination. Makes the destination what the bank says. Like every change it
   * raises the revision of the unpaid payout, and `destination_wait_hours` applies. The correction is kept.
   */
  readonly acceptDestinationCorrection: {
    readonly path: [correction_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: DestinationCorrection;
  };
  /** Dismiss the correction of a destination. Leaves the destination as it is. The correction is kept. */
  readonly dismissDestinationCorrection: {
    readonly path: [correction_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: DestinationCorrection;
  };
  /** List e-mails to affiliates. Those that wait, and those of the last week that were sent or failed. */
  readonly listAffiliateNotices: {
    readonly query?: ListAffiliateNoticesQuery;
    readonly result: Page<AffiliateNotice>;
  };
  /** Preview an e-mail to affiliates. Shows the e-mail of a kind with example data. Sends nothing. */
  readonly previewAffiliateNotice: {
    readonly query: PreviewAffiliateNoticeQuery;
    readonly result: AffiliateNoticePreview;
  };
  /**
   * List who affiliates are to a tax office. For example those whose form lapses at the end of this year.
   * Affiliates without a tax profile are not listed.
   */
  readonly listAffiliateTaxProfiles: {
    readonly query?: ListAffiliateTaxProfilesQuery;
    readonly result: Page<AffiliateTaxProfile>;
  };
  /** Get who an affiliate is to a tax office. What the affiliate signed. The tax id is shown by its end. */
  readonly getAffiliateTaxProfile: {
    readonly path: [affiliate_id: number];
    readonly result: AffiliateTaxProfile;
  };
  /**
   * Set who an affiliate is to a tax office. Replaces the tax profile. Only `tax_id` may be left out to keep the
   * one there is. Numbers of the United States are checked by their form, VAT ids by their check digits too; no
   * office is asked. `legal_type` and `country` of the affiliate stay what your shop says, and go for who has no
   * tax profile. The tax id is sealed and never shown again but in the export of the US report.
   */
  readonly putAffiliateTaxProfile: {
    readonly path: [affiliate_id: number];
    readonly body: PutAffiliateTaxProfileBody;
    readonly header: 'Idempotency-Key';
    readonly result: AffiliateTaxProfile;
  };
  /** Delete who an affiliate is to a tax office. Delete who an affiliate is to a tax office. */
  readonly deleteAffiliateTaxProfile: {
    readonly path: [affiliate_id: number];
    readonly result: undefined;
  };
  /** List programs. List programs. */
  readonly listPrograms: {
    readonly query?: ListProgramsQuery;
    readonly result: Page<Program>;
  };
  /** Create a program. Create a program. */
  readonly createProgram: {
    readonly body: CreateProgramBody;
    readonly header: 'Idempotency-Key';
    readonly result: Program;
  };
  /** Get a program. Get a program. */
  readonly getProgram: {
    readonly path: [program_id: number];
    readonly result: Program;
  };
  /** Change a program. A new hold applies to new commissions only. */
  readonly changeProgram: {
    readonly path: [program_id: number];
    readonly body: ChangeProgramBody;
    readonly header: 'Idempotency-Key';
    readonly result: Program;
  };
  /** List commissions. List commissions. */
  readonly listCommissions: {
    readonly query?: ListCommissionsQuery;
    readonly result: Page<Commission>;
  };
  /**
   * Create a commission. `external_id` is unique: sending the same content again answers 200 with the stored
   * record. Without `amount` it is computed from `sale_amount` and `rate_bps`, rounded half up, so a small sale
   * may give 0.
   */
  readonly createCommission: {
    readonly body: CommissionInput;
    readonly header: 'Idempotency-Key';
    readonly result: Commission;
  };
  /**
   * Create up to 1,000 commissions. All or nothing; with `partial` each item separately. An item that breaks the
   * schema, as with a negative amount, refuses the whole batch. Without `amount` it is computed from
   * `sale_amount` and `rate_bps`, rounded half up, so a small sale may give 0.
   */
  readonly createCommissionBatch: {
    readonly body: CreateCommissionBatchBody;
    readonly header: 'Idempotency-Key';
    readonly result: CommissionBatch;
  };
  /**
   * Import commissions from CSV. Columns: external_id, affiliate_id, affiliate_external_id, affiliate_email,
   * program_id, type, amount, currency, sale_amount, rate_bps, order_id, order_line_id, customer_email,
   * product_id, product_name, description, occurred_at; exactly one of those of the affiliate. Amounts are
   * decimal (`31.90`). Any size, one transaction: a bad line stops the import with nothing written, unless
   * `partial`; `dry_run` reports every bad line and the sums and writes nothing. Files of another shape go to
   * `/v2/imports`.
   */
  readonly importCommissions: {
    readonly query?: ImportCommissionsQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: CommissionImport;
  };
  /** Get a commission. Get a commission. */
  readonly getCommission: {
    readonly path: [commission_id: string];
    readonly result: Commission;
  };
  /**
   * Void a commission. Only a commission that is not paid; it also leaves the unpaid payout. Its external_id
   * stays taken.
   */
  readonly voidCommission: {
    readonly path: [commission_id: string];
    readonly body?: VoidCommissionBody;
    readonly header: 'Idempotency-Key';
    readonly result: Commission;
  };
  /** Hold a commission for review. The commission is pending until `unhold`, and leaves the unpaid payout. */
  readonly holdCommission: {
    readonly path: [commission_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: Commission;
  };
  /** End the review of a commission. End the review of a commission. */
  readonly unholdCommission: {
    readonly path: [commission_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: Commission;
  };
  /**
   * Refund a commission. Refunds part of a commission, or the rest. An unpaid one is reduced, or voided when
   * nothing is left, also in the unpaid payout, whose revision rises. For a paid one, what was paid stays paid
   * and a negative clawback joins the next payout. Refunds by `sale_amount` are cumulative: together they take
   * the commission on the total refunded, to the minor unit; beyond the sale they take the rest and say
   * `capped`. Idempotent by `external_id`.
   */
  readonly refundCommission: {
    readonly path: [commission_id: string];
    readonly body: RefundCommissionBody;
    readonly header: 'Idempotency-Key';
    readonly result: CommissionRefund;
  };
  /**
   * Refund an order. For a shop's hook, which knows orders but not commissions. Without an amount it takes all
   * that is left of `order_id`, or of `product_id` in it. `sale_amount` and `amount` need an order with one
   * sale; `lines` say what was refunded of each. Commissions with the same `order_line_id` are shares of one
   * sale; any other is a sale of its own. If a refund could belong to several sales, a 400 lists them. A
   * commission that comes in later is refunded then: until then the refund, or a line of it, is `waiting`.
   */
  readonly refundOrder: {
    readonly body: RefundOrderBody;
    readonly header: 'Idempotency-Key';
    readonly result: Refund;
  };
  /** List refunds. List refunds. */
  readonly listRefunds: {
    readonly query?: ListRefundsQuery;
    readonly result: Page<Refund>;
  };
  /** Get a refund. By its id or its `external_id`. */
  readonly getRefund: {
    readonly path: [refund_id: string];
    readonly result: Refund;
  };
  /**
   * Reverse a refund. For a refund made by mistake, named by its id or its `external_id`. What it took is owed
   * again, its clawbacks are voided, and what still waits for a commission is withdrawn. Refused once a payout
   * was paid less because of it.
   */
  readonly reverseRefund: {
    readonly path: [refund_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: Refund;
  };
  /**
   * Credit or debit an affiliate. A commission of type adjustment, exempt from the hold; a negative one is taken
   * from the next payout.
   */
  readonly createAdjustment: {
    readonly path: [affiliate_id: number];
    readonly body: CreateAdjustmentBody;
    readonly header: 'Idempotency-Key';
    readonly result: Commission;
  };
  /**
   * Look at a file before importing it. The file may be a workbook (.xlsx or .ods), or CSV in UTF-8, UTF-16 or
   * Windows-1252, with commas, semicolons, tabs or bars, with columns of any name and order: what the request
   * does not say is guessed from the bytes, the names of the columns and the values. The answer says how the
   * file would be read, what of that was guessed, what must be asked, and what importing it would do. Nothing is
   * changed.
   */
  readonly previewImport: {
    readonly query: PreviewImportQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: ImportPreview;
  };
  /**
   * Import a file of any shape. The file may be a workbook (.xlsx or .ods), or CSV in UTF-8, UTF-16 or
   * Windows-1252, with commas, semicolons, tabs or bars, with columns of any name and order: what the request
   * does not say is guessed from the bytes, the names of the columns and the values. Guesses are taken with
   * `accept_guesses` only, and what could be read in two ways and is about money is never guessed. One
   * transaction: a bad line stops the import with nothing written, unless `partial`; `dry_run` reports and
   * writes nothing. Commissions that were paid elsewhere (`paid_at`) come in as paid, in past payouts without
   * events.
   */
  readonly createImport: {
    readonly query: CreateImportQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: ImportReport;
  };
  /** List imports. List imports. */
  readonly listImports: {
    readonly query?: ListImportsQuery;
    readonly result: Page<Import>;
  };
  /**
   * Get the bad lines of a file. As CSV: `line`, `error`, and the columns of the file; 100,000 lines at most.
   * Correct them and import that file with the two columns ignored. Nothing is changed.
   */
  readonly downloadBadLines: {
    readonly query: DownloadBadLinesQuery;
    readonly body: Upload;
    readonly header: 'Idempotency-Key';
    readonly result: Download;
  };
  /**
   * Get how far a running import is. Of an import, its preview or its bad lines, while the request is being
   * worked on, at whichever server it is. Sending the file comes before, and who sends it knows how far that is.
   */
  readonly getImportProgress: {
    readonly query: GetImportProgressQuery;
    readonly result: ImportProgress;
  };
  /** List saved mappings. A file with the header of one is read by it, unless the request says otherwise. */
  readonly listImportMappings: {
    readonly query?: ListImportMappingsQuery;
    readonly result: Page<ImportMapping>;
  };
  /** Get an import. Get an import. */
  readonly getImport: {
    readonly path: [import_id: string];
    readonly result: Import;
  };
  /**
   * Undo an import. Whole, or not at all: while nothing of it was paid here, refunded, returned, put into a
   * payout or changed since. What is in use is named with the reason. Commissions are voided, count in no sum,
   * and their external_ids are free again; past payouts and affiliates it made are gone; affiliates it changed
   * are as they were before, with their destinations and tax profiles. An import of affiliates can be undone for
   * as long as IMPORT_UNDO_DAYS says, a year by default.
   */
  readonly undoImport: {
    readonly path: [import_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: Import;
  };
  /** List webhook endpoints. List webhook endpoints. */
  readonly listWebhookEndpoints: {
    readonly query?: ListWebhookEndpointsQuery;
    readonly result: Page<WebhookEndpoint>;
  };
  /** Create a webhook endpoint. Events from now on are sent there. The answer shows the secret that signs them. */
  readonly createWebhookEndpoint: {
    readonly body: CreateWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewWebhookEndpoint;
  };
  /** Get a webhook endpoint. Get a webhook endpoint. */
  readonly getWebhookEndpoint: {
    readonly path: [id: string];
    readonly result: WebhookEndpoint;
  };
  /**
   * Change, enable or disable a webhook endpoint. Events are held while the endpoint is disabled. When it is
   * enabled again, all held events are sent, with a new schedule, or cancelled, as `held` says. Header values
   * stay with the origin they were given for. A URL with another scheme, host or port drops them unless the same
   * request sends them again, and so does another `proxy` for an http URL; `Payhook-Dropped-Headers` names what
   * was dropped. `client_credentials` stay in the same way, dropped as `authorization`. After a change of
   * `signing` or `secret` the signature before is sent too, for a day or as `second_signature` says. If the new
   * scheme cannot use the secret there is and the request names none, a new one is made, and the answer shows
   * it.
   */
  readonly changeWebhookEndpoint: {
    readonly path: [id: string];
    readonly body: ChangeWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: ChangedWebhookEndpoint;
  };
  /**
   * Delete a webhook endpoint. What is still pending there ends as failed; its log stays readable until
   * retention.
   */
  readonly deleteWebhookEndpoint: {
    readonly path: [id: string];
    readonly result: undefined;
  };
  /** Get a webhook endpoint by your own id. Get a webhook endpoint by your own id. */
  readonly getWebhookEndpointByExternalId: {
    readonly path: [external_id: string];
    readonly result: WebhookEndpoint;
  };
  /**
   * Create or configure a webhook endpoint by your own id. Creates the endpoint with this external_id (201, with
   * the secret), or gives it exactly this configuration (200): absent fields get the value of a new endpoint,
   * and headers that are not named are removed. `status`, `contact_email`, `secret` and `second_signature` stay
   * unless they are sent. The same body again changes nothing. Two requests at once create one endpoint.
   */
  readonly putWebhookEndpointByExternalId: {
    readonly path: [external_id: string];
    readonly body: PutWebhookEndpointByExternalIdBody;
    readonly header: 'Idempotency-Key';
    readonly result: ChangedWebhookEndpoint;
  };
  /**
   * Get the secret that signs deliveries. What the receiver verifies with: the secret, or with `signing:
   * ed25519` the public key. A private key is never shown. Who got it is in the audit log.
   */
  readonly getWebhookEndpointSecret: {
    readonly path: [id: string];
    readonly result: WebhookEndpointSecret;
  };
  /**
   * Make a new secret. Deliveries carry signatures with both secrets for a day, or for `overlap_seconds`. If the
   * header of the scheme takes only one signature, the previous secret makes it until then.
   */
  readonly rotateWebhookEndpointSecret: {
    readonly path: [id: string];
    readonly body?: RotateWebhookEndpointSecretBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookEndpointSecret;
  };
  /**
   * Send the link that confirms the contact again. E-mails a new link to `contact_email`; earlier links end.
   * Creating and changing the endpoint sends one already. At most 3 are sent to one address within a day.
   */
  readonly confirmWebhookEndpointContact: {
    readonly path: [id: string];
    readonly header: 'Idempotency-Key';
    readonly result: WebhookEndpoint;
  };
  /**
   * Send a test event. Sends `webhook_endpoint.test`, or an event of another type with data of yours, to this
   * endpoint only, whatever it subscribed to. It is signed as any other and carries `"is_test": true`.
   */
  readonly testWebhookEndpoint: {
    readonly path: [id: string];
    readonly body?: TestWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookEvent;
  };
  /**
   * Try a filter on a payload. Says whether the filter matches, and of each condition what it found. Sends
   * nothing and changes nothing.
   */
  readonly testWebhookEndpointFilter: {
    readonly path: [id: string];
    readonly body: TestWebhookEndpointFilterBody;
    readonly header: 'Idempotency-Key';
    readonly result: FilterTest;
  };
  /**
   * Claim events of a pull endpoint. Takes the first events that wait there, at most 4 MiB of them, for the time
   * of a lease. Acknowledge each before its lease ends: otherwise its attempt has failed (`lease_expired`), and
   * it comes again by the schedule. A key or the `token` of the endpoint may claim. Idempotency-Key has no
   * effect. A token of an application also needs the scope affiliates for events of payouts, commissions,
   * affiliates and imports.
   */
  readonly claimWebhookEvents: {
    readonly path: [id: string];
    readonly body?: ClaimWebhookEventsBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookClaim;
  };
  /**
   * Acknowledge claimed events. Ends the attempts of events that were claimed. Each item has its own result. It
   * may be sent again after a lost answer: acknowledging twice changes nothing.
   */
  readonly acknowledgeWebhookEvents: {
    readonly path: [id: string];
    readonly body: AcknowledgeWebhookEventsBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookAcknowledgements;
  };
  /**
   * Extend leases of claimed events. For a consumer that needs more time, or returns events that it will not
   * process.
   */
  readonly extendWebhookLeases: {
    readonly path: [id: string];
    readonly body: ExtendWebhookLeasesBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookLeases;
  };
  /**
   * Create the token of a pull endpoint. A bearer token that claims, extends and acknowledges events of this
   * endpoint, and nothing else. It replaces the previous one, which stops at once or after `overlap_seconds`.
   */
  readonly createWebhookEndpointToken: {
    readonly path: [id: string];
    readonly body?: CreateWebhookEndpointTokenBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookEndpointToken;
  };
  /**
   * Create a link that opens a portal. The portal is the webhooks part of the dashboard for the receiver of this
   * endpoint, or of all endpoints of its `owner`: settings, secret, log, test events and retries, and nothing
   * else of the account. The link opens it once, for an hour, in a tab of its own or in a frame of a page whose
   * origin is among the `portal_origins` of the account.
   */
  readonly createPortalLink: {
    readonly path: [id: string];
    readonly body?: CreatePortalLinkBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewPortalLink;
  };
  /** List portal links. Links that were used, revoked or not opened in time stay in the list for a month. */
  readonly listPortalLinks: {
    readonly query?: ListPortalLinksQuery;
    readonly result: Page<PortalLink>;
  };
  /**
   * Delete a portal link. Revokes it: the link can no longer be opened, and a portal that it opened ends at
   * once, on every server process.
   */
  readonly deletePortalLink: {
    readonly path: [link_id: string];
    readonly result: undefined;
  };
  /**
   * Send the events of a period again. Stores a job for the workers: every event of the log that matches when
   * the job reaches it is sent again, as by a retry, oldest first and a few at a time, so that new events do not
   * wait. An endpoint has one at a time. A token without the scope affiliates must list `types` without those of
   * payouts, commissions, affiliates and imports.
   */
  readonly recoverWebhookEndpoint: {
    readonly path: [id: string];
    readonly body: RecoverWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookRecovery;
  };
  /**
   * Discard the waiting events of a period. Stores a job for the workers: every pending or held event that
   * matches when the job reaches it is `cancelled`. An attempt in flight is the last. A recovery can send
   * cancelled events. Limits as for a recovery.
   */
  readonly discardEventsOfWebhookEndpoint: {
    readonly path: [id: string];
    readonly body: DiscardEventsOfWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: WebhookRecovery;
  };
  /** Count what a recovery or discard would take. Counts the events of the log that match now. Stores nothing. */
  readonly previewRecoveryOfWebhookEndpoint: {
    readonly path: [id: string];
    readonly body: PreviewRecoveryOfWebhookEndpointBody;
    readonly header: 'Idempotency-Key';
    readonly result: RecoveryPreview;
  };
  /**
   * List the recoveries and discards of a webhook endpoint. List the recoveries and discards of a webhook
   * endpoint.
   */
  readonly listRecoveriesOfWebhookEndpoint: {
    readonly path: [id: string];
    readonly query?: ListRecoveriesOfWebhookEndpointQuery;
    readonly result: Page<WebhookRecovery>;
  };
  /** Get a recovery or discard. Shows its progress and the number of queued or cancelled events. */
  readonly getRecoveryOfWebhookEndpoint: {
    readonly path: [id: string, recovery_id: string];
    readonly result: WebhookRecovery;
  };
  /** Delete a recovery or discard. Ends it: events that are queued already are still sent. The record stays. */
  readonly deleteRecoveryOfWebhookEndpoint: {
    readonly path: [id: string, recovery_id: string];
    readonly result: undefined;
  };
  /** List the events of a webhook endpoint. The delivery log of one endpoint, which may be deleted. */
  readonly listEventsOfWebhookEndpoint: {
    readonly path: [id: string];
    readonly query?: ListEventsOfWebhookEndpointQuery;
    readonly result: Page<WebhookEvent>;
  };
  /**
   * Get an event of a webhook endpoint. With the payload and every attempt: its request and response. A token
   * also needs the scope affiliates for events of payouts, commissions, affiliates and imports.
   */
  readonly getEventOfWebhookEndpoint: {
    readonly path: [id: string, event_id: string];
    readonly result: WebhookEventWithAttempts;
  };
  /**
   * Retry an event. Sends the event again now, whatever its status, with the same `webhook-id`. If an attempt is
   * already in progress or due, that attempt counts. A failure leaves the earlier status and the rest of the
   * schedule unchanged.
   */
  readonly retryEventOfWebhookEndpoint: {
    readonly path: [id: string, event_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: undefined;
  };
  /**
   * List all webhook events. The delivery log of the account: an event has a row for each endpoint it is sent
   * to.
   */
  readonly listWebhookEvents: {
    readonly query?: ListWebhookEventsQuery;
    readonly result: Page<WebhookEvent>;
  };
  /**
   * List published events. Each event once, whatever number of endpoints got it, as long as the log is kept. The
   * log itself is at `/v2/webhook-events/`. With `sort=created_at` the list misses nothing: it ends before the
   * oldest transaction that publishes, so no event appears later in front of one that was returned. To read
   * every event once, repeat a page until it has `next`, and continue there.
   */
  readonly listEvents: {
    readonly query?: ListEventsQuery;
    readonly result: Page<PublishedEvent>;
  };
  /**
   * Publish an event of your own. Delivers the event to the endpoints that subscribe to its type, or to those of
   * one `owner`. Sending it again under the same `external_id` returns 200 with the stored event. Types that
   * begin with one of our own prefixes are refused.
   */
  readonly publishEvent: {
    readonly body: PublishEventBody;
    readonly header: 'Idempotency-Key';
    readonly result: Event;
  };
  /**
   * Publish up to 1,000 events of your own. All or nothing, at most 16 MiB. Ordered endpoints get the events of
   * a key in the order of the list. An event that was published before under its `external_id`, or occurs
   * earlier in the list, is returned with status 200.
   */
  readonly publishEventBatch: {
    readonly body: PublishEventBatchBody;
    readonly header: 'Idempotency-Key';
    readonly result: EventBatch;
  };
  /**
   * Get an event and its deliveries. With the payload, its record at each endpoint that got it, and the reason
   * why the other current endpoints did not. A token also needs the scope affiliates for events of payouts,
   * commissions, affiliates and imports.
   */
  readonly getEvent: {
    readonly path: [event_id: string];
    readonly result: PublishedEventWhole;
  };
  /**
   * List the types of events. The types that Payhook publishes, and your own. A portal gets those of your own
   * that its link offers.
   */
  readonly listEventTypes: {
    readonly query?: ListEventTypesQuery;
    readonly result: Page<EventType>;
  };
  /** Get a type of event. Get a type of event. */
  readonly getEventType: {
    readonly path: [type: string];
    readonly result: EventType;
  };
  /**
   * Create or replace an event type of your own. Fields that are left out get their default. Events of the type
   * are checked against `data_schema` if the account has `event_validation`, from the next request on. At most
   * 200 types. Types that begin with one of our own prefixes are refused.
   */
  readonly putEventType: {
    readonly path: [type: string];
    readonly body: PutEventTypeBody;
    readonly header: 'Idempotency-Key';
    readonly result: EventType;
  };
  /** Delete an event type of your own. Events of the type are still published and sent, unchecked. */
  readonly deleteEventType: {
    readonly path: [type: string];
    readonly result: undefined;
  };
  /**
   * Get who asks. The credential of the request: who it is, what it may do, and in which account. A page of this
   * server that calls the API with the session of its user reads the CSRF token here; pages of other origins
   * cannot read the answer.
   */
  readonly getMe: {
    readonly result: Me;
  };
  /**
   * Get the names of who did something. Records say with an id who made, approved or paid them. This returns
   * whose ids these are: people, also those who were removed, API keys, applications and portal links. An id of
   * nobody in the account is left out.
   */
  readonly getActors: {
    readonly query: GetActorsQuery;
    readonly result: Actors;
  };
  /** Get the e-mail alerts of a user. Every kind of alert, and whether the user gets it by e-mail. */
  readonly getAlertSettings: {
    readonly query?: GetAlertSettingsQuery;
    readonly result: AlertSettings;
  };
  /**
   * Choose the e-mail alerts of a user. Alerts within a minute are sent in one e-mail, and at most 6 e-mails in
   * an hour; the next one has everything that came meanwhile.
   */
  readonly setAlertSettings: {
    readonly query?: SetAlertSettingsQuery;
    readonly body: SetAlertSettingsBody;
    readonly header: 'Idempotency-Key';
    readonly result: AlertSettings;
  };
  /**
   * Send a test alert to a user. It is sent to the e-mail address of the user within seconds; `getAlertSettings`
   * shows the result.
   */
  readonly testAlertSettings: {
    readonly query?: TestAlertSettingsQuery;
    readonly header: 'Idempotency-Key';
    readonly result: AlertTest;
  };
  /** List alert channels. List alert channels. */
  readonly listAlertChannels: {
    readonly query?: ListAlertChannelsQuery;
    readonly result: Page<AlertChannel>;
  };
  /**
   * Create an alert channel. A webhook or Slack channel that receives the alerts that users get by e-mail. The
   * URL may lead to the same hosts as those of webhook endpoints.
   */
  readonly createAlertChannel: {
    readonly body: CreateAlertChannelBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewAlertChannel;
  };
  /** Get an alert channel. Get an alert channel. */
  readonly getAlertChannel: {
    readonly path: [channel_id: string];
    readonly result: AlertChannel;
  };
  /** Change an alert channel. The secret of a webhook stays the same. */
  readonly changeAlertChannel: {
    readonly path: [channel_id: string];
    readonly body: ChangeAlertChannelBody;
    readonly header: 'Idempotency-Key';
    readonly result: AlertChannel;
  };
  /** Delete an alert channel. Alerts that still wait to be sent there are dropped. */
  readonly deleteAlertChannel: {
    readonly path: [channel_id: string];
    readonly result: undefined;
  };
  /**
   * Send a test to an alert channel. It is sent within seconds; `last_sent_at` and `last_error` of the channel
   * show the result.
   */
  readonly testAlertChannel: {
    readonly path: [channel_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: AlertTest;
  };
  /**
   * Get the state of the installation. For whoever runs the server: keys and owners of the account that was made
   * first. Version, schema, database, disk, what waits to be delivered, when each chore was last done, the last
   * backup, the replica, and the cells. The backlog and the alerts are sums of all cells that can be reached;
   * without a note to the contrary, the rest is of cell 0.
   */
  readonly getSystem: {
    readonly result: System;
  };
  /** Get the account and its settings. Get the account and its settings. */
  readonly getAccount: {
    readonly result: Account;
  };
  /**
   * Change settings of the account. A new hold applies to new commissions only; minimums apply from the next
   * payout on. A new time zone changes what days mean from now on, and changes no stored instant.
   */
  readonly changeAccount: {
    readonly body: ChangeAccountBody;
    readonly header: 'Idempotency-Key';
    readonly result: Account;
  };
  /** List API keys. List API keys. */
  readonly listApiKeys: {
    readonly query?: ListApiKeysQuery;
    readonly result: Page<ApiKey>;
  };
  /** Create an API key. The secret is shown in this answer only. Any key grants full access to the account. */
  readonly createApiKey: {
    readonly body: CreateApiKeyBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewApiKey;
  };
  /** Delete an API key. Revokes it: it stops working at once, on every server process. The record stays. */
  readonly deleteApiKey: {
    readonly path: [key_id: string];
    readonly result: undefined;
  };
  /** List users. Removed users are listed only with `status=removed`. */
  readonly listUsers: {
    readonly query?: ListUsersQuery;
    readonly result: Page<User>;
  };
  /**
   * Invite a user. Pass on `invitation_url`, which works once, for 7 days; where the server sends e-mail
   * (`is_emailed`), the user gets it too. There the user joins with the password they already have on this
   * server from another account, or chooses a new one. The answer does not reveal which.
   */
  readonly createUser: {
    readonly body: CreateUserBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewUser;
  };
  /** Get a user. Removed users can be read too. */
  readonly getUser: {
    readonly path: [user_id: string];
    readonly result: User;
  };
  /**
   * Change the name or the role of a user. A new role applies from the next request. What an owner granted to
   * applications ends when they become a member or a viewer, and does not come back with the role.
   */
  readonly changeUser: {
    readonly path: [user_id: string];
    readonly body: ChangeUserBody;
    readonly header: 'Idempotency-Key';
    readonly result: User;
  };
  /**
   * Delete a user. Sessions in this account, links and grants end at once; other accounts of the same person are
   * not affected. What the user did stays attributed to them: `getUser` still answers.
   */
  readonly deleteUser: {
    readonly path: [user_id: string];
    readonly result: undefined;
  };
  /**
   * Erase the person behind a user. Name, e-mail address, and the browsers and addresses they signed in from are
   * removed permanently. A user who is still there is removed first. The record and its id stay, so what they
   * did stays attributed to it. Other accounts of the same person are not affected.
   */
  readonly eraseUser: {
    readonly path: [user_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: User;
  };
  /**
   * Make a link to choose a new password. The link works once, for a day. For a user who has not accepted the
   * invitation it is a new one, for 7 days. The old password works until the link is used; then all sessions
   * end. Somebody who is also a member of another account must change the password themselves or use a link from
   * the operator, because it opens both accounts.
   */
  readonly resetUserPassword: {
    readonly path: [user_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: PasswordReset;
  };
  /**
   * List the sessions of users who are signed in. Sessions end 7 days after they were last used, and 30 days
   * after they began.
   */
  readonly listSessions: {
    readonly query?: ListSessionsQuery;
    readonly result: Page<Session>;
  };
  /** Delete a session. Signs the user out at once, on every server process. */
  readonly deleteSession: {
    readonly path: [session_id: string];
    readonly result: undefined;
  };
  /**
   * List your sessions. The browsers in which the signed-in person is signed in, in all their accounts. Other
   * people’s sessions are in `listSessions`.
   */
  readonly listOwnSessions: {
    readonly query?: ListOwnSessionsQuery;
    readonly result: Page<OwnSession>;
  };
  /**
   * Delete your other sessions. Signs the person out of every session but the one of this request, in all their
   * accounts.
   */
  readonly deleteOtherSessions: {
    readonly result: undefined;
  };
  /**
   * Delete one of your sessions. That browser is signed out at its next request. It may be a session in another
   * of your accounts.
   */
  readonly deleteOwnSession: {
    readonly path: [session_id: string];
    readonly result: undefined;
  };
  /**
   * List what was done, and by whom. Every change by a person, a key or an application, written with the change;
   * entries are never changed. Commissions and events that programs send in are not listed here: they have
   * records of their own.
   */
  readonly listAuditLog: {
    readonly query?: ListAuditLogQuery;
    readonly result: Page<AuditEntry>;
  };
  /** List OAuth applications. List OAuth applications. */
  readonly listOAuthApplications: {
    readonly query?: ListOAuthApplicationsQuery;
    readonly result: Page<OAuthApplication>;
  };
  /**
   * Register an OAuth application. Merchants of this server can then grant it access. Its secret is shown in
   * this answer only.
   */
  readonly createOAuthApplication: {
    readonly body: CreateOAuthApplicationBody;
    readonly header: 'Idempotency-Key';
    readonly result: NewOAuthApplication;
  };
  /** Get an OAuth application. Get an OAuth application. */
  readonly getOAuthApplication: {
    readonly path: [application_id: string];
    readonly result: OAuthApplication;
  };
  /**
   * Change an OAuth application. The kind cannot be changed. Removed scopes can no longer be granted; existing
   * grants keep them.
   */
  readonly changeOAuthApplication: {
    readonly path: [application_id: string];
    readonly body: ChangeOAuthApplicationBody;
    readonly header: 'Idempotency-Key';
    readonly result: OAuthApplication;
  };
  /** Delete an OAuth application. All grants to it end at once, in every account. */
  readonly deleteOAuthApplication: {
    readonly path: [application_id: string];
    readonly result: undefined;
  };
  /** Make a new client secret. The old secret stops working at once; tokens stay valid. */
  readonly rotateOAuthApplicationSecret: {
    readonly path: [application_id: string];
    readonly header: 'Idempotency-Key';
    readonly result: NewOAuthApplication;
  };
  /** List what was granted to applications. List what was granted to applications. */
  readonly listOAuthGrants: {
    readonly query?: ListOAuthGrantsQuery;
    readonly result: Page<OAuthGrant>;
  };
  /** Get a grant. Get a grant. */
  readonly getOAuthGrant: {
    readonly path: [grant_id: string];
    readonly result: OAuthGrant;
  };
  /** Delete a grant. Revokes it: its tokens stop working at once, on every server process. */
  readonly deleteOAuthGrant: {
    readonly path: [grant_id: string];
    readonly result: undefined;
  };
}

/** How each operation is asked for; a list in `order` gets what is new at its end. */
export const OPERATIONS = {
  listPayouts: {
    method: 'GET',
    path: '/v2/affiliates/payouts',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createPayout: { method: 'POST', path: '/v2/affiliates/payouts', takes: ['body'], gives: 'record' },
  previewPayout: { method: 'POST', path: '/v2/affiliates/payouts/preview', takes: ['body'], gives: 'record' },
  previewPayoutAffiliates: {
    method: 'POST',
    path: '/v2/affiliates/payouts/preview/affiliates',
    takes: ['body', 'query'],
    gives: 'page',
    order: 'id',
  },
  previewPayoutExclusions: {
    method: 'POST',
    path: '/v2/affiliates/payouts/preview/excluded',
    takes: ['body', 'query'],
    gives: 'page',
    order: 'id',
  },
  previewPayoutSignals: {
    method: 'POST',
    path: '/v2/affiliates/payouts/preview/signals',
    takes: ['body', 'query'],
    gives: 'page',
    order: 'affiliate_id',
  },
  getCurrentPayout: { method: 'GET', path: '/v2/affiliates/payouts/current', takes: [], gives: 'record' },
  getPayout: { method: 'GET', path: '/v2/affiliates/payouts/{payout_id}', takes: [], gives: 'record' },
  completePayout: {
    method: 'PUT',
    path: '/v2/affiliates/payouts/{payout_id}',
    takes: ['body'],
    gives: 'record',
  },
  deletePayout: { method: 'DELETE', path: '/v2/affiliates/payouts/{payout_id}', takes: [], gives: 'nothing' },
  getPayoutApproval: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/approval',
    takes: [],
    gives: 'record',
  },
  approvePayout: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/approve',
    takes: ['body'],
    gives: 'record',
  },
  rejectPayout: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/reject',
    takes: ['body'],
    gives: 'record',
  },
  listPayoutSchedules: {
    method: 'GET',
    path: '/v2/affiliates/payout-schedules',
    takes: ['query'],
    gives: 'page',
    order: '-created_at',
  },
  createPayoutSchedule: {
    method: 'POST',
    path: '/v2/affiliates/payout-schedules',
    takes: ['body'],
    gives: 'record',
  },
  getPayoutSchedule: {
    method: 'GET',
    path: '/v2/affiliates/payout-schedules/{schedule_id}',
    takes: [],
    gives: 'record',
  },
  changePayoutSchedule: {
    method: 'PATCH',
    path: '/v2/affiliates/payout-schedules/{schedule_id}',
    takes: ['body'],
    gives: 'record',
  },
  deletePayoutSchedule: {
    method: 'DELETE',
    path: '/v2/affiliates/payout-schedules/{schedule_id}',
    takes: [],
    gives: 'nothing',
  },
  downloadPayout: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/download',
    takes: [],
    gives: 'file',
  },
  listPayoutAffiliates: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/affiliates',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  listPayoutCommissions: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/commissions',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  listPayoutExclusions: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/excluded',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  listPayoutSignals: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/signals',
    takes: ['query'],
    gives: 'page',
    order: 'affiliate_id',
  },
  downloadPayoutSignals: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/signals/download',
    takes: [],
    gives: 'file',
  },
  reviewPayoutSignals: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/signals/review',
    takes: ['body'],
    gives: 'record',
  },
  returnPayoutLine: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned',
    takes: ['body'],
    gives: 'record',
  },
  listPayoutReturns: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  deletePayoutReturn: {
    method: 'DELETE',
    path: '/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned/{return_id}',
    takes: [],
    gives: 'nothing',
  },
  issueInvoices: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/invoices',
    takes: ['body'],
    gives: 'record',
  },
  listInvoices: {
    method: 'GET',
    path: '/v2/affiliates/invoices',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  getInvoice: { method: 'GET', path: '/v2/affiliates/invoices/{invoice_id}', takes: [], gives: 'record' },
  downloadInvoice: {
    method: 'GET',
    path: '/v2/affiliates/invoices/{invoice_id}/download',
    takes: ['query'],
    gives: 'file',
  },
  downloadInvoicesOfPayout: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/invoices/download',
    takes: ['query'],
    gives: 'file',
  },
  getPaymentFiles: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/payment-files',
    takes: [],
    gives: 'record',
  },
  downloadPaymentFile: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/payment-files/{format}',
    takes: ['query'],
    gives: 'file',
  },
  takePayoutResult: {
    method: 'POST',
    path: '/v2/affiliates/payouts/{payout_id}/results',
    takes: ['file', 'query'],
    gives: 'record',
    fileType: 'application/octet-stream',
  },
  listPayoutResults: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/results',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  listPayoutVerifications: {
    method: 'GET',
    path: '/v2/affiliates/payouts/{payout_id}/verifications',
    takes: ['query'],
    gives: 'page',
    order: 'affiliate_id',
  },
  getReportSummary: { method: 'GET', path: '/v2/reports/summary', takes: ['query'], gives: 'record' },
  downloadReportSummary: {
    method: 'GET',
    path: '/v2/reports/summary/download',
    takes: ['query'],
    gives: 'file',
  },
  listReportEntries: {
    method: 'GET',
    path: '/v2/reports/summary/entries',
    takes: ['query'],
    gives: 'page',
    order: '-occurred_at',
  },
  downloadPaidReport: { method: 'GET', path: '/v2/affiliates/reports/paid', takes: ['query'], gives: 'file' },
  listPaidReport: {
    method: 'GET',
    path: '/v2/affiliates/reports/paid/rows',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  getUsTaxReport: { method: 'GET', path: '/v2/affiliates/reports/us-tax', takes: ['query'], gives: 'record' },
  listUsTaxReport: {
    method: 'GET',
    path: '/v2/affiliates/reports/us-tax/rows',
    takes: ['query'],
    gives: 'page',
    order: 'affiliate_id',
  },
  exportUsTaxReport: {
    method: 'POST',
    path: '/v2/affiliates/reports/us-tax/export',
    takes: ['query'],
    gives: 'file',
  },
  getAffiliateStatement: {
    method: 'GET',
    path: '/v2/affiliates/{affiliate_id}/statement',
    takes: ['query'],
    gives: 'record',
  },
  downloadAffiliateStatement: {
    method: 'GET',
    path: '/v2/affiliates/{affiliate_id}/statement/download',
    takes: ['query'],
    gives: 'file',
  },
  listAffiliates: { method: 'GET', path: '/v2/affiliates', takes: ['query'], gives: 'page', order: 'id' },
  createAffiliate: { method: 'POST', path: '/v2/affiliates', takes: ['body'], gives: 'record' },
  getBalances: { method: 'GET', path: '/v2/affiliates/balances', takes: [], gives: 'record' },
  getCommissionAnalytics: {
    method: 'GET',
    path: '/v2/analytics/commissions',
    takes: ['query'],
    gives: 'record',
  },
  getDeliveryAnalytics: {
    method: 'GET',
    path: '/v2/analytics/deliveries',
    takes: ['query'],
    gives: 'record',
  },
  importAffiliates: {
    method: 'POST',
    path: '/v2/affiliates/import',
    takes: ['file', 'query'],
    gives: 'record',
    fileType: 'text/csv',
  },
  getAffiliate: { method: 'GET', path: '/v2/affiliates/{affiliate_id}', takes: [], gives: 'record' },
  changeAffiliate: {
    method: 'PATCH',
    path: '/v2/affiliates/{affiliate_id}',
    takes: ['body'],
    gives: 'record',
  },
  eraseAffiliate: { method: 'POST', path: '/v2/affiliates/{affiliate_id}/erase', takes: [], gives: 'record' },
  getAffiliateByExternalId: {
    method: 'GET',
    path: '/v2/affiliates/by-external-id/{external_id}',
    takes: [],
    gives: 'record',
  },
  putAffiliateByExternalId: {
    method: 'PUT',
    path: '/v2/affiliates/by-external-id/{external_id}',
    takes: ['body'],
    gives: 'record',
  },
  getAffiliateDestinations: {
    method: 'GET',
    path: '/v2/affiliates/{affiliate_id}/destination',
    takes: [],
    gives: 'record',
  },
  putAffiliateDestination: {
    method: 'PUT',
    path: '/v2/affiliates/{affiliate_id}/destination',
    takes: ['body'],
    gives: 'record',
  },
  deleteAffiliateDestination: {
    method: 'DELETE',
    path: '/v2/affiliates/{affiliate_id}/destination',
    takes: ['query'],
    gives: 'nothing',
  },
  useVerifiedName: {
    method: 'POST',
    path: '/v2/affiliates/{affiliate_id}/destination/verified-name',
    takes: ['body'],
    gives: 'record',
  },
  listDestinationCorrections: {
    method: 'GET',
    path: '/v2/affiliates/destination-corrections',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  acceptDestinationCorrection: {
    method: 'POST',
    path: '/v2/affiliates/destination-corrections/{correction_id}/accept',
    takes: [],
    gives: 'record',
  },
  dismissDestinationCorrection: {
    method: 'POST',
    path: '/v2/affiliates/destination-corrections/{correction_id}/dismiss',
    takes: [],
    gives: 'record',
  },
  listAffiliateNotices: {
    method: 'GET',
    path: '/v2/affiliates/notices',
    takes: ['query'],
    gives: 'page',
    order: '-created_at',
  },
  previewAffiliateNotice: {
    method: 'GET',
    path: '/v2/affiliates/notices/preview',
    takes: ['query'],
    gives: 'record',
  },
  listAffiliateTaxProfiles: {
    method: 'GET',
    path: '/v2/affiliates/tax-profiles',
    takes: ['query'],
    gives: 'page',
    order: 'affiliate_id',
  },
  getAffiliateTaxProfile: {
    method: 'GET',
    path: '/v2/affiliates/{affiliate_id}/tax-profile',
    takes: [],
    gives: 'record',
  },
  putAffiliateTaxProfile: {
    method: 'PUT',
    path: '/v2/affiliates/{affiliate_id}/tax-profile',
    takes: ['body'],
    gives: 'record',
  },
  deleteAffiliateTaxProfile: {
    method: 'DELETE',
    path: '/v2/affiliates/{affiliate_id}/tax-profile',
    takes: [],
    gives: 'nothing',
  },
  listPrograms: {
    method: 'GET',
    path: '/v2/affiliates/programs',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createProgram: { method: 'POST', path: '/v2/affiliates/programs', takes: ['body'], gives: 'record' },
  getProgram: { method: 'GET', path: '/v2/affiliates/programs/{program_id}', takes: [], gives: 'record' },
  changeProgram: {
    method: 'PATCH',
    path: '/v2/affiliates/programs/{program_id}',
    takes: ['body'],
    gives: 'record',
  },
  listCommissions: {
    method: 'GET',
    path: '/v2/affiliates/commissions',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createCommission: { method: 'POST', path: '/v2/affiliates/commissions', takes: ['body'], gives: 'record' },
  createCommissionBatch: {
    method: 'POST',
    path: '/v2/affiliates/commissions/batch',
    takes: ['body'],
    gives: 'record',
  },
  importCommissions: {
    method: 'POST',
    path: '/v2/affiliates/commissions/import',
    takes: ['file', 'query'],
    gives: 'record',
    fileType: 'text/csv',
  },
  getCommission: {
    method: 'GET',
    path: '/v2/affiliates/commissions/{commission_id}',
    takes: [],
    gives: 'record',
  },
  voidCommission: {
    method: 'POST',
    path: '/v2/affiliates/commissions/{commission_id}/void',
    takes: ['body'],
    gives: 'record',
  },
  holdCommission: {
    method: 'POST',
    path: '/v2/affiliates/commissions/{commission_id}/hold',
    takes: [],
    gives: 'record',
  },
  unholdCommission: {
    method: 'POST',
    path: '/v2/affiliates/commissions/{commission_id}/unhold',
    takes: [],
    gives: 'record',
  },
  refundCommission: {
    method: 'POST',
    path: '/v2/affiliates/commissions/{commission_id}/refund',
    takes: ['body'],
    gives: 'record',
  },
  refundOrder: { method: 'POST', path: '/v2/affiliates/refunds', takes: ['body'], gives: 'record' },
  listRefunds: {
    method: 'GET',
    path: '/v2/affiliates/refunds',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  getRefund: { method: 'GET', path: '/v2/affiliates/refunds/{refund_id}', takes: [], gives: 'record' },
  reverseRefund: {
    method: 'POST',
    path: '/v2/affiliates/refunds/{refund_id}/reverse',
    takes: [],
    gives: 'record',
  },
  createAdjustment: {
    method: 'POST',
    path: '/v2/affiliates/{affiliate_id}/adjustments',
    takes: ['body'],
    gives: 'record',
  },
  previewImport: {
    method: 'POST',
    path: '/v2/imports/preview',
    takes: ['file', 'query'],
    gives: 'record',
    fileType: 'application/octet-stream',
  },
  createImport: {
    method: 'POST',
    path: '/v2/imports',
    takes: ['file', 'query'],
    gives: 'record',
    fileType: 'application/octet-stream',
  },
  listImports: { method: 'GET', path: '/v2/imports', takes: ['query'], gives: 'page', order: 'id' },
  downloadBadLines: {
    method: 'POST',
    path: '/v2/imports/bad-lines',
    takes: ['file', 'query'],
    gives: 'file',
    fileType: 'application/octet-stream',
  },
  getImportProgress: { method: 'GET', path: '/v2/imports/progress', takes: ['query'], gives: 'record' },
  listImportMappings: {
    method: 'GET',
    path: '/v2/imports/mappings',
    takes: ['query'],
    gives: 'page',
    order: 'name',
  },
  getImport: { method: 'GET', path: '/v2/imports/{import_id}', takes: [], gives: 'record' },
  undoImport: { method: 'POST', path: '/v2/imports/{import_id}/undo', takes: [], gives: 'record' },
  listWebhookEndpoints: {
    method: 'GET',
    path: '/v2/webhook-endpoints',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createWebhookEndpoint: { method: 'POST', path: '/v2/webhook-endpoints', takes: ['body'], gives: 'record' },
  getWebhookEndpoint: { method: 'GET', path: '/v2/webhook-endpoints/{id}', takes: [], gives: 'record' },
  changeWebhookEndpoint: {
    method: 'PATCH',
    path: '/v2/webhook-endpoints/{id}',
    takes: ['body'],
    gives: 'record',
  },
  deleteWebhookEndpoint: {
    method: 'DELETE',
    path: '/v2/webhook-endpoints/{id}',
    takes: [],
    gives: 'nothing',
  },
  getWebhookEndpointByExternalId: {
    method: 'GET',
    path: '/v2/webhook-endpoints/by-external-id/{external_id}',
    takes: [],
    gives: 'record',
  },
  putWebhookEndpointByExternalId: {
    method: 'PUT',
    path: '/v2/webhook-endpoints/by-external-id/{external_id}',
    takes: ['body'],
    gives: 'record',
  },
  getWebhookEndpointSecret: {
    method: 'GET',
    path: '/v2/webhook-endpoints/{id}/secret',
    takes: [],
    gives: 'record',
  },
  rotateWebhookEndpointSecret: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/rotate-secret',
    takes: ['body'],
    gives: 'record',
  },
  confirmWebhookEndpointContact: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/confirm-contact',
    takes: [],
    gives: 'record',
  },
  testWebhookEndpoint: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/test',
    takes: ['body'],
    gives: 'record',
  },
  testWebhookEndpointFilter: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/test-filter',
    takes: ['body'],
    gives: 'record',
  },
  claimWebhookEvents: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/claims',
    takes: ['body'],
    gives: 'record',
  },
  acknowledgeWebhookEvents: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/acknowledgements',
    takes: ['body'],
    gives: 'record',
  },
  extendWebhookLeases: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/extensions',
    takes: ['body'],
    gives: 'record',
  },
  createWebhookEndpointToken: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/token',
    takes: ['body'],
    gives: 'record',
  },
  createPortalLink: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/portal-link',
    takes: ['body'],
    gives: 'record',
  },
  listPortalLinks: { method: 'GET', path: '/v2/portal-links', takes: ['query'], gives: 'page', order: 'id' },
  deletePortalLink: { method: 'DELETE', path: '/v2/portal-links/{link_id}', takes: [], gives: 'nothing' },
  recoverWebhookEndpoint: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/recover',
    takes: ['body'],
    gives: 'record',
  },
  discardEventsOfWebhookEndpoint: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/discard',
    takes: ['body'],
    gives: 'record',
  },
  previewRecoveryOfWebhookEndpoint: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/preview-recovery',
    takes: ['body'],
    gives: 'record',
  },
  listRecoveriesOfWebhookEndpoint: {
    method: 'GET',
    path: '/v2/webhook-endpoints/{id}/recoveries',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  getRecoveryOfWebhookEndpoint: {
    method: 'GET',
    path: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
    takes: [],
    gives: 'record',
  },
  deleteRecoveryOfWebhookEndpoint: {
    method: 'DELETE',
    path: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
    takes: [],
    gives: 'nothing',
  },
  listEventsOfWebhookEndpoint: {
    method: 'GET',
    path: '/v2/webhook-endpoints/{id}/events',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  getEventOfWebhookEndpoint: {
    method: 'GET',
    path: '/v2/webhook-endpoints/{id}/events/{event_id}',
    takes: [],
    gives: 'record',
  },
  retryEventOfWebhookEndpoint: {
    method: 'POST',
    path: '/v2/webhook-endpoints/{id}/events/{event_id}/retry',
    takes: [],
    gives: 'nothing',
  },
  listWebhookEvents: {
    method: 'GET',
    path: '/v2/webhook-events/',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  listEvents: { method: 'GET', path: '/v2/events', takes: ['query'], gives: 'page', order: 'id' },
  publishEvent: { method: 'POST', path: '/v2/events', takes: ['body'], gives: 'record' },
  publishEventBatch: { method: 'POST', path: '/v2/events/batch', takes: ['body'], gives: 'record' },
  getEvent: { method: 'GET', path: '/v2/events/{event_id}', takes: [], gives: 'record' },
  listEventTypes: { method: 'GET', path: '/v2/event-types', takes: ['query'], gives: 'page', order: 'type' },
  getEventType: { method: 'GET', path: '/v2/event-types/{type}', takes: [], gives: 'record' },
  putEventType: { method: 'PUT', path: '/v2/event-types/{type}', takes: ['body'], gives: 'record' },
  deleteEventType: { method: 'DELETE', path: '/v2/event-types/{type}', takes: [], gives: 'nothing' },
  getMe: { method: 'GET', path: '/v2/me', takes: [], gives: 'record' },
  getActors: { method: 'GET', path: '/v2/actors', takes: ['query'], gives: 'record' },
  getAlertSettings: { method: 'GET', path: '/v2/alerts', takes: ['query'], gives: 'record' },
  setAlertSettings: { method: 'PUT', path: '/v2/alerts', takes: ['body', 'query'], gives: 'record' },
  testAlertSettings: { method: 'POST', path: '/v2/alerts/test', takes: ['query'], gives: 'record' },
  listAlertChannels: {
    method: 'GET',
    path: '/v2/alert-channels',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createAlertChannel: { method: 'POST', path: '/v2/alert-channels', takes: ['body'], gives: 'record' },
  getAlertChannel: { method: 'GET', path: '/v2/alert-channels/{channel_id}', takes: [], gives: 'record' },
  changeAlertChannel: {
    method: 'PATCH',
    path: '/v2/alert-channels/{channel_id}',
    takes: ['body'],
    gives: 'record',
  },
  deleteAlertChannel: {
    method: 'DELETE',
    path: '/v2/alert-channels/{channel_id}',
    takes: [],
    gives: 'nothing',
  },
  testAlertChannel: {
    method: 'POST',
    path: '/v2/alert-channels/{channel_id}/test',
    takes: [],
    gives: 'record',
  },
  getSystem: { method: 'GET', path: '/v2/system', takes: [], gives: 'record' },
  getAccount: { method: 'GET', path: '/v2/account', takes: [], gives: 'record' },
  changeAccount: { method: 'PATCH', path: '/v2/account', takes: ['body'], gives: 'record' },
  listApiKeys: { method: 'GET', path: '/v2/api-keys', takes: ['query'], gives: 'page', order: 'id' },
  createApiKey: { method: 'POST', path: '/v2/api-keys', takes: ['body'], gives: 'record' },
  deleteApiKey: { method: 'DELETE', path: '/v2/api-keys/{key_id}', takes: [], gives: 'nothing' },
  listUsers: { method: 'GET', path: '/v2/users', takes: ['query'], gives: 'page', order: 'id' },
  createUser: { method: 'POST', path: '/v2/users', takes: ['body'], gives: 'record' },
  getUser: { method: 'GET', path: '/v2/users/{user_id}', takes: [], gives: 'record' },
  changeUser: { method: 'PATCH', path: '/v2/users/{user_id}', takes: ['body'], gives: 'record' },
  deleteUser: { method: 'DELETE', path: '/v2/users/{user_id}', takes: [], gives: 'nothing' },
  eraseUser: { method: 'POST', path: '/v2/users/{user_id}/erase', takes: [], gives: 'record' },
  resetUserPassword: {
    method: 'POST',
    path: '/v2/users/{user_id}/reset-password',
    takes: [],
    gives: 'record',
  },
  listSessions: { method: 'GET', path: '/v2/sessions', takes: ['query'], gives: 'page', order: 'id' },
  deleteSession: { method: 'DELETE', path: '/v2/sessions/{session_id}', takes: [], gives: 'nothing' },
  listOwnSessions: { method: 'GET', path: '/v2/me/sessions', takes: ['query'], gives: 'page', order: 'id' },
  deleteOtherSessions: { method: 'DELETE', path: '/v2/me/sessions', takes: [], gives: 'nothing' },
  deleteOwnSession: { method: 'DELETE', path: '/v2/me/sessions/{session_id}', takes: [], gives: 'nothing' },
  listAuditLog: { method: 'GET', path: '/v2/audit-log', takes: ['query'], gives: 'page', order: 'id' },
  listOAuthApplications: {
    method: 'GET',
    path: '/v2/oauth-applications',
    takes: ['query'],
    gives: 'page',
    order: 'id',
  },
  createOAuthApplication: {
    method: 'POST',
    path: '/v2/oauth-applications',
    takes: ['body'],
    gives: 'record',
  },
  getOAuthApplication: {
    method: 'GET',
    path: '/v2/oauth-applications/{application_id}',
    takes: [],
    gives: 'record',
  },
  changeOAuthApplication: {
    method: 'PATCH',
    path: '/v2/oauth-applications/{application_id}',
    takes: ['body'],
    gives: 'record',
  },
  deleteOAuthApplication: {
    method: 'DELETE',
    path: '/v2/oauth-applications/{application_id}',
    takes: [],
    gives: 'nothing',
  },
  rotateOAuthApplicationSecret: {
    method: 'POST',
    path: '/v2/oauth-applications/{application_id}/rotate-secret',
    takes: [],
    gives: 'record',
  },
  listOAuthGrants: { method: 'GET', path: '/v2/oauth-grants', takes: ['query'], gives: 'page', order: 'id' },
  getOAuthGrant: { method: 'GET', path: '/v2/oauth-grants/{grant_id}', takes: [], gives: 'record' },
  deleteOAuthGrant: { method: 'DELETE', path: '/v2/oauth-grants/{grant_id}', takes: [], gives: 'nothing' },
} as const satisfies Readonly<Record<keyof Operations, object>>;
