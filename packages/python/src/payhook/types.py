# Made by `npm run generate` from the description of the API: change the routes, not this file.
"""The records, bodies and events of the API. Amounts are minor units, times RFC 3339 in UTC."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class Account(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["account"]
    """The type of the record."""
    name: str
    """The name."""
    default_currency: str
    """The currency of amounts that name none."""
    hold_days: int
    """Days a new commission is on hold."""
    minimum_payout: dict[str, int]
    """Minor units per currency code, for example {"usd": 5000}."""
    time_zone: str
    """IANA name: the time zone of days without a time, in filters, files and reports."""
    paypal_payment_limit: dict[str, int]
    """Minor units per currency code: the largest single payment PayPal sends."""
    portal_origins: list[str]
    """Origins of your own pages that may show a portal in a frame; https, or http on localhost."""
    event_owner: EventOwnerRule
    """required: publishing an event without an `owner` is refused, so that none reaches the endpoints of
    every recipient by mistake.
    """
    event_validation: EventValidationRule
    """What happens to an event whose data violates the schema of its type. warn: it is accepted, the
    answer has the header Payhook-Schema-Violation, and the type its `last_violation`; refuse:
    publishing is refused. Types without a schema are accepted.
    """
    endpoints_per_owner: int | None
    """The most webhook endpoints of an owner; null = ten in a portal, no limit otherwise."""
    approval: ApprovalRule
    """second_person: a payout is paid only after a person who did not create it has approved it. Only a
    signed-in owner, or the operator, may change it back to none.
    """
    destination_wait_hours: int
    """Hours for which whoever changed where they are paid is not paid; 0 = none. Only a signed-in owner,
    or the operator, may lower it.
    """
    payout_form: PayoutFormRule
    """Who is left out of payouts without a valid W-9 or W-8. at_threshold: whose payments of the year in
    US dollars, with this one, reach the threshold of Form 1099-NEC, PayPal aside; always: everybody.
    """
    backup_withholding: BackupWithholdingRule
    """Whether payouts withhold 24 % of payments in US dollars, PayPal aside, to affiliates in the United
    States without a W-9 or a US tax id. at_threshold: once their payments of the year, with this one,
    reach the threshold of Form 1099-NEC, or if those of the year before did or something was withheld;
    always: from the first payment on. Fixed in each line when a payout is created.
    """
    commissions_are: CommissionsAre
    """gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    payout_signals: PayoutSignals
    """What is looked for in payouts because it may point to fraud."""
    state_thresholds: dict[str, int | None]
    """Cents by the two letters of a state, for example {"CA": 60000, "OH": null}: the sum of a year from
    which you report to it, in place of the built-in table; null: you report nothing.
    """
    debtor: Debtor | None
    """The bank account that payouts are paid from (SEPA); null if unknown."""
    originator: Originator | None
    """The bank account that payouts are paid from (ACH); null if unknown."""
    tax_profile: AccountTaxProfile | None
    """The tax details of the account; null if unknown."""
    invoicing: Invoicing | None
    """How self-billing invoices are written; null if the account writes none."""
    affiliate_notices: AffiliateNotices | None
    """The e-mails that affiliates get; null if the account sends none."""
    contact_notices: ContactNotices | None
    """The e-mails that contacts of endpoints get; null if the account sends none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class AccountTaxProfile(TypedDict):
    """Who you are on invoices and reports."""

    legal_name: str
    """The name in the register or the passport."""
    country: str
    """ISO 3166-1 alpha-2."""
    address: PostalAddress
    """The postal address."""
    vat_id: str | None
    """With its country in front."""
    tax_number: str | None
    """A national number, such as an EIN; only its end, such as …2051, for callers who may not download
    payment files.
    """
    siren: str | None
    """SIREN or SIRET of a French business."""
    electronic_address: str | None
    """In the Peppol network."""


class AcknowledgeWebhookEventsBodyItemsItem(TypedDict):
    id: str
    """The id of the record."""
    lease_id: str
    """Of this claim."""
    status: AcknowledgementStatus
    """failed: it comes again by the schedule; cancelled: it does not."""
    error: NotRequired[str]
    """Why it was not delivered, shown in the log."""


class AcknowledgeWebhookEventsBody(TypedDict):
    items: list[AcknowledgeWebhookEventsBodyItemsItem]
    """The results, in the order of the request."""


AcknowledgementResult = Literal["acknowledged", "lease_lost"]

AcknowledgementStatus = Literal["delivered", "failed", "cancelled"]

class Actor(TypedDict):
    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""
    name: str | None
    """Of a portal link: the owner of its endpoints."""


ActorKind = Literal["key", "user", "application", "operator", "portal"]

class Actors(TypedDict):
    object: Literal["actors"]
    """The type of the record."""
    actors: list[Actor]
    """By id."""


class Affiliate(TypedDict):
    id: int
    """affiliate_id in other records."""
    object: Literal["affiliate"]
    """The type of the record."""
    name_first: str | None
    """First name."""
    name_last: str | None
    """Last name."""
    email: str
    """Unique in the account."""
    external_id: str | None
    """Your own id of the affiliate, unique in the account."""
    slug: str | None
    """The affiliate in your links; searches include it."""
    status: AffiliateStatus
    """Payouts leave out an inactive affiliate."""
    payout_method: PayoutMethod | None
    """How payouts pay, unless a destination says otherwise."""
    paypal_email: str | None
    """The address that PayPal pays."""
    is_ready_for_payout: bool
    """Your switch: payouts leave out an affiliate that is not ready."""
    minimum_payout: dict[str, int] | None
    """Used instead of the minimum of the account; minor units per currency code, for example {"usd":
    5000}.
    """
    commissions_are: CommissionsAre | None
    """Used instead of the setting of the account: gross with the tax, or net with the tax paid on top;
    gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    legal_type: LegalType | None
    """What the affiliate is by law, if known."""
    country: str | None
    """Where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)."""
    language: NoticeLanguage | None
    """Of e-mails to the affiliate; without it, that of the account."""
    is_notified: bool
    """Whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link
    in each.
    """
    metadata: dict[str, str]
    """Your own keys and texts."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class AffiliateBalance(TypedDict):
    currency: str
    """The currency of the amounts."""
    pending: int
    """Minor units of the currency given with it."""
    unpaid: int
    """Minor units of the currency given with it."""
    in_payout: int
    """Minor units of the currency given with it."""
    paid: int
    """Minor units of the currency given with it."""


class AffiliateBalances(TypedDict):
    object: Literal["affiliate_balances"]
    """The type of the record."""
    current_payout_id: str | None
    """The unpaid payout."""
    balances: list[OwedBalance]
    """A row per currency in which something is owed."""


class AffiliateCreatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["affiliate.created"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: Affiliate
    """The records of this page, in the requested order."""


class AffiliateDeletedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["affiliate.deleted"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: Affiliate
    """The records of this page, in the requested order."""


class AffiliateDestination(TypedDict):
    object: Literal["affiliate_destination"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    type: DestinationType
    """paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank
    account; other: your own method.
    """
    currency: str | None
    """Only for this currency; without it, for every currency without its own destination."""
    account_holder: str | None
    """wise_bank, sepa, ach: the name of the account holder."""
    holder_in_files: str | None
    """wise_bank, sepa, ach: the holder in the characters of payment files."""
    bic: str | None
    """sepa: the BIC, which few banks still ask for."""
    routing_number: str | None
    """ach: nine digits."""
    account_type: BankAccountType | None
    """ach: the type of the account."""
    last_four: str | None
    """wise_bank, sepa, ach: the end of the IBAN or account number."""
    country: str | None
    """wise_bank, sepa: of the IBAN, ISO 3166-1 alpha-2."""
    is_lost: bool
    """The number was lost with the secret key: set the destination again."""
    waits_until: str | None
    """Not paid before: see `destination_wait_hours` of the account; null: paid."""
    shared_with: list[int]
    """Other affiliates with the same IBAN or account, the first 20 ids."""
    verification: PayeeVerification | None
    """What the bank of the payee last answered about the name; null: nothing yet."""
    created_at: str
    """When it was created."""


class AffiliateDestinations(TypedDict):
    object: Literal["affiliate_destinations"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    destinations: list[AffiliateDestination]
    """The one for all currencies first; empty: paid as `payout_method` and `paypal_email` of the affiliate
    say.
    """


class AffiliateImport(TypedDict):
    object: Literal["affiliate_import"]
    """The type of the record."""
    dry_run: bool
    """Whether nothing was stored, because the request only checked the file."""
    lines: int
    """How many lines there are, without the head."""
    created: int
    """How many records are new."""
    updated: int
    """How many records changed."""
    unchanged: int
    """How many records were stored before with the same content."""
    failed: int
    """How many were refused, or failed."""
    methods_set: int
    """Lines whose `payout_method` became `paypal`, because they have a `paypal_email` and no method."""
    errors: list[BadLine]
    """The first 1,000 bad lines."""


class AffiliateInSeveralFilesFilesItem(TypedDict):
    format: Literal["paypal", "wise", "wise_bank", "sepa", "nacha"]
    """The format of the file."""
    file_set_id: str
    """The file set that the file belongs to."""
    part: int
    """The number of the part, from 1."""
    revision: int
    """Of the payout when the file set was first downloaded."""
    is_current: bool
    """No other file set of its format and currency was downloaded since."""


class AffiliateInSeveralFiles(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    currency: str
    """The currency of the amounts."""
    files: list[AffiliateInSeveralFilesFilesItem]
    """Oldest first."""


class AffiliateNotice(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_notice"]
    """The type of the record."""
    kind: AffiliateNoticeKind
    """paid: a payout that pays the affiliate was completed; returned: a payment to the affiliate was
    booked as returned; destination_changed: the destination or e-mail address was changed; also sent to
    the former address; form_lapsing: the tax form lapses at the end of the year; agreement_ending: the
    self-billing agreement ends within 90 days.
    """
    affiliate_id: int
    """The affiliate."""
    is_to_former_address: bool
    """An address that the affiliate had until then."""
    payout_id: str | None
    """The payout it is about."""
    status: AffiliateNoticeStatus
    """sent: the SMTP server accepted it; failed: it was given up after about a day, or permanently
    refused.
    """
    tries: int
    """How often it was tried."""
    error: str | None
    """Why the last try failed."""
    created_at: str
    """When it was created."""
    sent_at: str | None
    """When the SMTP server accepted it."""


AffiliateNoticeKind = Literal["paid", "returned", "destination_changed", "form_lapsing", "agreement_ending"]

class AffiliateNoticePreview(TypedDict):
    object: Literal["affiliate_notice_preview"]
    """The type of the record."""
    kind: AffiliateNoticeKind
    """paid: a payout that pays the affiliate was completed; returned: a payment to the affiliate was
    booked as returned; destination_changed: the destination or e-mail address was changed; also sent to
    the former address; form_lapsing: the tax form lapses at the end of the year; agreement_ending: the
    self-billing agreement ends within 90 days.
    """
    language: NoticeLanguage
    """Of the text."""
    is_on: bool
    """Whether the account sends this kind."""
    is_email_sent: bool
    """Whether the server sends e-mail."""
    from_name: str
    """The name of the sender."""
    reply_to: str | None
    """Where answers go; null = to the sender."""
    subject: str
    """Of the e-mail."""
    text: str
    """The body as plain text."""
    html: str
    """The body as HTML."""


AffiliateNoticeStatus = Literal["waiting", "sent", "failed"]

class AffiliateNotices(TypedDict):
    """e-mails to affiliates; null = none are sent."""

    kinds: list[AffiliateNoticeKind]
    """What is sent."""
    language: NoticeLanguage
    """For affiliates without a `language`; default en."""
    reply_to: str | None
    """Where answers go; null = to the sender."""


AffiliateStatement = TypedDict(
    "AffiliateStatement",
    {
        "object": Literal["affiliate_statement"],
        "affiliate_id": int,
        "name": Union[str, None],
        "email": str,
        "from": Union[str, None],
        "to": Union[str, None],
        "time_zone": str,
        "currencies": list["StatementBalance"],
    },
)

AffiliateStatus = Literal["active", "inactive"]

class AffiliateTaxProfile(TypedDict):
    object: Literal["affiliate_tax_profile"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    legal_type: TaxLegalType
    """Who signed."""
    legal_name: str
    """The name as signed."""
    country: str
    """The tax country, in two letters; ISO 3166-1 alpha-2."""
    address: PostalAddress
    """The postal address."""
    tax_id: TaxId | None
    """The tax id; null if unknown."""
    siren: str | None
    """The number of a French business, which its invoices show: SIREN (9 digits) or SIRET (14 digits)."""
    electronic_address: str | None
    """Where Peppol delivers their invoices: the code of the scheme, a colon and the id."""
    form: SignedTaxForm | None
    """The signed tax form; null if there is none."""
    self_billing: SelfBillingAgreement | None
    """The affiliate agreed that you write their invoices; null: they did not."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class AffiliateUpdatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["affiliate.updated"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: Affiliate
    """The records of this page, in the requested order."""


class AffiliateWithBalance(TypedDict):
    id: int
    """affiliate_id in other records."""
    object: Literal["affiliate"]
    """The type of the record."""
    name_first: str | None
    """First name."""
    name_last: str | None
    """Last name."""
    email: str
    """Unique in the account."""
    external_id: str | None
    """Your own id of the affiliate, unique in the account."""
    slug: str | None
    """The affiliate in your links; searches include it."""
    status: AffiliateStatus
    """Payouts leave out an inactive affiliate."""
    payout_method: PayoutMethod | None
    """How payouts pay, unless a destination says otherwise."""
    paypal_email: str | None
    """The address that PayPal pays."""
    is_ready_for_payout: bool
    """Your switch: payouts leave out an affiliate that is not ready."""
    minimum_payout: dict[str, int] | None
    """Used instead of the minimum of the account; minor units per currency code, for example {"usd":
    5000}.
    """
    commissions_are: CommissionsAre | None
    """Used instead of the setting of the account: gross with the tax, or net with the tax paid on top;
    gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    legal_type: LegalType | None
    """What the affiliate is by law, if known."""
    country: str | None
    """Where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)."""
    language: NoticeLanguage | None
    """Of e-mails to the affiliate; without it, that of the account."""
    is_notified: bool
    """Whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link
    in each.
    """
    metadata: dict[str, str]
    """Your own keys and texts."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    balance: list[AffiliateBalance]
    """What the affiliate earned, per currency."""
    last_paid_at: str | None
    """When a payout last paid the affiliate."""
    destination_type: DestinationType | None
    """Of the destination for all currencies, else of one for some; null: none, paid as `payout_method`
    says.
    """
    paid_through: DestinationType | None
    """How the affiliate is paid: by the destination, or by `payout_method`, or by PayPal if there is a
    `paypal_email`; null: unknown.
    """
    has_tax_profile: bool
    """Whether tax details are stored."""


class AlertChannel(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["alert_channel"]
    """The type of the record."""
    name: str
    """The name."""
    format: AlertFormat
    """webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack
    and Mattermost.
    """
    host: str
    """The host of the URL."""
    kinds: list[AlertKind]
    """The alerts it receives."""
    last_sent_at: str | None
    """When a message was last accepted, within the last week."""
    last_error: str | None
    """Why the last try failed; null if it succeeded."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


AlertFormat = Literal["webhook", "slack"]

AlertKind = Literal["endpoint_failing", "endpoint_disabled", "endpoint_recovered", "deliveries_failed", "certificate_ending", "payout_waiting", "approval_waiting", "payout_prepared", "correction_received", "schedule_skipped", "tax_forms_lapsing", "agreements_ending", "affiliate_notice_failed", "contact_notice_failed", "import_done", "backup_failed", "disk_almost_full", "chore_failing"]

class AlertSettingsAlertsItem(TypedDict):
    kind: AlertKind
    """The kind."""
    label: str
    """The name for people."""
    meaning: str
    """When it is sent."""
    by_email: bool
    """Whether the user gets it by e-mail."""


class AlertSettings(TypedDict):
    object: Literal["alert_settings"]
    """The type of the record."""
    user_id: str
    """The user."""
    email: str
    """Where alerts are sent."""
    is_email_sent: bool
    """Whether the server sends e-mail at all: SMTP_URL."""
    is_default: bool
    """true: the role's default alerts; nothing was chosen."""
    alerts: list[AlertSettingsAlertsItem]
    """Every kind of alert."""
    last_sent_at: str | None
    """When an e-mail was last sent, within the last week."""
    last_error: str | None
    """Why the last try failed; null if it succeeded."""


class AlertTest(TypedDict):
    object: Literal["alert_test"]
    """The type of the record."""
    requested_at: str
    """When it was requested."""


AnswerCounts = TypedDict(
    "AnswerCounts",
    {
        "2xx": int,
        "3xx": int,
        "4xx": int,
        "5xx": int,
        "none": int,
    },
)

class ApiKey(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["api_key"]
    """The type of the record."""
    name: str
    """The name of the key."""
    hint: str
    """The first and last characters of the key."""
    created_by: str
    """The id of the key or user that made it."""
    last_used_at: str | None
    """To the minute."""
    revoked_at: str | None
    """When it was revoked; null while it is valid."""
    created_at: str
    """When it was created."""


ApiVersion = Literal["2.0.0"]

ApplicationKind = Literal["confidential", "public"]

class Approval(TypedDict):
    status: ApprovalStatus
    """`waiting`, `rejected`: a second person must approve this revision before the payout can be paid, see
    `approval` of the account. `GET …/approval` says how many people must approve and who may.
    """
    decided_by: str | None
    """The user who approved or rejected it."""
    decided_at: str | None
    """When the decision was made; null while it is open."""
    note: str | None
    """Their note."""


ApprovalBar = Literal["approver_is_creator", "approver_changed_payout", "approver_let_in"]

ApprovalRule = Literal["none", "second_person"]

ApprovalStatus = Literal["not_needed", "waiting", "approved", "rejected"]

class ApprovePayoutBody(TypedDict):
    revision: int
    """The revision you reviewed: if the payout has another one by now, the decision is refused."""
    note: NotRequired[str | None]
    """Shown with the payout."""


class AttemptBatch(TypedDict):
    """The request was an array of events; null = it carried only this event, or is lost."""

    id: str
    """`webhook-id` of the request."""
    event_count: int
    """The number of events it carried."""


class AttemptClaim(TypedDict):
    """Who claimed it from a pull endpoint; null = it was sent to a URL."""

    lease_id: str
    """As in the claim."""
    claimed_by: str
    """The id of the key, user or application; that of the endpoint with its token."""
    consumer: str | None
    """The name that the consumer gave."""


AttemptStatus = Literal["succeeded", "failed"]

AttemptTrigger = Literal["scheduled", "manual", "recovery"]

class AuditEntryActor(TypedDict):
    """Who made the change."""

    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""


class AuditEntry(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["audit_entry"]
    """The type of the record."""
    actor: AuditEntryActor
    """Who made the change."""
    user_id: str | None
    """Who signed in, or on whose grant the application acted."""
    action: str
    """The operation, named as in this description; openPortal is the use of a portal link;
    runPayoutSchedule is a schedule, on behalf of who last changed it; raiseUserRole is a changeUser
    that made a role higher; rotateSecretKey, abandonSecretKey and endCredentials (of payhook restore)
    are commands on the machine.
    """
    target: str | None
    """The id of the record it changed."""
    request_id: str
    """Identifies the request in the log of the server."""
    created_at: str
    """When it was created."""


BackupWithholdingRule = Literal["none", "at_threshold", "always"]

class BadLine(TypedDict):
    line: int
    """The number of the line in the file, from 1."""
    message: str
    """What is wrong with the line."""


BankAccountType = Literal["checking", "savings"]

class Batch(TypedDict):
    """Several events are sent in one request, as an array; null = one event per request."""

    max_events: int
    """The maximum number of events in a request."""
    max_bytes: int
    """The maximum bytes of its body; a larger event is sent alone."""
    max_wait_ms: int
    """The maximum milliseconds that an event waits for others; 0 = it is sent with what is already due."""


class BatchInput(TypedDict):
    """Several events are sent in one request, as an array; omitted fields have their default. null = one
    event in each request.
    """

    max_events: NotRequired[int]
    """The maximum number of events in a request."""
    max_bytes: NotRequired[int]
    """The maximum bytes of its body; a larger event is sent alone."""
    max_wait_ms: NotRequired[int]
    """The maximum milliseconds that an event waits for others; 0 = it is sent with what is already due."""


Capability = Literal["read", "write", "files", "approve", "tax_ids", "webhooks", "self", "people", "own"]

class ChangeAccountBodyPayoutSignalsDestinationChanged(TypedDict):
    """The line is paid to another account, address or method than the last payment of the last 13 months."""

    action: NotRequired[SignalAction]
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """


class ChangeAccountBodyPayoutSignalsSharedDestination(TypedDict):
    """Several affiliates of the payout are paid to one bank account."""

    action: NotRequired[SignalAction]
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """


class ChangeAccountBodyPayoutSignalsFirstPayoutAbove(TypedDict):
    """The affiliate was not paid in this currency in the last 13 months, and the amount is above the
    limit.
    """

    action: NotRequired[SignalAction]
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    amounts: NotRequired[dict[str, int]]
    """The limit in minor units by currency; a currency without one gives no signal."""


class ChangeAccountBodyPayoutSignalsAmountAboveHistory(TypedDict):
    """The amount is more than `times` the largest payment of the last 13 months."""

    action: NotRequired[SignalAction]
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    amounts: NotRequired[dict[str, int]]
    """The amount in minor units by currency up to which there is no signal."""
    times: NotRequired[int]
    """How many times the largest payment."""


class ChangeAccountBodyPayoutSignalsImportedTogether(TypedDict):
    """At least `affiliates` affiliates of the payout were created by one import of the last `days` days
    and were never paid.
    """

    action: NotRequired[SignalAction]
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    affiliates: NotRequired[int]
    """How many affiliates."""
    days: NotRequired[int]
    """How many days after the import."""


class ChangeAccountBodyPayoutSignals(TypedDict):
    """Replaces the settings of all rules: what is missing has its default."""

    destination_changed: NotRequired[ChangeAccountBodyPayoutSignalsDestinationChanged]
    """The line is paid to another account, address or method than the last payment of the last 13 months."""
    shared_destination: NotRequired[ChangeAccountBodyPayoutSignalsSharedDestination]
    """Several affiliates of the payout are paid to one bank account."""
    first_payout_above: NotRequired[ChangeAccountBodyPayoutSignalsFirstPayoutAbove]
    """The affiliate was not paid in this currency in the last 13 months, and the amount is above the
    limit.
    """
    amount_above_history: NotRequired[ChangeAccountBodyPayoutSignalsAmountAboveHistory]
    """The amount is more than `times` the largest payment of the last 13 months."""
    imported_together: NotRequired[ChangeAccountBodyPayoutSignalsImportedTogether]
    """At least `affiliates` affiliates of the payout were created by one import of the last `days` days
    and were never paid.
    """


class ChangeAccountBodyDebtor(TypedDict):
    name: str
    """At most 70 characters as banks write it."""
    iban: str
    """Any case, with or without blanks."""
    bic: NotRequired[str | None]
    """The BIC of the bank; null if it is not needed."""
    message: NotRequired[SepaMessage]
    """The message that your bank takes; default pain.001.001.09."""
    rows_per_file: NotRequired[int]
    """Payments in one file; default 10,000. More are split into parts of about the same size."""
    is_instant: NotRequired[bool]
    """Instant transfers (SCT Inst) in every file whose request does not choose; default false."""


class ChangeAccountBodyOriginator(TypedDict):
    immediate_destination: str
    """The routing number of the bank that takes the file; at most 20 characters."""
    immediate_destination_name: str
    """The name of that bank; at most 23 characters."""
    immediate_origin: str
    """Nine or ten digits that your bank assigned; at most 20 characters."""
    immediate_origin_name: str
    """Your name at that bank; at most 23 characters."""
    company_name: str
    """Your name on the statements of affiliates; at most 16 characters."""
    company_id: str
    """The ten letters and digits your bank knows you by, often 1 and your EIN; at most 10 characters."""
    originating_dfi: NotRequired[str]
    """The routing number you pay from, or its first eight digits; default immediate_destination; at most
    20 characters.
    """
    entry_description: NotRequired[str]
    """What the payment is, on the statements of affiliates; for businesses (CCD); default PAYOUT; at most
    10 characters.
    """
    person_entry_description: NotRequired[str]
    """What the payment is, on the statements of affiliates; for persons (PPD); default PAYROLL, which
    Nacha requires for pay and commissions since March 2026; at most 10 characters.
    """
    discretionary_data: NotRequired[str | None]
    """For your bank, if it asks for it; at most 20 characters."""
    rows_per_file: NotRequired[int]
    """Payments in one file; default 10,000. More are split into several files."""


class ChangeAccountBodyTaxProfileAddress(TypedDict):
    """The postal address."""

    line1: str
    """Street and number."""
    line2: NotRequired[str | None]
    """Address, line 2."""
    postal_code: NotRequired[str | None]
    """Postal code."""
    city: str
    """City."""
    region: NotRequired[str | None]
    """State or province; two letters in the United States."""


class ChangeAccountBodyTaxProfile(TypedDict):
    legal_name: str
    """The name in the register or the passport."""
    country: str
    """ISO 3166-1 alpha-2, any case."""
    address: ChangeAccountBodyTaxProfileAddress
    """The postal address."""
    vat_id: NotRequired[str | None]
    """Its check digits are checked."""
    tax_number: NotRequired[str | None]
    """The tax number; null if unknown."""
    siren: NotRequired[str | None]
    """Its check digit is checked."""
    electronic_address: NotRequired[str | None]
    """The code of the scheme, a colon and the id."""


class ChangeAccountBodyInvoicingRulesItem(TypedDict):
    country: NotRequired[str | None]
    """ISO 3166-1 alpha-2; null = any."""
    legal_type: NotRequired[InvoiceLegalType | None]
    """Null = any."""
    has_vat_id: NotRequired[bool | None]
    """Null = with or without one."""
    category: TaxCategory
    """S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT."""
    rate: NotRequired[int]
    """Hundredths of a percent: 1900 = 19 %."""
    exemption: NotRequired[str | None]
    """Why no tax is due, as the invoice says it; wanted for E, AE and O."""


class ChangeAccountBodyInvoicing(TypedDict):
    prefix: NotRequired[str]
    """How numbers of invoices begin; default SB-."""
    rules: list[ChangeAccountBodyInvoicingRulesItem]
    """The rate for each kind of seller, the first match applies."""


class ChangeAccountBodyAffiliateNotices(TypedDict):
    kinds: list[AffiliateNoticeKind]
    """What is sent."""
    language: NotRequired[NoticeLanguage]
    """For affiliates without a `language`; default en."""
    reply_to: NotRequired[str | None]
    """Where answers go; null = to the sender."""


class ChangeAccountBodyContactNotices(TypedDict):
    portal_url: NotRequired[str | None]
    """Your page on which they open their portal: https, or http on localhost."""
    language: NotRequired[NoticeLanguage]
    """Default en."""
    reply_to: NotRequired[str | None]
    """Where answers go; null = to the sender."""


class ChangeAccountBody(TypedDict):
    name: NotRequired[str]
    """The name."""
    default_currency: NotRequired[str]
    """The currency of amounts that name none."""
    hold_days: NotRequired[int]
    """Days a new commission is on hold."""
    minimum_payout: NotRequired[dict[str, int]]
    """Minor units per currency code, for example {"usd": 5000}."""
    time_zone: NotRequired[str]
    """IANA name: the time zone of days without a time, in filters, files and reports."""
    paypal_payment_limit: NotRequired[dict[str, int]]
    """Minor units per currency code: the largest single payment PayPal sends."""
    portal_origins: NotRequired[list[str]]
    """Origins of your own pages that may show a portal in a frame; https, or http on localhost."""
    event_owner: NotRequired[EventOwnerRule]
    """required: publishing an event without an `owner` is refused, so that none reaches the endpoints of
    every recipient by mistake.
    """
    event_validation: NotRequired[EventValidationRule]
    """What happens to an event whose data violates the schema of its type. warn: it is accepted, the
    answer has the header Payhook-Schema-Violation, and the type its `last_violation`; refuse:
    publishing is refused. Types without a schema are accepted.
    """
    endpoints_per_owner: NotRequired[int | None]
    """The most webhook endpoints of an owner; null = ten in a portal, no limit otherwise."""
    approval: NotRequired[ApprovalRule]
    """second_person: a payout is paid only after a person who did not create it has approved it. Only a
    signed-in owner, or the operator, may change it back to none.
    """
    destination_wait_hours: NotRequired[int]
    """Hours for which whoever changed where they are paid is not paid; 0 = none. Only a signed-in owner,
    or the operator, may lower it.
    """
    payout_form: NotRequired[PayoutFormRule]
    """Who is left out of payouts without a valid W-9 or W-8. at_threshold: whose payments of the year in
    US dollars, with this one, reach the threshold of Form 1099-NEC, PayPal aside; always: everybody.
    """
    backup_withholding: NotRequired[BackupWithholdingRule]
    """Whether payouts withhold 24 % of payments in US dollars, PayPal aside, to affiliates in the United
    States without a W-9 or a US tax id. at_threshold: once their payments of the year, with this one,
    reach the threshold of Form 1099-NEC, or if those of the year before did or something was withheld;
    always: from the first payment on. Fixed in each line when a payout is created.
    """
    commissions_are: NotRequired[CommissionsAre]
    """gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    payout_signals: NotRequired[ChangeAccountBodyPayoutSignals]
    """Replaces the settings of all rules: what is missing has its default."""
    state_thresholds: NotRequired[dict[str, int | None]]
    """Cents by the two letters of a state, for example {"CA": 60000, "OH": null}: the sum of a year from
    which you report to it, in place of the built-in table; null: you report nothing.
    """
    debtor: NotRequired[ChangeAccountBodyDebtor | None]
    """The bank account that payouts are paid from (SEPA); null if unknown."""
    originator: NotRequired[ChangeAccountBodyOriginator | None]
    """The bank account that payouts are paid from (ACH); null if unknown."""
    tax_profile: NotRequired[ChangeAccountBodyTaxProfile | None]
    """The tax details of the account; null if unknown."""
    invoicing: NotRequired[ChangeAccountBodyInvoicing | None]
    """How self-billing invoices are written; null if the account writes none."""
    affiliate_notices: NotRequired[ChangeAccountBodyAffiliateNotices | None]
    """The e-mails that affiliates get; null if the account sends none."""
    contact_notices: NotRequired[ChangeAccountBodyContactNotices | None]
    """The e-mails that contacts of endpoints get; null if the account sends none."""


class ChangeAffiliateBody(TypedDict):
    name_first: NotRequired[str | None]
    """First name."""
    name_last: NotRequired[str | None]
    """Last name."""
    email: NotRequired[str]
    """Unique in the account; an e-mail address."""
    external_id: NotRequired[str | None]
    """Your own id of the affiliate, unique in the account."""
    slug: NotRequired[str | None]
    """The affiliate in your links; searches include it."""
    status: NotRequired[AffiliateStatus]
    """Payouts leave out an inactive affiliate."""
    payout_method: NotRequired[PayoutMethod | None]
    """How payouts pay, unless a destination says otherwise."""
    paypal_email: NotRequired[str | None]
    """The address that PayPal pays; an e-mail address."""
    is_ready_for_payout: NotRequired[bool]
    """Your switch: payouts leave out an affiliate that is not ready."""
    minimum_payout: NotRequired[dict[str, int] | None]
    """Used instead of the minimum of the account; minor units per currency code, for example {"usd":
    5000}.
    """
    commissions_are: NotRequired[CommissionsAre | None]
    """Used instead of the setting of the account: gross with the tax, or net with the tax paid on top;
    gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    legal_type: NotRequired[LegalType | None]
    """What the affiliate is by law, if known."""
    country: NotRequired[str | None]
    """Where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)."""
    language: NotRequired[NoticeLanguage | None]
    """Of e-mails to the affiliate; without it, that of the account."""
    is_notified: NotRequired[bool]
    """Whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link
    in each.
    """
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class ChangeAlertChannelBody(TypedDict):
    name: NotRequired[str]
    """Your name for it."""
    url: NotRequired[str]
    """Receives messages by POST; stored encrypted and not shown again."""
    kinds: NotRequired[list[AlertKind]]
    """The alerts it receives."""


class ChangeOAuthApplicationBody(TypedDict):
    name: NotRequired[str]
    """What merchants see when they are asked."""
    redirect_uris: NotRequired[list[str]]
    """Where merchants return to, compared character by character: https, or http on a loopback host; for
    public applications also private-use schemes such as com.example.app:/callback.
    """
    scopes: NotRequired[list[Scope]]
    """The scopes that merchants can grant it at most."""


class ChangePayoutScheduleBody(TypedDict):
    name: NotRequired[str]
    """The name."""
    every: NotRequired[ScheduleRhythm]
    """On which days it runs."""
    day: NotRequired[int]
    """week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the
    account’s time zone and begins at midnight there.
    """
    filters: NotRequired[PayoutFilters | None]
    """The filters of the report; null = none."""
    search: NotRequired[str]
    """Every word must occur in the name, e-mail address or slug of the affiliate."""
    ignore_minimum: NotRequired[bool]
    """Also pays amounts below the minimum."""
    is_active: NotRequired[bool]
    """false: it creates no payouts until it is activated."""


class ChangeProgramBody(TypedDict):
    name: NotRequired[str]
    """Unique in the account."""
    hold_days: NotRequired[int | None]
    """The days for which new commissions are on hold; null = the account's hold."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class ChangeUserBody(TypedDict):
    name: NotRequired[str]
    """The name."""
    role: NotRequired[Role]
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """


class ChangeWebhookEndpointBody(TypedDict):
    url: NotRequired[str]
    """Where events are sent, including pending ones; http or https, without credentials and fragment, at a
    public address.
    """
    description: NotRequired[str | None]
    """A note of yours."""
    owner: NotRequired[str | None]
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    external_id: NotRequired[str | None]
    """Your own id of the endpoint, unique in the account."""
    contact_email: NotRequired[str | None]
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link; an e-mail address.
    """
    event_types: NotRequired[list[str] | None]
    """The types of events that it receives; names such as payout.paid or payout.*; null = all."""
    filter: NotRequired[dict[str, Any] | None]
    """Conditions on the payload; conditions on the payload that must all hold: a path, and a value or
    operators ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or
    take lists of filters. At most 4,096 bytes.
    """
    status: NotRequired[EndpointStatus]
    """Events for a disabled endpoint are held until it is enabled."""
    ordered: NotRequired[bool]
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published; applies to events published from now on; false releases the events that wait.
    """
    batch: NotRequired[BatchInput | None]
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: NotRequired[int | None]
    """The most requests that it is sent in a second; null = no limit."""
    max_age: NotRequired[int | None]
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    null = no limit.
    """
    headers: NotRequired[dict[str, str | None]]
    """Your own headers, sent with every delivery; values by name; null removes a header, others stay."""
    payload: NotRequired[PayloadForm]
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: NotRequired[ApiVersion]
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: NotRequired[SigningScheme]
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: NotRequired[CustomSigningInput | None]
    """The scheme of `signing: custom`; null with another scheme."""
    secret: NotRequired[str]
    """A secret that the receiver already has, or with `ed25519` your private key; by default the current
    one stays if the scheme can use it, else a new one is created.
    """
    second_signature: NotRequired[SecondSignatureInput | None]
    """A further signature that is sent until it expires; null if there is none."""
    proxy: NotRequired[str | None]
    """An HTTP proxy that requests go through, with user and password if it needs them:
    http://user:password@proxy:3128; null = that of the server, if any.
    """
    client_certificate: NotRequired[ClientCertificateInput | None]
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: NotRequired[ClientCredentialsInput | None]
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""
    held: NotRequired[HeldAction]
    """With `status` enabled: what happens to the events that were held; discard cancels them."""


class ChangedWebhookEndpoint(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["webhook_endpoint"]
    """The type of the record."""
    delivery: EndpointDelivery
    """push: events are sent to the URL; pull: it has none, and consumers claim its events."""
    url: str | None
    """Where events are sent, including pending ones; null with pull."""
    description: str | None
    """A note of yours."""
    owner: str | None
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    external_id: str | None
    """Your own id of the endpoint, unique in the account."""
    contact_email: str | None
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link.
    """
    contact_status: ContactStatus
    """off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail;
    none: there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was
    not opened for 7 days; confirmed: the address gets e-mails.
    """
    event_types: list[str] | None
    """The types of events that it receives; null = all."""
    filter: dict[str, Any] | None
    """Conditions on the payload; null = none."""
    status: EndpointStatus
    """Events for a disabled endpoint are held until it is enabled."""
    disabled_reason: DisabledReason | None
    """manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it
    answered `webhook-delivery: disable`.
    """
    disabled_at: str | None
    """When it was disabled; null while it is enabled."""
    paused_until: str | None
    """Nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503,
    504).
    """
    next_attempt_at: str | None
    """When the first waiting event is due; null if no event is waiting or the endpoint is disabled."""
    ordered: bool
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published.
    """
    batch: Batch | None
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: int | None
    """The most requests that it is sent in a second; null = no limit."""
    max_age: int | None
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    seconds; null = no limit.
    """
    headers: list[str]
    """Your own headers, sent with every delivery; the names; the values are never shown."""
    payload: PayloadForm
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: str
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: SigningScheme
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: CustomSigning | None
    """The scheme of `signing: custom`; null with another scheme."""
    second_signature: SecondSignature | None
    """A further signature that is sent until it expires; null if there is none."""
    proxy: str | None
    """The HTTP proxy of requests, without its password; null = that of the server, if any."""
    client_certificate: ClientCertificate | None
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: ClientCredentials | None
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    first_failure_at: str | None
    """When the first of the current failures happened; null after a success."""
    last_claimed_at: str | None
    """When a consumer last asked for events, to the minute; null with push."""
    last_success_at: str | None
    """When a delivery last succeeded; null if none has."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    secret: NotRequired[str | None]
    """Only if this created a secret, with the endpoint or because the scheme cannot use the previous one;
    null when a stored answer is replayed.
    """


class Changes(TypedDict):
    """How the fields of `data` changed, without `updated_at`; null: the value is left out, because it was
    erased or is large.
    """

    added: dict[str, Any]
    """New values of fields that were null or missing."""
    updated: dict[str, Any]
    """Previous values of fields that have another value now."""
    removed: dict[str, Any]
    """Previous values of fields that are null or missing now."""


class ClaimWebhookEventsBody(TypedDict):
    limit: NotRequired[int]
    """The most events."""
    lease_seconds: NotRequired[int]
    """For how long nobody else gets them."""
    wait_seconds: NotRequired[int]
    """How long to wait for the first event if there is none."""
    consumer: NotRequired[str]
    """A name of yours for who claims, shown in the log."""


class ClaimedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["claimed_event"]
    """The type of the record."""
    type: str
    """The type, such as `payout.paid`."""
    attempt: int
    """From 1."""
    lease_id: str
    """Of this claim."""
    lease_expires_at: str
    """Acknowledge or extend before."""
    headers: dict[str, str]
    """As they would be sent to a URL, with the signature."""
    body: str
    """The text that is signed."""


ClientAuthentication = Literal["basic", "body"]

class ClientCertificate(TypedDict):
    """Sent to a receiver that requests one (mTLS); null = none."""

    subject: str
    """The subject of the certificate."""
    issuer: str
    """The issuer of the certificate."""
    fingerprint: str
    """SHA-256 of the certificate, hexadecimal."""
    expires_at: str
    """When it expires."""


class ClientCertificateInput(TypedDict):
    """Shown to the receiver when it asks for one (mTLS); null = none."""

    certificate: str
    """PEM: the certificate, then the ones that issued it, without the root."""
    key: str
    """PEM: its private key, without a passphrase; never shown."""


class ClientCredentials(TypedDict):
    """For access tokens that are sent in the header Authorization (OAuth 2); null = none."""

    token_url: str
    """The token endpoint."""
    client_id: str
    """The client id at the token endpoint."""
    scope: str | None
    """The requested scopes, separated by spaces; null if none are named."""
    audience: str | None
    """The requested audience; null if none is named."""
    authentication: ClientAuthentication
    """How the client id and secret are sent to the token endpoint: basic, the usual way, in the header
    Authorization; body, in the body.
    """


class ClientCredentialsInput(TypedDict):
    """For access tokens that are sent in the header Authorization (OAuth 2); null = none."""

    token_url: str
    """The token endpoint: http or https, without credentials or fragment, at a public address."""
    client_id: str
    """The client id at the token endpoint."""
    client_secret: NotRequired[str]
    """Never shown; if omitted, the current one is kept, provided that `token_url` and `client_id` are
    unchanged and nobody else could read it.
    """
    scope: NotRequired[str | None]
    """names, separated by spaces; null = none."""
    audience: NotRequired[str | None]
    """For servers that require one; null = none."""
    authentication: NotRequired[ClientAuthentication]
    """How the client id and secret are sent to the token endpoint: basic, the usual way, in the header
    Authorization; body, in the body.
    """


class Commission(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_commission"]
    """The type of the record."""
    external_id: str
    """Your id, unique forever; `payhook:…` names what Payhook created itself, such as a clawback."""
    affiliate_id: int
    """Who earned it."""
    program_id: int | None
    """The program whose hold applies."""
    type: CommissionType
    """A clawback is negative: it takes back what was paid before a refund."""
    status: CommissionStatus
    """Pending = on hold: available_at is in the future."""
    is_paid: bool
    """The status is paid."""
    amount: int
    """What the affiliate gets; minor units: what is owed or was paid, after refunds before payment."""
    original_amount: int
    """Minor units: the original amount."""
    refunded_amount: int
    """Minor units: what was taken back, before and after payment."""
    currency: str
    """Currency."""
    sale_amount: int | None
    """The amount of the sale; minor units."""
    rate_bps: int | None
    """Basis points of the sale: 2000 is 20 %."""
    order_id: str | None
    """The order in the shop, by which refunds find it."""
    order_line_id: str | None
    """The line of the order: commissions with the same line are shares of one sale."""
    customer_email: str | None
    """The e-mail address of the buyer."""
    product_id: str | None
    """Product id."""
    product_name: str | None
    """The name of the product."""
    description: str | None
    """Description."""
    occurred_at: str
    """Earned."""
    available_at: str | None
    """Null while it is held for review."""
    payout_id: str | None
    """The payout it is in or was paid in."""
    paid_at: str | None
    """When it was paid; null if it was not."""
    voided_at: str | None
    """When it was voided; null if it was not."""
    void_reason: str | None
    """Why it was voided; null without a reason."""
    reverses_commission_id: str | None
    """Of a clawback: the commission it takes back."""
    metadata: dict[str, str] | None
    """Your own keys and texts."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


CommissionAnalytics = TypedDict(
    "CommissionAnalytics",
    {
        "object": Literal["commission_analytics"],
        "interval": Literal["day", "week", "month"],
        "time_zone": str,
        "from": str,
        "to": str,
        "series": list["CommissionSeries"],
    },
)

class CommissionBatchItemsItemError(TypedDict):
    """Why it was refused; absent if it was not."""

    code: str
    """The kind of error, as in an error response."""
    reason: str
    """The reason, as in `Payhook-Reason`."""
    message: str
    """The problem in words, for people."""


class CommissionBatchItemsItem(TypedDict):
    index: int
    """The position in the request, from 0."""
    status: int
    """201 new, 200 stored before, 400 or 409 refused."""
    commission: NotRequired[Commission]
    """The commission."""
    error: NotRequired[CommissionBatchItemsItemError]
    """Why it was refused; absent if it was not."""


class CommissionBatch(TypedDict):
    object: Literal["commission_batch"]
    """The type of the record."""
    items: list[CommissionBatchItemsItem]
    """The results, in the order of the request."""


class CommissionBucket(TypedDict):
    starts_at: str
    """When the interval begins."""
    day: str
    """The first day, in the zone of the account."""
    earned_amount: int
    """commissions, dated by the sale."""
    earned_count: int
    """How many commissions were earned."""
    refunded_amount: int
    """Amounts taken by refunds, dated by the refund; reversed refunds do not count."""
    refunded_count: int
    """How many commissions were refunded."""
    voided_amount: int
    """The remaining amounts of commissions that were voided manually."""
    voided_count: int
    """How many commissions were voided."""
    adjusted_amount: int
    """Manual credits and debits."""
    adjusted_count: int
    """How many adjustments were made."""
    paid_amount: int | None
    """payments; null with a program, because a payment belongs to an affiliate and a currency."""
    paid_count: int | None
    """How many commissions were paid; null where payments are not counted."""
    returned_amount: int | None
    """Returned payments, less returns that were undone."""
    returned_count: int | None
    """How many payments came back; null where returns are not counted."""


class CommissionClawedBackEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["commission.clawed_back"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: Commission
    """The records of this page, in the requested order."""


class CommissionCreatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["commission.created"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: Commission
    """The records of this page, in the requested order."""


class CommissionImportTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    count: int
    """How many there are."""


class CommissionImport(TypedDict):
    object: Literal["commission_import"]
    """The type of the record."""
    dry_run: bool
    """Whether nothing was stored, because the request only checked the file."""
    lines: int
    """How many lines there are, without the head."""
    created: int
    """How many records are new."""
    unchanged: int
    """Already stored with the same content."""
    failed: int
    """How many were refused, or failed."""
    totals: list[CommissionImportTotalsItem]
    """Sums of the good lines."""
    errors: list[BadLine]
    """The first 1,000 bad lines."""


class CommissionInput(TypedDict):
    external_id: str
    """Your id, unique forever; must not begin with `payhook:`."""
    affiliate_id: NotRequired[int]
    """Who earned it; exactly one of `affiliate_id`, `affiliate_external_id`, `affiliate_email`."""
    affiliate_external_id: NotRequired[str]
    """Who earned it, by your own id."""
    affiliate_email: NotRequired[str]
    """Who earned it, by e-mail address, in any case."""
    program_id: NotRequired[int | None]
    """The program whose hold applies."""
    type: NotRequired[NewCommissionType]
    """Default sale."""
    amount: NotRequired[int]
    """What the affiliate gets; in minor units."""
    currency: NotRequired[str]
    """Default the account currency."""
    sale_amount: NotRequired[int | None]
    """The amount of the sale; minor units."""
    rate_bps: NotRequired[int | None]
    """Basis points of the sale: 2000 is 20 %."""
    order_id: NotRequired[str | None]
    """The order in the shop, by which refunds find it."""
    order_line_id: NotRequired[str | None]
    """The line of the order: commissions with the same line are shares of one sale."""
    customer_email: NotRequired[str | None]
    """The e-mail address of the buyer; an e-mail address."""
    product_id: NotRequired[str | None]
    """Product id."""
    product_name: NotRequired[str | None]
    """The name of the product."""
    description: NotRequired[str | None]
    """Description."""
    occurred_at: NotRequired[str]
    """RFC 3339; default now."""
    metadata: NotRequired[dict[str, str] | None]
    """Your own keys and texts."""


class CommissionRefund(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_refund"]
    """The type of the record."""
    external_id: str
    """Your own id of the refund, unique forever."""
    status: Literal["waiting", "applied", "reversed"]
    """waiting: a line of it has no commission yet, or is in doubt."""
    order_id: str | None
    """Null for a refund of one commission by its id."""
    product_id: str | None
    """Product."""
    reason: str | None
    """why."""
    occurred_at: str
    """When the customer was refunded."""
    reversed_at: str | None
    """When the refund was reversed; null if it was not."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    amount: int
    """Minor units of commission that were taken back."""
    sale_amount: int | None
    """Minor units of the sale refunded; null when the refund was given as commission."""
    capped: bool
    """The refund asked for more than was left and took the rest."""
    commission: Commission
    """The commission."""
    clawback: Commission | None
    """The negative commission that takes back what was paid; null if nothing had been paid."""


class CommissionSeries(TypedDict):
    currency: str
    """The currency of the amounts."""
    buckets: list[CommissionBucket]
    """Every interval from the first day to the last."""


CommissionStatus = Literal["pending", "unpaid", "paid", "voided"]

CommissionType = Literal["sale", "recurring", "bonus", "adjustment", "clawback"]

class CommissionUpdatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["commission.updated"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: Commission
    """The records of this page, in the requested order."""


class CommissionVoidedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["commission.voided"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: Commission
    """The records of this page, in the requested order."""


CommissionsAre = Literal["gross", "net"]

class CommissionsImportedEventDataTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    count: int
    """How many there are."""


class CommissionsImportedEventData(TypedDict):
    """The records of this page, in the requested order."""

    object: Literal["commission_import"]
    """The type of the record."""
    source: Literal["batch", "file", "payout"]
    """payout: the parts of lines that a completed payout did not pay and owes again."""
    created: int
    """How many records are new."""
    unchanged: NotRequired[int]
    """How many records were stored before with the same content."""
    failed: NotRequired[int]
    """How many lines were refused."""
    totals: list[CommissionsImportedEventDataTotalsItem]
    """Sums, one for each currency."""


class CommissionsImportedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["commissions.imported"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: CommissionsImportedEventData
    """The records of this page, in the requested order."""


class CompletePayoutBodyCommissionsItem(TypedDict):
    affiliate_id: int
    """An affiliate of the payout."""
    is_paid: bool
    """Whether it was paid; false releases the line, which is owed again."""
    currency: NotRequired[str]
    """The line that the entry covers; without it, all lines of the affiliate."""
    amount: NotRequired[int]
    """The amount paid in minor units of `currency`, at most the amount of the line, with the tax on top of
    it if its commissions are net; the rest is owed again.
    """
    payment_reference: NotRequired[str | None]
    """Identifies the transfer, stored with the line."""


class CompletePayoutBody(TypedDict):
    commissions: list[CompletePayoutBodyCommissionsItem]
    """The commissions, one entry each."""
    require_all: NotRequired[bool]
    """Refuse the request unless every line is listed."""
    paid_at: NotRequired[str]
    """When the money left: a day YYYY-MM-DD of the account's time zone, or an RFC 3339 instant; not before
    the payout was created, not in the future; default now.
    """
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class CompletedPayoutExcludedItemTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""
    affiliate_count: int
    """How many affiliates it covers."""


class CompletedPayoutExcludedItem(TypedDict):
    reason: ExclusionReason
    """The first two are carried forward to the next payout."""
    affiliate_count: int
    """How many affiliates it covers."""
    totals: list[CompletedPayoutExcludedItemTotalsItem]
    """Sums, one for each currency."""


class CompletedPayout(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_payout"]
    """The type of the record."""
    number: int
    """Increases per account, may have gaps."""
    status: PayoutStatus
    """Paid is final."""
    filters: dict[str, Any] | None
    """As normalised and applied."""
    search: str | None
    """As applied; null = none."""
    as_of: str
    """The time of creation: it contains what was owed at that time."""
    currency: str | None
    """Null when there are several; amount is null too."""
    amount: int | None
    """Minor units of the currency given with it."""
    totals: list[PayoutTotal]
    """One per currency; amount = paid + carried + released once completed."""
    affiliate_count: int
    """How many affiliates it covers."""
    commission_count: int
    """How many commissions it covers."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    revision: int
    """The ETag; rises with every change."""
    created_by: str
    """The id of the key, user or application."""
    schedule_id: str | None
    """The schedule that prepared it, which may have been deleted since."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    paid_at: str | None
    """When the money left, as given at completion; default the time of completion."""
    paid_by: str | None
    """Who completed it."""
    approval: Approval
    """Whether the payout needs approval, and who has decided."""
    affiliates: list[PayoutLine] | None
    """All lines, or null when there are more than 1,000."""
    excluded: list[CompletedPayoutExcludedItem]
    """Who was left out, one row per reason."""
    shared_destinations: list[SharedDestination]
    """Bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
    affiliate accounts; the first 100, empty once the payout is paid.
    """
    signals: list[SignalCount]
    """What may point to fraud, by rule: `listPayoutSignals` has the lines and reasons."""
    unlisted_affiliate_count: int
    """Affiliates without any listed line: all their lines were released."""
    unlisted_line_count: int
    """Lines (one per affiliate and currency) that were not listed and were released."""


class ContactNotices(TypedDict):
    """e-mails to `contact_email` of endpoints; null = none are sent."""

    portal_url: str | None
    """Your page on which they open their portal: https, or http on localhost."""
    language: NoticeLanguage
    """Default en."""
    reply_to: str | None
    """Where answers go; null = to the sender."""


ContactStatus = Literal["off", "none", "unsent", "waiting", "expired", "confirmed"]

CorrectedField = Literal["account_holder", "routing_number", "account_number", "account_type"]

CorrectionStatus = Literal["open", "outdated", "accepted", "dismissed"]

class CreateAdjustmentBody(TypedDict):
    external_id: str
    """Your id, unique forever; must not begin with `payhook:`."""
    amount: int
    """What the affiliate gets, or below zero owes; in minor units."""
    currency: NotRequired[str]
    """Default the account currency."""
    program_id: NotRequired[int | None]
    """The program whose hold applies."""
    description: NotRequired[str | None]
    """Description."""
    occurred_at: NotRequired[str]
    """RFC 3339; default now."""
    metadata: NotRequired[dict[str, str] | None]
    """Your own keys and texts."""


class CreateAffiliateBody(TypedDict):
    name_first: NotRequired[str | None]
    """First name."""
    name_last: NotRequired[str | None]
    """Last name."""
    email: str
    """Unique in the account; an e-mail address."""
    external_id: NotRequired[str | None]
    """Your own id of the affiliate, unique in the account."""
    slug: NotRequired[str | None]
    """The affiliate in your links; searches include it."""
    status: NotRequired[AffiliateStatus]
    """Payouts leave out an inactive affiliate."""
    payout_method: NotRequired[PayoutMethod | None]
    """How payouts pay, unless a destination says otherwise."""
    paypal_email: NotRequired[str | None]
    """The address that PayPal pays; an e-mail address."""
    is_ready_for_payout: NotRequired[bool]
    """Your switch: payouts leave out an affiliate that is not ready."""
    minimum_payout: NotRequired[dict[str, int] | None]
    """Used instead of the minimum of the account; minor units per currency code, for example {"usd":
    5000}.
    """
    commissions_are: NotRequired[CommissionsAre | None]
    """Used instead of the setting of the account: gross with the tax, or net with the tax paid on top;
    gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    legal_type: NotRequired[LegalType | None]
    """What the affiliate is by law, if known."""
    country: NotRequired[str | None]
    """Where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)."""
    language: NotRequired[NoticeLanguage | None]
    """Of e-mails to the affiliate; without it, that of the account."""
    is_notified: NotRequired[bool]
    """Whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link
    in each.
    """
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class CreateAlertChannelBody(TypedDict):
    name: str
    """Your name for it."""
    format: AlertFormat
    """webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack
    and Mattermost.
    """
    url: str
    """Receives messages by POST; stored encrypted and not shown again."""
    kinds: NotRequired[list[AlertKind]]
    """The alerts it receives; default: all."""


class CreateApiKeyBody(TypedDict):
    name: str
    """The name."""


class CreateCommissionBatchBody(TypedDict):
    commissions: list[CommissionInput]
    """The commissions, one entry each."""
    partial: NotRequired[bool]
    """Creates the good items and reports the bad ones."""


class CreateOAuthApplicationBody(TypedDict):
    name: str
    """What merchants see when they are asked."""
    kind: ApplicationKind
    """confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE."""
    redirect_uris: list[str]
    """Where merchants return to, compared character by character: https, or http on a loopback host; for
    public applications also private-use schemes such as com.example.app:/callback.
    """
    scopes: list[Scope]
    """The scopes that merchants can grant it at most."""


class CreatePayoutScheduleBody(TypedDict):
    name: str
    """The name."""
    every: ScheduleRhythm
    """On which days it runs."""
    day: int
    """week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the
    account’s time zone and begins at midnight there.
    """
    filters: NotRequired[PayoutFilters | None]
    """The filters of the report; null = none."""
    search: NotRequired[str]
    """Every word must occur in the name, e-mail address or slug of the affiliate."""
    ignore_minimum: NotRequired[bool]
    """Also pays amounts below the minimum."""
    is_active: NotRequired[bool]
    """false: it creates no payouts until it is activated."""


class CreatePortalLinkBody(TypedDict):
    all_of_owner: NotRequired[bool]
    """A portal for all endpoints with the `owner` of this one, in which endpoints can be created and
    deleted.
    """
    read_only: NotRequired[bool]
    """A portal that can change and send nothing, and shows no secrets."""
    event_types: NotRequired[list[str] | None]
    """The event types that portal users may subscribe to; null = all; default: those of this endpoint."""
    ttl_seconds: NotRequired[int]
    """How long the link can be opened."""


class CreateProgramBody(TypedDict):
    name: str
    """Unique in the account."""
    hold_days: NotRequired[int | None]
    """The days for which new commissions are on hold; null = the account's hold."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class CreateUserBody(TypedDict):
    email: str
    """An e-mail address."""
    name: str
    """The name."""
    role: Role
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """


class CreateWebhookEndpointBody(TypedDict):
    delivery: NotRequired[EndpointDelivery]
    """push: events are sent to the URL; pull: it has none, and consumers claim its events."""
    url: NotRequired[str]
    """Where events are sent, including pending ones; http or https, without credentials and fragment, at a
    public address.
    """
    description: NotRequired[str | None]
    """A note of yours."""
    owner: NotRequired[str | None]
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    external_id: NotRequired[str | None]
    """Your own id of the endpoint, unique in the account."""
    contact_email: NotRequired[str | None]
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link; an e-mail address.
    """
    event_types: NotRequired[list[str] | None]
    """The types of events that it receives; names such as payout.paid or payout.*; null = all."""
    filter: NotRequired[dict[str, Any] | None]
    """Conditions on the payload; conditions on the payload that must all hold: a path, and a value or
    operators ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or
    take lists of filters. At most 4,096 bytes.
    """
    status: NotRequired[EndpointStatus]
    """Events for a disabled endpoint are held until it is enabled."""
    ordered: NotRequired[bool]
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published; applies to events published from now on; false releases the events that wait.
    """
    batch: NotRequired[BatchInput | None]
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: NotRequired[int | None]
    """The most requests that it is sent in a second; null = no limit."""
    max_age: NotRequired[int | None]
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    null = no limit.
    """
    headers: NotRequired[dict[str, str | None]]
    """Your own headers, sent with every delivery; values by name; null removes a header, others stay."""
    payload: NotRequired[PayloadForm]
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: NotRequired[ApiVersion]
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: NotRequired[SigningScheme]
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: NotRequired[CustomSigningInput | None]
    """The scheme of `signing: custom`; null with another scheme."""
    secret: NotRequired[str]
    """A secret that the receiver already has, or with `ed25519` your private key; by default the current
    one stays if the scheme can use it, else a new one is created.
    """
    second_signature: NotRequired[SecondSignatureInput | None]
    """A further signature that is sent until it expires; null if there is none."""
    proxy: NotRequired[str | None]
    """An HTTP proxy that requests go through, with user and password if it needs them:
    http://user:password@proxy:3128; null = that of the server, if any.
    """
    client_certificate: NotRequired[ClientCertificateInput | None]
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: NotRequired[ClientCredentialsInput | None]
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class CreateWebhookEndpointTokenBody(TypedDict):
    overlap_seconds: NotRequired[int]
    """For how long the previous secret signs as well, in seconds."""


class CustomSigning(TypedDict):
    header: str
    """The header of the signature, in lower case."""
    content: str
    """The signed text: {body}, and optionally {id}, {timestamp} and {url}."""
    value: str
    """The value of the header: {signature}, and optionally {timestamp} and {id}."""
    encoding: SignatureEncoding
    """How bytes are written as text."""
    algorithm: SignatureAlgorithm
    """The hash function of the HMAC."""
    secret_prefix: str
    """The prefix of new secrets; it is part of the key."""
    headers: dict[str, str]
    """Further headers that a receiver needs to verify, by name: {timestamp} or {id}, with optional text
    around it; names in lower case.
    """


class CustomSigningInput(TypedDict):
    """With `signing: custom`, and only then."""

    header: str
    """The header of the signature."""
    content: str
    """The signed text: {body}, and optionally {id}, {timestamp} and {url}."""
    value: NotRequired[str]
    """The value of the header: {signature}, and optionally {timestamp} and {id}; default {signature}."""
    encoding: SignatureEncoding
    """How bytes are written as text."""
    algorithm: NotRequired[SignatureAlgorithm]
    """The hash function of the HMAC."""
    secret_prefix: NotRequired[str]
    """The prefix of new secrets; it is part of the key."""
    headers: NotRequired[dict[str, str]]
    """Further headers that a receiver needs to verify, by name: {timestamp} or {id}, with optional text
    around it; default none.
    """


class Debtor(TypedDict):
    """The account that SEPA transfers are paid from."""

    name: str
    """At most 70 characters as banks write it."""
    iban: str
    """Only its end, such as …2051, for callers who may not download payment files."""
    bic: str | None
    """The BIC of the bank; null if it is not needed."""
    message: SepaMessage
    """The message that your bank takes; default pain.001.001.09."""
    rows_per_file: int
    """Payments in one file; default 10,000. More are split into parts of about the same size."""
    is_instant: bool
    """Instant transfers (SCT Inst) in every file whose request does not choose; default false."""


DeliveryAnalytics = TypedDict(
    "DeliveryAnalytics",
    {
        "object": Literal["delivery_analytics"],
        "interval": Literal["minute", "hour", "day"],
        "time_zone": str,
        "from": str,
        "to": str,
        "webhook_endpoint_id": Union[str, None],
        "owner": Union[str, None],
        "buckets": list["DeliveryBucket"],
        "totals": "DeliverySums",
    },
)

class DeliveryBucket(TypedDict):
    starts_at: str
    """When the interval begins."""
    published: int
    """Deliveries of events published in the bucket: one for each endpoint of an event."""
    delivered: int
    """Those of them that are delivered by now."""
    failed: int
    """Those of them that have failed by now."""
    cancelled: int
    """Those of them that are cancelled by now; the rest is pending or held."""
    attempts: int
    """Attempts that began in the bucket, of any event."""
    p50_ms: int | None
    """milliseconds, off by at most 9 %: half of the attempts took at most this long; null without
    attempts.
    """
    p95_ms: int | None
    """milliseconds, off by at most 9 %: 95 % of the attempts took at most this long."""
    p99_ms: int | None
    """milliseconds, off by at most 9 %: 99 % of the attempts took at most this long."""
    answers: AnswerCounts
    """The responses of the receiver, by class."""


class DeliveryCounts(TypedDict):
    """The number of endpoints by delivery status; all 0: no endpoint gets it."""

    pending: int
    """Deliveries that wait for an attempt."""
    held: int
    """Deliveries that wait because the endpoint is disabled."""
    delivered: int
    """Deliveries that the receiver accepted."""
    failed: int
    """Deliveries whose attempts are used up."""
    cancelled: int
    """How many are cancelled: discarded, or given up by the receiver."""
    filtered: int
    """Endpoints whose filter excluded it when it was published."""


DeliveryStatus = Literal["pending", "delivered", "failed", "cancelled", "held"]

class DeliverySums(TypedDict):
    """The same over all buckets."""

    published: int
    """Deliveries of events published in the bucket: one for each endpoint of an event."""
    delivered: int
    """Those of them that are delivered by now."""
    failed: int
    """Those of them that have failed by now."""
    cancelled: int
    """Those of them that are cancelled by now; the rest is pending or held."""
    attempts: int
    """Attempts that began in the bucket, of any event."""
    p50_ms: int | None
    """milliseconds, off by at most 9 %: half of the attempts took at most this long; null without
    attempts.
    """
    p95_ms: int | None
    """milliseconds, off by at most 9 %: 95 % of the attempts took at most this long."""
    p99_ms: int | None
    """milliseconds, off by at most 9 %: 99 % of the attempts took at most this long."""
    answers: AnswerCounts
    """The responses of the receiver, by class."""


DestinationChange = TypedDict(
    "DestinationChange",
    {
        "field": "CorrectedField",
        "from": Union[str, None],
        "to": str,
    },
)

class DestinationCorrectionDecidedBy(TypedDict):
    """Who accepted or dismissed it."""

    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""
    name: str | None
    """The name."""


class DestinationCorrection(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["destination_correction"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name of the affiliate."""
    payout_id: str
    """The payout whose payment the bank corrected."""
    currency: str | None
    """Of the destination; null: the one for all currencies."""
    code: str
    """The change code of Nacha, C01 to C07."""
    changes: list[DestinationChange]
    """What the bank corrects."""
    status: CorrectionStatus
    """open: to be decided. outdated: the destination was replaced since, so it cannot be accepted."""
    received_on: str
    """When the bank sent it, YYYY-MM-DD."""
    due_on: str
    """When the change must be made: 6 banking days later, YYYY-MM-DD."""
    decided_by: DestinationCorrectionDecidedBy | None
    """Who accepted or dismissed it."""
    decided_at: str | None
    """When the decision was made; null while it is open."""


DestinationType = Literal["paypal", "wise", "other", "wise_bank", "sepa", "ach"]

DisabledReason = Literal["manual", "failing", "gone", "requested"]

class DiscardEventsOfWebhookEndpointBody(TypedDict):
    since: str
    """Events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the
    account.
    """
    until: NotRequired[str]
    """Events created before it, including a whole day; at most now, which is the default."""
    types: NotRequired[list[str] | None]
    """Names such as payout.paid or payout.*; null = all."""


EndpointDelivery = Literal["push", "pull"]

EndpointStatus = Literal["enabled", "disabled"]

class Erasure(TypedDict):
    object: Literal["erasure"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    status: ErasureStatus
    """in_progress: commissions and the webhook log are still looked through."""
    requested_at: str
    """When it was requested."""
    completed_at: str | None
    """When it was completed; null before that."""


ErasureStatus = Literal["in_progress", "completed"]

class Event(TypedDict):
    """A whole event, as sent."""

    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: str
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: NotRequired[Changes]
    """How the fields of `data` changed."""
    data: dict[str, Any]
    """The records of this page, in the requested order."""


class EventBatchItemsItem(TypedDict):
    index: int
    """Its index in the request."""
    status: int
    """201 new, 200 published before."""
    event: Event
    """The stored event."""


class EventBatch(TypedDict):
    object: Literal["event_batch"]
    """The type of the record."""
    items: list[EventBatchItemsItem]
    """The results, in the order of the request."""


EventOwnerRule = Literal["optional", "required"]

class EventType(TypedDict):
    object: Literal["event_type"]
    """The type of the record."""
    type: str
    """The type, such as `payout.paid`."""
    origin: EventTypeOrigin
    """payhook: Payhook publishes it; own: you do."""
    description: str
    """When it happens."""
    group: str | None
    """Shown together with the others of the group."""
    deprecation: str | None
    """Null = it is not deprecated."""
    schema: dict[str, Any]
    """The JSON schema of the whole event."""
    example: Event | None
    """An example of the whole event."""
    data_schema: dict[str, Any] | None
    """The schema of `data` of an own type, as you set it."""
    last_violation: SchemaViolation | None
    """The last event that violated the schema."""


EventTypeOrigin = Literal["payhook", "own"]

EventValidationRule = Literal["off", "warn", "refuse"]

ExclusionReason = Literal["below_minimum", "negative_balance", "on_hold", "affiliate_inactive", "not_ready", "form_missing", "form_expired"]

class ExtendWebhookLeasesBodyItemsItem(TypedDict):
    id: str
    """The id of the record."""
    lease_id: str
    """Of this claim."""


class ExtendWebhookLeasesBody(TypedDict):
    items: list[ExtendWebhookLeasesBodyItemsItem]
    """The results, in the order of the request."""
    lease_seconds: int
    """From now; 0 returns the events, without an attempt."""


class FilterTest(TypedDict):
    object: Literal["filter_test"]
    """The type of the record."""
    matches: bool
    """Whether the endpoint would get the event."""
    filter: dict[str, Any] | None
    """Conditions on the payload that must all hold: a path, and a value or operators ($eq, $ne, $gt, $gte,
    $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or take lists of filters. At most
    4,096 bytes.
    """
    conditions: list[JudgedCondition]
    """Each condition separately, in the order of the filter."""


FoundType = Literal["missing", "null", "boolean", "number", "string", "array", "object"]

GrantEnd = Literal["merchant", "application", "reuse", "deleted", "user_removed", "user_not_owner"]

GrantStatus = Literal["active", "revoked"]

HeldAction = Literal["send", "discard"]

class ImportMappingValue(TypedDict):
    constant: str
    """The same value for every line."""


class ImportTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    count: int
    """How many there are."""


class Import(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["import"]
    """The type of the record."""
    kind: Literal["affiliates", "commissions"]
    """The kind."""
    status: Literal["completed", "undone"]
    """The status."""
    file: ImportedFile
    """The file as it was uploaded."""
    dialect: ImportDialect
    """How the file is written."""
    mapping: dict[str, str | ImportMappingValue]
    """The field of each column."""
    guessed: list[str]
    """What nobody had said, in words."""
    lines: int
    """Lines read."""
    created: int
    """How many records are new."""
    updated: int
    """How many records changed."""
    unchanged: int
    """How many records were stored before with the same content."""
    skipped: int
    """Left out, because their status says that they are not owed."""
    failed: int
    """Bad lines."""
    payouts: int
    """Paid payouts made of lines that were paid elsewhere."""
    totals: list[ImportTotalsItem]
    """Sums of the good lines."""
    created_by: str
    """Who created it: the id of a key, a user or an application."""
    created_at: str
    """When it was created."""
    undone_by: str | None
    """Who undid it: the id of a key, a user or an application; null if nobody did."""
    undone_at: str | None
    """When it was undone; null if it was not."""
    undo_ended_at: str | None
    """When what its undo needs was deleted; null = it can be undone while nothing of it is in use."""


class ImportColumn(TypedDict):
    column: str
    """The name of the column in the file."""
    field: str | None
    """Null = ignored."""
    source: Literal["given", "saved", "exact", "synonym", "values", "none"]
    """How it is known."""
    samples: list[str]
    """The first values of the column."""


class ImportCountsTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    count: int
    """How many commissions have the currency."""


class ImportCounts(TypedDict):
    lines: int
    """Lines read."""
    created: int
    """How many records are new."""
    updated: int
    """How many records changed."""
    unchanged: int
    """How many records were stored before with the same content."""
    skipped: int
    """Left out, because their status says that they are not owed."""
    failed: int
    """Bad lines."""
    payouts: int
    """Paid payouts made of lines that were paid elsewhere."""
    totals: list[ImportCountsTotalsItem]
    """Sums of the good lines."""
    errors: list[ImportError]
    """What is wrong with the first 1,000 bad lines."""
    groups: list[ImportErrorGroup]
    """The same errors by column and rule, the most frequent first."""


class ImportDialect(TypedDict):
    encoding: Literal["utf-8", "utf-16le", "utf-16be", "windows-1252"]
    """How bytes are written as text."""
    separator: Literal["comma", "semicolon", "tab", "bar"]
    """The character between columns."""
    line_end: Literal["lf", "crlf", "cr", "mixed"] | None
    """The characters at the end of a line."""
    decimal: Literal["point", "comma"]
    """The decimal sign of amounts."""
    dates: Literal["iso", "dmy", "mdy"]
    """The order of day, month and year."""
    last_line: Literal["ended", "open"]
    """open: it has no line end, and the file was said to be whole."""
    header_row: NotRequired[int]
    """The line that names the columns."""
    sheet: NotRequired[str]
    """Of a workbook."""
    values: NotRequired[dict[str, dict[str, str]]]
    """What was said that words of the file mean, by field."""


class ImportError(TypedDict):
    line: int
    """The line of the file, or the row of the sheet."""
    column: str | None
    """The column of the file."""
    message: str
    """The problem in words, for people."""


class ImportErrorGroup(TypedDict):
    column: str | None
    """The column of the file."""
    message: str
    """Without the value, where several lines have the error."""
    count: int
    """How many there are."""
    first: list[ImportError]
    """Three at most."""


class ImportMappingMappingValue(TypedDict):
    constant: str
    """The same value for every line."""


class ImportMapping(TypedDict):
    name: str
    """The name."""
    object: Literal["import_mapping"]
    """The type of the record."""
    kind: Literal["affiliates", "commissions"]
    """The kind."""
    columns: list[str]
    """Of the files it is for, in lower case."""
    mapping: dict[str, str | ImportMappingMappingValue]
    """The field of each column."""
    settings: dict[str, str]
    """The other settings for such files."""
    updated_at: str
    """When it last changed."""


class ImportPreviewMappingValue(TypedDict):
    constant: str
    """The same value for every line."""


class ImportPreview(TypedDict):
    object: Literal["import_preview"]
    """The type of the record."""
    kind: Literal["affiliates", "commissions"]
    """The kind."""
    file: UploadedFile
    """The file as it was uploaded."""
    dialect: ImportDialect
    """How the file is written."""
    mapping: dict[str, str | ImportPreviewMappingValue]
    """The field of each column."""
    workbook: ImportWorkbook | None
    """The sheets of the workbook; null for other files."""
    mapping_name: str | None
    """The saved mapping that was used."""
    columns: list[ImportColumn]
    """The columns of the file."""
    values: list[ImportValues]
    """The columns that have words of a fixed set, or countries."""
    guessed: list[str]
    """What nobody had said, in words."""
    questions: list[ImportQuestion]
    """What must be answered before the file can be imported."""
    rows: list[ImportRow]
    """The first lines as they are read; `fields` is empty for one that is left out."""
    report: ImportCounts | None
    """The result if it were imported now; null while questions are open."""


class ImportProgress(TypedDict):
    object: Literal["import_progress"]
    """The type of the record."""
    stage: Literal["looking", "reading", "writing"] | None
    """looking: how the file is to be read; reading: its lines; writing: comparing them with what is there,
    and writing. null: no request with this key is being worked on: the file has not arrived as a whole,
    or it is done.
    """
    lines_read: int | None
    """Good lines so far, while they are read."""


class ImportQuestionChoicesItem(TypedDict):
    label: str
    """The name for people."""
    query: dict[str, Any]
    """What the next request says: parameters; `mapping` and `values` as JSON to merge into them."""


class ImportQuestion(TypedDict):
    about: Literal["dates", "decimal", "mapping", "paid", "values", "status_columns", "totals"]
    """What the question is about."""
    message: str
    """The problem in words, for people."""
    choices: list[ImportQuestionChoicesItem]
    """The possible answers."""


class ImportReportMappingValue(TypedDict):
    constant: str
    """The same value for every line."""


class ImportReportTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    count: int
    """How many there are."""


class ImportReport(TypedDict):
    object: Literal["import_report"]
    """The type of the record."""
    import_id: str | None
    """Null in a dry run."""
    dry_run: bool
    """Whether nothing was stored, because the request only checked the file."""
    kind: Literal["affiliates", "commissions"]
    """The kind."""
    file: UploadedFile
    """The file as it was uploaded."""
    dialect: ImportDialect
    """How the file is written."""
    mapping: dict[str, str | ImportReportMappingValue]
    """The field of each column."""
    guessed: list[str]
    """What nobody had said, in words."""
    lines: int
    """Lines read."""
    created: int
    """How many records are new."""
    updated: int
    """How many records changed."""
    unchanged: int
    """How many records were stored before with the same content."""
    skipped: int
    """Left out, because their status says that they are not owed."""
    failed: int
    """Bad lines."""
    payouts: int
    """Paid payouts made of lines that were paid elsewhere."""
    totals: list[ImportReportTotalsItem]
    """Sums of the good lines."""
    errors: list[ImportError]
    """What is wrong with the first 1,000 bad lines."""
    groups: list[ImportErrorGroup]
    """The same errors by column and rule, the most frequent first."""


class ImportRow(TypedDict):
    line: int
    """The number of the line in the file, from 1."""
    fields: dict[str, str | None]
    """The values of the line, by field."""


class ImportUndoneEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["import.undone"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: Import
    """The records of this page, in the requested order."""


class ImportValuesValuesItem(TypedDict):
    value: str
    """As the file has it."""
    lines: int
    """How many lines there are, without the head."""
    means: str | None
    """null: not known, or its lines are refused."""
    source: Literal["given", "exact", "synonym", "none"]
    """given: by the request or a saved mapping; exact: one of our words; synonym: a common word for one;
    none: not known.
    """


class ImportValues(TypedDict):
    column: str
    """The name of the column in the file."""
    field: str
    """The field that the column gives."""
    words: list[str] | None
    """What a value can mean; null = any country, by two letters."""
    values: list[ImportValuesValuesItem]
    """The most frequent first, 100 at most, those that are not known before others."""
    more: int
    """How many different values are not listed."""


class ImportWorkbookSheetsItem(TypedDict):
    name: str
    """The name."""
    is_hidden: bool
    """Whether the sheet is hidden."""


class ImportWorkbook(TypedDict):
    """null: the file is CSV."""

    sheets: list[ImportWorkbookSheetsItem]
    """The sheets, in their order."""


class ImportedFile(TypedDict):
    name: str | None
    """The name."""
    bytes: int
    """The size in bytes."""
    digest: str | None
    """A keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key
    of the server changes; null if dropped since, or if the download was cut off.
    """


class Invoice(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["invoice"]
    """The type of the record."""
    kind: InvoiceKind
    """The kind."""
    number: str
    """Without gaps within its series."""
    payout_id: str
    """The payout."""
    affiliate_id: int
    """The affiliate."""
    currency: str
    """The currency of the amounts."""
    amount: int
    """The amount paid or returned: net, tax and rounding."""
    net_amount: int
    """Minor units of the currency given with it."""
    tax_amount: int
    """Minor units of the currency given with it."""
    rounding_amount: int
    """0 or 1: the unit that no net amount plus its tax reaches."""
    tax_category: TaxCategory
    """S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT."""
    tax_rate: int
    """Hundredths of a percent: 1900 = 19 %."""
    exemption: str | None
    """Why no tax is due."""
    wording: list[str]
    """What the country of the seller requires in addition to "Self-billing"."""
    corrects_id: str | None
    """The invoice that a credit note corrects."""
    issued_on: str
    """YYYY-MM-DD in the time zone of the account."""
    supplied_on: str
    """The day of the payment."""
    channel: InvoiceChannel | None
    """Both sides are registered for VAT in one country where a PDF is not an invoice between businesses:
    what takes it there.
    """
    seller: InvoiceSeller
    """The affiliate who is paid, as on the invoice."""
    buyer: InvoiceBuyer
    """The account that pays, as on the invoice."""
    description: str
    """The service that is invoiced."""
    payment_reference: str | None
    """The text on the bank statement; null if there is none."""
    national_tax: InvoiceNationalTax | None
    """The tax in the currency of the seller's country."""
    created_at: str
    """When it was created."""


class InvoiceBuyer(TypedDict):
    name: str
    """The name."""
    address: PostalAddress
    """The postal address."""
    country: str
    """ISO 3166-1 alpha-2."""
    siren: str | None
    """SIREN or SIRET of a French business."""
    vat_id: str | None
    """The VAT id; null if unknown."""
    tax_number: str | None
    """Its end, such as …6789; the file has all of it."""


InvoiceChannel = Literal["peppol", "approved_platform", "ksef"]

InvoiceKind = Literal["invoice", "credit_note"]

InvoiceLegalType = Literal["person", "business"]

class InvoiceNationalTax(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    rate: str
    """The value of one unit of `currency` of the invoice."""
    quoted_on: str
    """YYYY-MM-DD."""
    source: str
    """Who published the rate."""


class InvoiceRateInput(TypedDict):
    currency: str
    """The currency of the invoices."""
    national_currency: str
    """That of the country of the supplier."""
    rate: str
    """What one unit of `currency` is worth in `national_currency`: a decimal above 0."""
    quoted_on: str
    """The day of the rate, YYYY-MM-DD, within 31 days of the payment."""
    source: str
    """Who published it, as the invoice says it."""


class InvoiceSeller(TypedDict):
    name: str
    """The name."""
    address: PostalAddress
    """The postal address."""
    country: str
    """ISO 3166-1 alpha-2."""
    siren: str | None
    """SIREN or SIRET of a French business."""
    tax_id: InvoiceTaxId | None
    """The tax id; null if unknown."""


InvoiceSkipReason = Literal["no_agreement", "agreement_expired", "no_rule", "no_rate", "no_tax_id", "tax_not_paid"]

class InvoiceTaxId(TypedDict):
    type: InvoiceTaxIdType
    """The type of the tax id."""
    ending: str
    """The last four characters, or three of a short one; the file has all of it."""
    is_lost: bool
    """It was lost with the secret key, so no file can be made."""


InvoiceTaxIdType = Literal["vat", "other"]

class InvoiceTaxRule(TypedDict):
    country: str | None
    """ISO 3166-1 alpha-2; null = any."""
    legal_type: InvoiceLegalType | None
    """Null = any."""
    has_vat_id: bool | None
    """Null = with or without one."""
    category: TaxCategory
    """S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT."""
    rate: int
    """Hundredths of a percent: 1900 = 19 %."""
    exemption: str | None
    """Why no tax is due, as the invoice says it; wanted for E, AE and O."""


class Invoicing(TypedDict):
    """self-billing invoices; null = none are issued."""

    prefix: str
    """How numbers of invoices begin; default SB-."""
    rules: list[InvoiceTaxRule]
    """The first one that fits the tax profile of the affiliate counts; where none fits, nothing is issued."""


class IssueInvoicesBody(TypedDict):
    rates: NotRequired[list[InvoiceRateInput]]
    """Exchange rates, for invoices whose VAT must be stated in the currency of a country."""


class IssuedInvoicesSkippedItem(TypedDict):
    affiliate_id: int
    """The affiliate."""
    currency: str
    """The currency of the amounts."""
    reason: InvoiceSkipReason
    """no_agreement: the affiliate had not agreed to self-billing when it was paid; agreement_expired: the
    agreement had ended before the payment; no_rule: no rule of `invoicing` fits the tax profile of the
    affiliate; no_rate: the law wants the tax in `national_currency`: issue again with a rate;
    no_tax_id: the category requires a VAT id of the affiliate (S: or a tax number; AE: and your own);
    tax_not_paid: the commissions are net, and their line was made without the tax that its rule now
    wants.
    """
    national_currency: NotRequired[str]
    """Only with `no_rate`."""


class IssuedInvoices(TypedDict):
    object: Literal["issued_invoices"]
    """The type of the record."""
    issued: int
    """The number issued by this request."""
    skipped: list[IssuedInvoicesSkippedItem]
    """Paid lines without an invoice, the first 1,000."""
    has_more: bool
    """There are more lines than one request handles: repeat it."""


class JudgedCondition(TypedDict):
    path: str
    """The path of the condition in the event."""
    operator: str
    """The operator of the condition."""
    value: Any
    """The value in the filter."""
    matches: bool
    """Whether the condition holds."""
    found_type: FoundType
    """The type of the value in the payload."""
    found: Any
    """The value in the payload; null for lists and objects."""


LeaseResult = Literal["extended", "returned", "lease_lost"]

LegalType = Literal["person", "business"]

class MeAccount(TypedDict):
    """The account of the caller."""

    id: str
    """The id of the record."""
    name: str
    """The name."""
    is_demo: bool
    """Whether it has example data, and may be deleted."""
    default_currency: str
    """The currency of amounts that name none."""
    time_zone: str
    """IANA name."""


class MeAccountsItem(TypedDict):
    id: str
    """The id of the record."""
    name: str
    """The name."""
    role: Role
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """
    is_current: bool
    """Whether it is the account of this request."""
    is_demo: bool
    """Whether it is an account of `payhook demo`, with invented data."""


class Me(TypedDict):
    object: Literal["me"]
    """The type of the record."""
    kind: ActorKind
    """operator: the command line on the machine of the server; portal: who opened a portal link."""
    id: str
    """Of the key, the user, the application or the portal link."""
    name: str | None
    """The name."""
    email: str | None
    """Of a user."""
    role: Role
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """
    scopes: list[Literal["account", "users", "customers", "checkouts", "subscriptions", "subscription_metered_billing", "integrations", "orders", "payments", "paymentplans", "webhooks", "promos", "affiliates", "products", "analytics", "reports"]]
    """The scopes it holds."""
    capabilities: list[Capability]
    """What it may do; each operation names the one that it needs as `x-capability`."""
    has_full_access: bool
    """Whether it may use operations that need an API key or an owner."""
    session_id: str | None
    """Of a user who is signed in."""
    csrf_token: str | None
    """The token that every write with this session sends as `Payhook-CSRF`."""
    portal: Portal | None
    """The portal of the caller; null for other callers."""
    account: MeAccount
    """The account of the caller."""
    accounts: list[MeAccountsItem]
    """The accounts a user is a member of, the last used first; for a key or token its one account."""
    has_several_cells: bool
    """Whether the installation has several cells: a user may then have accounts in others, which
    `/sign-in?another` leads to.
    """


MissingTaxForm = Literal["w9", "w8"]

class NeededPaymentFileSkippedItem(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    amount: int
    """Minor units of the currency given with it."""
    reason: str
    """Why the file cannot pay them."""


class NeededPaymentFileRewrittenItem(TypedDict):
    affiliate_id: int
    """The affiliate."""
    account_holder: str
    """As entered."""
    holder_in_files: str
    """As written in the file."""


class NeededPaymentFile(TypedDict):
    format: Literal["paypal", "wise", "wise_bank", "sepa", "nacha"]
    """As in the path of the download."""
    currency: str
    """The currency of the amounts."""
    affiliate_count: int
    """How many affiliates it covers."""
    amount: int
    """Minor units of the currency given with it."""
    part_count: int
    """The number of files its rows need; 0 if it would be empty."""
    above_limit_count: int
    """Affiliates in the file above `paypal_payment_limit`."""
    skipped_count: int
    """How many affiliates the file leaves out."""
    skipped_amount: int
    """Minor units of the currency given with it."""
    skipped: list[NeededPaymentFileSkippedItem]
    """Affiliates who are paid this way but cannot be in the file, at most 100."""
    rewritten_count: int
    """How many names are written with other characters in the file."""
    rewritten: list[NeededPaymentFileRewrittenItem]
    """Affiliates whose account holder is spelled differently in the file, because banks take Latin letters
    without accents; at most 100. The bank of the payee compares names: set account_holder to its
    spelling if that differs.
    """
    warnings: list[PaymentFileWarning]
    """Rules by which a bank may refuse payments that are in the file."""
    downloads: list[PaymentFileDownload]
    """The last 100, newest first."""


class NewAlertChannel(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["alert_channel"]
    """The type of the record."""
    name: str
    """The name."""
    format: AlertFormat
    """webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack
    and Mattermost.
    """
    host: str
    """The host of the URL."""
    kinds: list[AlertKind]
    """The alerts it receives."""
    last_sent_at: str | None
    """When a message was last accepted, within the last week."""
    last_error: str | None
    """Why the last try failed; null if it succeeded."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    secret: str | None
    """Signs the messages of a webhook; shown once; null for Slack, and when a stored response is replayed."""


class NewApiKey(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["api_key"]
    """The type of the record."""
    name: str
    """The name."""
    hint: str
    """The first and last characters of the key."""
    created_by: str
    """The id of the key or user that made it."""
    last_used_at: str | None
    """To the minute."""
    revoked_at: str | None
    """When it was revoked; null while it is valid."""
    created_at: str
    """When it was created."""
    key: str | None
    """The secret, shown once; null when a stored answer is replayed."""


NewCommissionType = Literal["sale", "recurring", "bonus"]

class NewOAuthApplication(TypedDict):
    id: str
    """The client_id."""
    object: Literal["oauth_application"]
    """The type of the record."""
    name: str
    """The name."""
    kind: ApplicationKind
    """confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE."""
    redirect_uris: list[str]
    """Where people return to after they granted access."""
    scopes: list[Scope]
    """The scopes that merchants can grant it at most."""
    client_secret_hint: str | None
    """The first and last characters of the secret; null for public applications."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    client_secret: str | None
    """Shown once; null for public applications, and when a stored answer is replayed."""


class NewPortalLink(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["portal_link"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint for which it was created."""
    owner: str | None
    """The portal shows all endpoints of this owner; null = only this endpoint."""
    read_only: bool
    """The portal can change and send nothing, and shows no secrets."""
    event_types: list[str] | None
    """The event types that portal users may subscribe to; null = all."""
    filter: dict[str, Any] | None
    """The filter of endpoints created in the portal; null = none."""
    status: PortalLinkStatus
    """open: its portal is open; ended: its portal has ended; expired: it was not opened in time."""
    created_by: str
    """The id of the key or user that created it."""
    expires_at: str
    """Until when it can be opened."""
    used_at: str | None
    """When it was opened; a link opens once."""
    ends_at: str | None
    """When the portal it opened ends."""
    revoked_at: str | None
    """When it was revoked; null while it is valid."""
    created_at: str
    """When it was created."""
    url: str | None
    """Opens the portal once; shown once; null when a stored response is replayed."""


class NewUser(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["user"]
    """The type of the record."""
    email: str
    """The e-mail address."""
    name: str
    """The name."""
    role: Role
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """
    status: UserStatus
    """invited: has not accepted the invitation yet."""
    removed_at: str | None
    """When the user was removed; null while the user belongs to the account."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    invitation_url: str | None
    """A link that works once; shown once, and null when a stored answer is replayed."""
    is_emailed: bool
    """Whether the link is also sent to the user by e-mail: not where the server sends none, nor when the
    user has had 5 letters, or the account has sent 50, within an hour.
    """


class NewWebhookEndpoint(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["webhook_endpoint"]
    """The type of the record."""
    delivery: EndpointDelivery
    """push: events are sent to the URL; pull: it has none, and consumers claim its events."""
    url: str | None
    """Where events are sent, including pending ones; null with pull."""
    description: str | None
    """A note of yours."""
    owner: str | None
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    external_id: str | None
    """Your own id of the endpoint, unique in the account."""
    contact_email: str | None
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link.
    """
    contact_status: ContactStatus
    """off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail;
    none: there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was
    not opened for 7 days; confirmed: the address gets e-mails.
    """
    event_types: list[str] | None
    """The types of events that it receives; null = all."""
    filter: dict[str, Any] | None
    """Conditions on the payload; null = none."""
    status: EndpointStatus
    """Events for a disabled endpoint are held until it is enabled."""
    disabled_reason: DisabledReason | None
    """manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it
    answered `webhook-delivery: disable`.
    """
    disabled_at: str | None
    """When it was disabled; null while it is enabled."""
    paused_until: str | None
    """Nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503,
    504).
    """
    next_attempt_at: str | None
    """When the first waiting event is due; null if no event is waiting or the endpoint is disabled."""
    ordered: bool
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published.
    """
    batch: Batch | None
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: int | None
    """The most requests that it is sent in a second; null = no limit."""
    max_age: int | None
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    seconds; null = no limit.
    """
    headers: list[str]
    """Your own headers, sent with every delivery; the names; the values are never shown."""
    payload: PayloadForm
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: str
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: SigningScheme
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: CustomSigning | None
    """The scheme of `signing: custom`; null with another scheme."""
    second_signature: SecondSignature | None
    """A further signature that is sent until it expires; null if there is none."""
    proxy: str | None
    """The HTTP proxy of requests, without its password; null = that of the server, if any."""
    client_certificate: ClientCertificate | None
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: ClientCredentials | None
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    first_failure_at: str | None
    """When the first of the current failures happened; null after a success."""
    last_claimed_at: str | None
    """When a consumer last asked for events, to the minute; null with push."""
    last_success_at: str | None
    """When a delivery last succeeded; null if none has."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    secret: str | None
    """What the receiver verifies with; with `signing: ed25519` the public key; null when a stored answer
    is replayed.
    """


NoTaxReason = Literal["no_agreement", "agreement_expired", "no_rule", "no_tax_id", "no_invoicing"]

class NotSent(TypedDict):
    webhook_endpoint_id: str
    """The webhook endpoint."""
    url: str | None
    """The current URL of the endpoint; null: it has none."""
    reason: NotSentReason
    """filtered: its filter did not match when the event was published. made_later: the endpoint was
    created after the event. other_owner: the event was for the endpoints of another owner.
    not_addressed: the event was for one endpoint only, or reports that this one, or one of another
    owner, was disabled. not_subscribed: it does not subscribe to the type. subscribed_later: it
    subscribes to the type now, but did not then, or its record was dropped with its week of the log.
    """


NotSentReason = Literal["filtered", "made_later", "other_owner", "not_addressed", "not_subscribed", "subscribed_later"]

NoticeLanguage = Literal["en", "de", "fr", "es"]

class OAuthApplication(TypedDict):
    id: str
    """The client_id."""
    object: Literal["oauth_application"]
    """The type of the record."""
    name: str
    """The name."""
    kind: ApplicationKind
    """confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE."""
    redirect_uris: list[str]
    """Where people return to after they granted access."""
    scopes: list[Scope]
    """The scopes that merchants can grant it at most."""
    client_secret_hint: str | None
    """The first and last characters of the secret; null for public applications."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class OAuthGrant(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["oauth_grant"]
    """The type of the record."""
    application_id: str
    """The application."""
    application_name: str
    """The name of the application."""
    user_id: str
    """Who granted it."""
    user_name: str
    """The name of the user."""
    scopes: list[Scope]
    """The scopes it holds."""
    status: GrantStatus
    """The status."""
    last_used_at: str | None
    """When it was last used; null if it never was."""
    revoked_at: str | None
    """When it was revoked; null while it is valid."""
    revoked_because: GrantEnd | None
    """Who ended it: this account, the application itself, a code or refresh token that was used twice, the
    deletion of the application, the removal of the user, or the user no longer being an owner.
    """
    created_at: str
    """When it was created."""


class Originator(TypedDict):
    """Whom ACH payments in NACHA files are from, as your bank says."""

    immediate_destination: str
    """The routing number of the bank that takes the file."""
    immediate_destination_name: str
    """The name of that bank; at most 23 characters."""
    immediate_origin: str
    """Nine or ten digits that your bank assigned; only its end, such as …2051, for callers who may not
    download payment files.
    """
    immediate_origin_name: str
    """Your name at that bank; at most 23 characters."""
    company_name: str
    """Your name on the statements of affiliates; at most 16 characters."""
    company_id: str
    """The ten letters and digits your bank knows you by, often 1 and your EIN; only its end, such as
    …2051, for callers who may not download payment files.
    """
    originating_dfi: str
    """The first eight digits of the routing number you pay from."""
    entry_description: str
    """What the payment is, on the statements of affiliates; for businesses (CCD); default PAYOUT; at most
    10 characters.
    """
    person_entry_description: str
    """What the payment is, on the statements of affiliates; for persons (PPD); default PAYROLL, which
    Nacha requires for pay and commissions since March 2026; at most 10 characters.
    """
    discretionary_data: str | None
    """For your bank, if it asks for it; at most 20 characters."""
    rows_per_file: int
    """Payments in one file; default 10,000. More are split into several files."""


class OwedBalancePayable(TypedDict):
    """A payout without filters would take it now."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceOnHold(TypedDict):
    """Not available yet, or held for review."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceBelowMinimum(TypedDict):
    """Less than the minimum payout of the affiliate."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceNegativeBalance(TypedDict):
    """debts: an amount below zero."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceNotReady(TypedDict):
    """Of affiliates who are switched off for payouts."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceAffiliateInactive(TypedDict):
    """Of affiliates who are inactive."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceInPayout(TypedDict):
    """In the unpaid payout."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalanceWithoutDestination(TypedDict):
    """The part of payable whose affiliate has no destination."""

    amount: int
    """Minor units of the currency given with it."""
    affiliate_count: int
    """How many affiliates it covers."""


class OwedBalance(TypedDict):
    currency: str
    """The currency of the amounts."""
    owed: int
    """Minor units: the sum of the states."""
    payable: OwedBalancePayable
    """A payout without filters would take it now."""
    on_hold: OwedBalanceOnHold
    """Not available yet, or held for review."""
    below_minimum: OwedBalanceBelowMinimum
    """Less than the minimum payout of the affiliate."""
    negative_balance: OwedBalanceNegativeBalance
    """debts: an amount below zero."""
    not_ready: OwedBalanceNotReady
    """Of affiliates who are switched off for payouts."""
    affiliate_inactive: OwedBalanceAffiliateInactive
    """Of affiliates who are inactive."""
    in_payout: OwedBalanceInPayout
    """In the unpaid payout."""
    without_destination: OwedBalanceWithoutDestination
    """The part of payable whose affiliate has no destination."""


class OwnSession(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["session"]
    """The type of the record."""
    user_id: str
    """The user."""
    user_agent: str | None
    """The User-Agent header of the browser."""
    address: str | None
    """The network address that opened it."""
    created_at: str
    """When it was created."""
    last_seen_at: str
    """When it was last used, to the minute."""
    expires_at: str
    """When it ends unless it is used before."""
    account_id: str
    """The account it works in."""
    account_name: str
    """The name of the account."""
    is_current: bool
    """Whether it is the session of this request."""


class Pagination(TypedDict):
    page: int
    """The number of this page; with `after`, counted from where the walk began."""
    limit: int
    """Items per page."""
    total: int
    """Items across all pages; exact unless the request limited counting with `max_total`."""
    pages: int
    """pages; 0 if there are no items."""
    next: str | None
    """The `after` of the next page, even if rows move meanwhile; null on the last."""


PaidMethod = Literal["paypal", "wise", "other", "wise_bank", "sepa", "ach"]

class PaidRow(TypedDict):
    affiliate_id: int
    """The affiliate."""
    external_id: str | None
    """Your own id of the record; null if you gave none."""
    name_first: str | None
    """The first name; null if unknown."""
    name_last: str | None
    """The last name; null if unknown."""
    email: str
    """The e-mail address."""
    paypal_email: str | None
    """The address that PayPal pays; null if unknown."""
    currency: str
    """The currency of the amounts."""
    payout_count: int
    """How many payouts paid the affiliate."""
    commission_count: int
    """How many commissions it covers."""
    paid_amount: int
    """Minor units paid."""
    returned_amount: int
    """Minor units returned in the period, whenever they were paid."""
    net_amount: int
    """The difference; below zero if more was returned."""
    payout_method: DestinationType | None
    """How it was paid, as `paid_through` of the line."""
    country: str | None
    """ISO 3166-1 alpha-2."""


class PasswordReset(TypedDict):
    object: Literal["password_reset"]
    """The type of the record."""
    user_id: str
    """The user."""
    reset_url: str | None
    """A link that works once; shown once, and null when a stored answer is replayed."""
    is_emailed: bool
    """Whether the link is also sent to the user by e-mail: not where the server sends none, nor when the
    user has had 5 letters, or the account has sent 50, within an hour.
    """
    expires_at: str
    """When it expires."""


class PayeeVerification(TypedDict):
    result: PayeeVerificationResult
    """Whether the name is that of the account, by the bank of the payee. not_possible: it does not say.
    name_used: the name that the bank has replaced ours, and the bank has not answered since.
    """
    bank_name: str | None
    """The name that the bank of the payee has, which it gives for a close match."""
    reason: str | None
    """why, as readable text."""
    reason_code: str | None
    """An ISO 20022 code."""
    replaced_name: str | None
    """The account holder that `bank_name` replaced; null: it did not."""
    payment_file: str | None
    """The id (MsgId) of the payment file that the bank checked; null: the answer came as a list."""
    verified_at: str
    """When its answer was read."""


PayeeVerificationAnswer = Literal["match", "close_match", "no_match", "not_possible"]

PayeeVerificationResult = Literal["match", "close_match", "no_match", "not_possible", "name_used"]

PayloadForm = Literal["full", "thin", "cloudevents"]

class PaymentFileChange(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    amount_then: int | None
    """In the file; null: not in the file."""
    amount_now: int | None
    """null: a file made now would not contain it."""


class PaymentFileDownloadBy(TypedDict):
    """Who did it."""

    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""
    name: str | None
    """The name."""


class PaymentFileDownload(TypedDict):
    downloaded_at: str
    """When the file was downloaded."""
    by: PaymentFileDownloadBy
    """Who did it."""
    revision: int
    """The revision of the payout at the download."""
    part: int | None
    """Null when the file was not split."""
    digest: str | None
    """A keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key
    of the server changes; null if dropped since, or if the download was cut off.
    """
    file_set_id: str | None
    """All parts of a set have the same content; null for the summary."""
    replaces_file_set_id: str | None
    """The set that was downloaded before this one was created; null: none."""
    message_id: str | None
    """sepa: the MsgId and PmtInfId of the file."""
    is_outdated: bool
    """The payout is unpaid, and a download would now give another file, or another file set was downloaded
    since: download it again.
    """
    change_count: int | None
    """The number of affiliates whose amount differs between an outdated file and a new one; null if the
    file is not outdated, was downloaded again, or has several currencies.
    """
    changes: list[PaymentFileChange]
    """The first 100 of them, by affiliate."""


class PaymentFileWarning(TypedDict):
    code: PaymentFileWarningCode
    """One of six words for the kind of error."""
    message: str
    """The rule, and what to change."""
    affiliate_count: int
    """How many affiliates it covers."""
    affiliate_ids: list[int]
    """The first 20 of them."""


PaymentFileWarningCode = Literal["description_not_payroll", "message_withdrawn", "address_missing"]

class PaymentFilesByHandItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    affiliate_count: int
    """How many affiliates it covers."""
    amount: int
    """Minor units of the currency given with it."""


class PaymentFiles(TypedDict):
    object: Literal["payment_files"]
    """The type of the record."""
    payout_id: str
    """The payout."""
    revision: int
    """The revision of the payout: it rises with every change."""
    files: list[NeededPaymentFile]
    """The files."""
    by_hand: list[PaymentFilesByHandItem]
    """Affiliates paid in another way: their destination or `payout_method` is other."""
    summary_downloads: list[PaymentFileDownload]
    """The last 100, newest first."""
    in_several_files_count: int
    """A warning: affiliates who are in several different downloaded files, in the same currency. If two of
    the files are sent, they are paid twice.
    """
    in_several_files: list[AffiliateInSeveralFiles]
    """The first 100 of them."""


PaymentOutcome = Literal["paid", "rejected", "returned", "pending"]

class PayoutExcludedItemTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""
    affiliate_count: int
    """How many affiliates it covers."""


class PayoutExcludedItem(TypedDict):
    reason: ExclusionReason
    """The first two are carried forward to the next payout."""
    affiliate_count: int
    """How many affiliates it covers."""
    totals: list[PayoutExcludedItemTotalsItem]
    """Sums, one for each currency."""


class Payout(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_payout"]
    """The type of the record."""
    number: int
    """Increases per account, may have gaps."""
    status: PayoutStatus
    """Paid is final."""
    filters: dict[str, Any] | None
    """As normalised and applied."""
    search: str | None
    """As applied; null = none."""
    as_of: str
    """The time of creation: it contains what was owed at that time."""
    currency: str | None
    """Null when there are several; amount is null too."""
    amount: int | None
    """Minor units of the currency given with it."""
    totals: list[PayoutTotal]
    """One per currency; amount = paid + carried + released once completed."""
    affiliate_count: int
    """How many affiliates it covers."""
    commission_count: int
    """How many commissions it covers."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    revision: int
    """The ETag; rises with every change."""
    created_by: str
    """The id of the key, user or application."""
    schedule_id: str | None
    """The schedule that prepared it, which may have been deleted since."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    paid_at: str | None
    """When the money left, as given at completion; default the time of completion."""
    paid_by: str | None
    """Who completed it."""
    approval: Approval
    """Whether the payout needs approval, and who has decided."""
    affiliates: list[PayoutLine] | None
    """All lines, or null when there are more than 1,000."""
    excluded: list[PayoutExcludedItem]
    """Who was left out, one row per reason."""
    shared_destinations: list[SharedDestination]
    """Bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
    affiliate accounts; the first 100, empty once the payout is paid.
    """
    signals: list[SignalCount]
    """What may point to fraud, by rule: `listPayoutSignals` has the lines and reasons."""


class PayoutApprovalApprovalsItem(TypedDict):
    user_id: str
    """The user."""
    approved_at: str
    """When the user approved."""
    note: str | None
    """Their note."""


class PayoutApprovalChangesItem(TypedDict):
    revision: int
    """The revision that the change produced."""
    change: PayoutChange
    """redirected: the name, readiness or destination of an affiliate in it changed; increased, reduced: an
    amount did.
    """
    actor_id: str
    """The id of the key, user or application that caused it."""
    user_id: str | None
    """The person behind it; null if unknown."""
    changed_at: str
    """When the change was made."""


class PayoutApprovalApproversItemBarredBecauseItem(TypedDict):
    reason: ApprovalBar
    """The reason with which their approval is refused."""
    message: str
    """Readable text; it begins with "you" for the caller."""
    actor_id: str
    """Who caused the bar."""
    at: str
    """When it happened."""


class PayoutApprovalApproversItem(TypedDict):
    user_id: str
    """The user."""
    can_approve: bool
    """Whether the user may approve the payout now."""
    barred_because: list[PayoutApprovalApproversItemBarredBecauseItem]
    """Empty for users who can approve."""


class PayoutApproval(TypedDict):
    object: Literal["payout_approval"]
    """The type of the record."""
    payout_id: str
    """The payout."""
    revision: int
    """The revision of the payout that this describes."""
    status: ApprovalStatus
    """`waiting`, `rejected`: a second person must approve this revision before the payout can be paid, see
    `approval` of the account. `GET …/approval` says how many people must approve and who may.
    """
    required_count: int
    """How many people must approve it; 0 if the account requires no approval or the payout is paid."""
    required_because: str | None
    """Why two people must approve, as readable text; null when one is enough."""
    mismatch_count: int
    """Payees whose name is not that of the account, or could not be compared, by the last answer of their
    bank: see `listPayoutVerifications`.
    """
    approvals: list[PayoutApprovalApprovalsItem]
    """Approvals of this revision that count, oldest first."""
    changes: list[PayoutApprovalChangesItem]
    """Who created and changed the payout, oldest first."""
    approvers: list[PayoutApprovalApproversItem]
    """The users whose role may approve payouts, while the payout is unpaid and needs an approval."""


class PayoutApprovedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.approved"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


PayoutChange = Literal["created", "redirected", "increased", "reduced"]

class PayoutCreatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.created"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


class PayoutDeletedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.deleted"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


class PayoutExclusion(TypedDict):
    affiliate_id: int
    """The affiliate."""
    currency: str
    """The currency of the amounts."""
    reason: ExclusionReason
    """The first two are carried forward to the next payout."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""


PayoutFiltersAffiliateId = TypedDict(
    "PayoutFiltersAffiliateId",
    {
        "eq": NotRequired[int],
        "ne": NotRequired[int],
        "in": NotRequired[list[int]],
        "nin": NotRequired[list[int]],
    },
)

PayoutFiltersProgramId = TypedDict(
    "PayoutFiltersProgramId",
    {
        "eq": NotRequired[int],
        "ne": NotRequired[int],
        "in": NotRequired[list[int]],
        "nin": NotRequired[list[int]],
    },
)

PayoutFiltersProductId = TypedDict(
    "PayoutFiltersProductId",
    {
        "eq": NotRequired[str],
        "ne": NotRequired[str],
        "in": NotRequired[list[str]],
        "nin": NotRequired[list[str]],
    },
)

PayoutFiltersOrderId = TypedDict(
    "PayoutFiltersOrderId",
    {
        "eq": NotRequired[str],
        "ne": NotRequired[str],
        "in": NotRequired[list[str]],
        "nin": NotRequired[list[str]],
    },
)

PayoutFiltersPayoutMethod = TypedDict(
    "PayoutFiltersPayoutMethod",
    {
        "eq": NotRequired["DestinationType"],
        "ne": NotRequired["DestinationType"],
        "in": NotRequired[list["DestinationType"]],
        "nin": NotRequired[list["DestinationType"]],
    },
)

PayoutFiltersAffiliateStatus = TypedDict(
    "PayoutFiltersAffiliateStatus",
    {
        "eq": NotRequired["AffiliateStatus"],
        "ne": NotRequired["AffiliateStatus"],
        "in": NotRequired[list["AffiliateStatus"]],
        "nin": NotRequired[list["AffiliateStatus"]],
    },
)

PayoutFiltersType = TypedDict(
    "PayoutFiltersType",
    {
        "eq": NotRequired["CommissionType"],
        "ne": NotRequired["CommissionType"],
        "in": NotRequired[list["CommissionType"]],
        "nin": NotRequired[list["CommissionType"]],
    },
)

class PayoutFiltersIsReadyForPayout(TypedDict):
    eq: NotRequired[bool]
    """Equal to this."""


PayoutFiltersCurrency = TypedDict(
    "PayoutFiltersCurrency",
    {
        "eq": NotRequired[str],
        "in": NotRequired[list[str]],
    },
)

class PayoutFiltersTotal(TypedDict):
    eq: NotRequired[int]
    """Equal to this."""
    gt: NotRequired[int]
    """Greater, or later, than this."""
    gte: NotRequired[int]
    """This, or greater or later."""
    lt: NotRequired[int]
    """Less, or earlier, than this."""
    lte: NotRequired[int]
    """This, or less or earlier."""


class PayoutFiltersOccurredAt(TypedDict):
    """An RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999."""

    gt: NotRequired[str]
    """Greater, or later, than this."""
    gte: NotRequired[str]
    """This, or greater or later."""
    lt: NotRequired[str]
    """Less, or earlier, than this."""
    lte: NotRequired[str]
    """This, or less or earlier."""


class PayoutFilters(TypedDict):
    """The value that each field must have, a list of possible values, or an object of operators; all must
    hold.
    """

    affiliate_id: NotRequired[int | list[int] | PayoutFiltersAffiliateId]
    """An integer from 1 to 9007199254740991."""
    program_id: NotRequired[int | list[int] | PayoutFiltersProgramId]
    """An integer from 1 to 9007199254740991."""
    product_id: NotRequired[str | list[str] | PayoutFiltersProductId]
    """A text of 1 to 255 characters."""
    order_id: NotRequired[str | list[str] | PayoutFiltersOrderId]
    """A text of 1 to 255 characters."""
    payout_method: NotRequired[DestinationType | list[DestinationType] | PayoutFiltersPayoutMethod]
    """One of paypal, wise, other, wise_bank, sepa, ach."""
    affiliate_status: NotRequired[AffiliateStatus | list[AffiliateStatus] | PayoutFiltersAffiliateStatus]
    """One of active, inactive."""
    type: NotRequired[CommissionType | list[CommissionType] | PayoutFiltersType]
    """One of sale, recurring, bonus, adjustment, clawback."""
    is_ready_for_payout: NotRequired[bool | PayoutFiltersIsReadyForPayout]
    """True or false."""
    currency: NotRequired[str | list[str] | PayoutFiltersCurrency]
    """An ISO 4217 currency code."""
    total: NotRequired[int | PayoutFiltersTotal]
    """An integer of minor units."""
    occurred_at: NotRequired[PayoutFiltersOccurredAt]
    """An RFC 3339 instant or a day YYYY-MM-DD, from 1970 to 2999."""
    status: NotRequired[Literal["unpaid"]]
    """Always true: a payout takes unpaid commissions only."""


PayoutFormRule = Literal["none", "at_threshold", "always"]

class PayoutLine(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """Name and destination follow the affiliate until the payout is paid, and are fixed from then on."""
    email: str | None
    """The e-mail address."""
    paypal_email: str | None
    """The address that PayPal pays; null if unknown."""
    payout_method: PayoutMethod | None
    """How the affiliate is paid."""
    is_ready_for_payout: bool
    """Set by the merchant."""
    is_paid: bool | None
    """Null until the payout is completed; true when all currencies were paid, see totals for each."""
    commission_count: int
    """How many commissions it covers."""
    totals: list[PayoutLineTotal]
    """One per currency."""
    payment_reference: str | None
    """Identifies the transfer, as given at completion; null when it differs between currencies."""
    returned_amount: int | None
    """The returned amount in minor units; null when the affiliate is paid in several currencies, see
    totals.
    """


class PayoutLineDestination(TypedDict):
    """The destination: taken from the affiliate until the payout is paid; null: none, paid as
    `paid_through` says.
    """

    type: DestinationType
    """How the destination is paid."""
    last_four: str | None
    """wise_bank, sepa, ach: the last four characters of the IBAN or account number; 0000 after the
    affiliate was erased.
    """


class PayoutLineTotal(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units: the amount of the line."""
    commission_count: int
    """How many commissions it covers."""
    is_paid: bool | None
    """Null until the payout is completed; true also for a part payment."""
    paid_amount: int
    """What was paid; 0 until the payout is completed, and for released lines."""
    carried_amount: int
    """The unpaid part of a paid line: owed again through an adjustment."""
    returned_amount: int
    """The part of the payment that was returned."""
    payment_reference: str | None
    """Identifies the transfer."""
    is_in_file: bool
    """In a downloaded payment file that no later file of its format and currency has replaced."""
    destination: PayoutLineDestination | None
    """Where the line is paid; null if the affiliate has no destination."""
    paid_through: DestinationType | None
    """How the affiliate is paid: by the destination, or by `payout_method`, or by PayPal if there is a
    `paypal_email`; null: unknown.
    """
    with_tax: NotRequired[PayoutLineWithTax]
    """Only with net commissions: the same sums with the tax on top of them."""


class PayoutLineWithTax(TypedDict):
    """Only if the commissions are net, or something is withheld: sums of what leaves the bank. The tax is
    fixed when the payout is created.
    """

    amount: int
    """What leaves the bank: the amount, with the tax on top and without what is withheld."""
    tax_amount: int
    """The tax on top."""
    withheld_amount: int
    """What is withheld for the IRS (backup withholding); you owe it to the IRS."""
    paid_amount: int
    """What left the bank."""
    returned_amount: int
    """What came back to the bank."""
    tax_category: TaxCategory | None
    """S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT."""
    tax_rate: int | None
    """Hundredths of a percent: 1900 = 19 %."""
    exemption: str | None
    """Why no tax is due."""
    withholding_rate: int | None
    """Hundredths of a percent: 2400 = 24 %; null: nothing is withheld."""
    reason: NoTaxReason | None
    """Why it has no tax, if no category applies. no_agreement: the affiliate had not agreed to
    self-billing; agreement_expired: the agreement had ended; no_rule: no rule of `invoicing` fits the
    tax profile of the affiliate; no_tax_id: the category requires a VAT id of the affiliate (S: or a
    tax number; AE: and your own); no_invoicing: the account has no `invoicing` or no `tax_profile`.
    """


PayoutMethod = Literal["paypal", "wise", "other"]

class PayoutPaidEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.paid"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


class PayoutPreviewExcludedItemTotalsItem(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""
    affiliate_count: int
    """How many affiliates it covers."""


class PayoutPreviewExcludedItem(TypedDict):
    reason: ExclusionReason
    """The first two are carried forward to the next payout."""
    affiliate_count: int
    """How many affiliates it covers."""
    totals: list[PayoutPreviewExcludedItemTotalsItem]
    """Sums, one for each currency."""


class PayoutPreview(TypedDict):
    id: Any
    """Always null: a preview is not stored."""
    object: Literal["affiliate_payout"]
    """The type of the record."""
    number: Any
    """Always null: a preview has no number."""
    status: PayoutStatus
    """Paid is final."""
    filters: dict[str, Any] | None
    """As normalised and applied."""
    search: str | None
    """As applied; null = none."""
    as_of: str
    """The time of creation: it contains what was owed at that time."""
    currency: str | None
    """Null when there are several; amount is null too."""
    amount: int | None
    """Minor units of the currency given with it."""
    totals: list[PayoutTotal]
    """One per currency; amount = paid + carried + released once completed."""
    affiliate_count: int
    """How many affiliates it covers."""
    commission_count: int
    """How many commissions it covers."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    revision: Any
    """Always null: a preview is not stored."""
    created_by: Any
    """Always null: a preview is not stored."""
    schedule_id: Any
    """Always null: no schedule creates a preview."""
    created_at: Any
    """When it was created."""
    updated_at: Any
    """When it last changed."""
    paid_at: str | None
    """When the money left, as given at completion; default the time of completion."""
    paid_by: str | None
    """Who completed it."""
    approval: Any
    """Always null: nobody decides about a preview."""
    affiliates: list[PayoutLine] | None
    """All lines, or null when there are more than 1,000."""
    excluded: list[PayoutPreviewExcludedItem]
    """Who was left out, one row per reason."""
    shared_destinations: list[SharedDestination]
    """Bank accounts that belong to several affiliates of an unpaid payout: perhaps one person with several
    affiliate accounts; the first 100, empty once the payout is paid.
    """
    signals: list[SignalCount]
    """What may point to fraud, by rule: `listPayoutSignals` has the lines and reasons."""
    current_payout_id: str | None
    """The unpaid payout that prevents creating this one."""


class PayoutPreviewExclusion(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    email: str
    """The e-mail address."""
    currency: str
    """The currency of the amounts."""
    reason: ExclusionReason
    """The first two are carried forward to the next payout."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""
    minimum_payout: int | None
    """Minor units: the minimum that a sum `below_minimum` does not reach."""
    available_at: str | None
    """When the first commission `on_hold` becomes available; null when all are held for review."""


class PayoutRejectedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.rejected"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


class PayoutResultBy(TypedDict):
    """Who did it."""

    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""
    name: str | None
    """The name."""


class PayoutResult(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["payout_result"]
    """The type of the record."""
    payout_id: str
    """The payout."""
    kind: PayoutResultKind
    """The kind."""
    file_bytes: int
    """The size of the file in bytes."""
    digest: str | None
    """A keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key
    of the server changes; null if dropped since, or if the download was cut off.
    """
    revision: int
    """The revision of the payout when the file was uploaded."""
    counts: PayoutResultCounts
    """How many lines there are of each kind."""
    by: PayoutResultBy
    """Who did it."""
    created_at: str
    """When it was created."""


class PayoutResultCounts(TypedDict):
    paid: int
    """Lines whose money left."""
    rejected: int
    """Lines that were refused before money left."""
    returned: int
    """Lines whose money left and came back."""
    pending: int
    """Lines that are not decided yet."""
    unanswered: int
    """Lines of the payout without a clear answer in the file."""
    problems: int
    """Statements that match no line; see `problems`."""
    others: int
    """Entries that are not our payments."""


PayoutResultKind = Literal["camt.053", "camt.054", "pain.002", "verification", "nacha", "paypal", "wise", "paid_list"]

class PayoutResultLine(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name of the affiliate; null if unknown."""
    currency: str
    """The currency of the amounts."""
    reference: str
    """The reference of the payment."""
    outcome: PaymentOutcome
    """rejected: no money left. returned: it left and came back. pending: the bank or provider has not
    decided.
    """
    amount: int
    """The amount paid, refused or returned, in minor units."""
    line_amount: int
    """The amount of the line."""
    reason: str | None
    """why, as readable text."""
    reason_code: str | None
    """An ISO 20022 code, or the status of the provider."""
    booked_on: str | None
    """YYYY-MM-DD, as in the file."""
    bank_reference: str | None
    """The identifier used by the bank or provider."""
    payment_file: str | None
    """The id (MsgId) of the payment file that contains it, if the file names one."""
    is_booked: bool
    """Nothing left to do: the payout was completed with this result, or the return is booked."""


class PayoutResultProblem(TypedDict):
    kind: PayoutResultProblemKind
    """The kind."""
    affiliate_id: int | None
    """Null when it concerns no affiliate of the payout."""
    reference: str | None
    """The reference of the payment."""
    message: str
    """What is wrong, and where in the file."""


PayoutResultProblemKind = Literal["other_account", "other_payout", "unknown_reference", "other_currency", "other_amount", "duplicate", "contradiction", "unknown_file", "other_payee", "unclear", "inexact_reference"]

class PayoutResultProposalBy(TypedDict):
    """Who did it."""

    kind: ActorKind
    """The kind."""
    id: str
    """The id of the record."""
    name: str | None
    """The name."""


class PayoutResultProposal(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["payout_result"]
    """The type of the record."""
    payout_id: str
    """The payout."""
    kind: PayoutResultKind
    """The kind."""
    file_bytes: int
    """The size of the file in bytes."""
    digest: str | None
    """A keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key
    of the server changes; null if dropped since, or if the download was cut off.
    """
    revision: int
    """The revision of the payout when the file was uploaded."""
    counts: PayoutResultCounts
    """How many lines there are of each kind."""
    by: PayoutResultProposalBy
    """Who did it."""
    created_at: str
    """When it was created."""
    lines: list[PayoutResultLine]
    """The lines that the file is about."""
    problems: list[PayoutResultProblem]
    """The first of each kind for each affiliate, and the first 1000 that concern no affiliate of the
    payout.
    """
    verifications: list[PayoutResultVerification]
    """The payees whose names the bank compared with their accounts: it says nothing about their payments."""
    corrections: list[DestinationCorrection]
    """What banks correct in where affiliates are paid, proposed until somebody accepts or dismisses it: it
    says nothing about payments.
    """
    outdated_revisions: list[int]
    """The revisions of the payout at which the answered files were made, if it has changed since."""
    uploaded_before: str | None
    """When the same file was uploaded before; null = never."""


class PayoutResultVerification(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    currency: str
    """The currency of the amounts."""
    reference: str
    """The reference of the payment."""
    result: PayeeVerificationAnswer
    """Whether the name is that of the account, by the bank of the payee. not_possible: it does not say."""
    account_holder: str | None
    """The name that the bank checked, as in the file."""
    bank_name: str | None
    """The name that the bank of the payee has, which it gives for a close match."""
    reason: str | None
    """why, as readable text."""
    reason_code: str | None
    """An ISO 20022 code."""


class PayoutReturn(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["payout_return"]
    """The type of the record."""
    payout_id: str
    """The payout."""
    affiliate_id: int
    """The affiliate."""
    currency: str
    """The currency of the amounts."""
    amount: int
    """What is owed again, in minor units."""
    tax_amount: int
    """The tax on top of it, which came back too and is not owed; 0 if the amount includes the tax."""
    withheld_amount: int
    """The part of it that had been withheld for the IRS, and did not come back to the bank."""
    external_id: str | None
    """Your id of the request that booked it."""
    reason: str
    """Why the money came back."""
    reference: str | None
    """Identifies it in your books."""
    commission_id: str
    """The adjustment that makes the money owed again."""
    returned_at: str
    """When the money came back."""
    undone_at: str | None
    """When it was undone; null = in force."""


class PayoutSchedule(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["payout_schedule"]
    """The type of the record."""
    name: str
    """The name."""
    every: ScheduleRhythm
    """On which days it runs."""
    day: int
    """week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the
    account’s time zone and begins at midnight there.
    """
    filters: Any
    """As given; null = none."""
    search: str
    """A text that the chosen affiliates contain."""
    ignore_minimum: bool
    """Whether amounts below the minimum are paid too."""
    is_active: bool
    """false: it creates no payouts until it is activated."""
    made_by: str
    """Who last changed it, and so counts as the creator of its payouts."""
    next_on: str | None
    """The next due day; null while inactive."""
    last_run: ScheduleRun | None
    """The last run; null before the first."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class PayoutSelection(TypedDict):
    filters: NotRequired[PayoutFilters | None]
    """The filters of the report; null = none."""
    search: NotRequired[str]
    """Every word must occur in the name, e-mail address or slug of the affiliate."""
    ignore_minimum: NotRequired[bool]
    """Also pays amounts below the minimum."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class PayoutSignal(TypedDict):
    object: Literal["payout_signal"]
    """The type of the record."""
    rule: SignalRule
    """What was found: `payout_signals` of the account has the rules."""
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    currency: str
    """The currency of the amounts."""
    amount: int
    """Of the line when it was found."""
    details: SignalDetails
    """Why; null for what the rule does not look at."""
    blocks: bool
    """The payout is not approved, and the line is in no payment file and not paid, until somebody has
    reviewed it.
    """
    revision: int | None
    """The revision of the payout in which it was found; null in a preview."""
    ended_revision: int | None
    """The revision in which it was gone; null: it holds."""
    found_at: str | None
    """When it was found; null in a preview."""
    reviewed_by: str | None
    """The user who reviewed it, or approved the payout with it."""
    reviewed_at: str | None
    """When it was reviewed; null: not yet."""
    review_note: str | None
    """The note of who reviewed it."""


class PayoutSignals(TypedDict):
    """What is looked for in payouts because it may point to fraud."""

    destination_changed: SignalSetting
    """The line is paid elsewhere than the last payment."""
    shared_destination: SignalSetting
    """Several affiliates of the payout are paid to one bank account."""
    first_payout_above: SignalLimit
    """A first payment above a limit."""
    amount_above_history: SignalHistory
    """An amount far above the payments before."""
    imported_together: SignalImport
    """Affiliates whom one import created are paid for the first time."""


PayoutStatus = Literal["unpaid", "paid"]

class PayoutSummary(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_payout"]
    """The type of the record."""
    number: int
    """Increases per account, may have gaps."""
    status: PayoutStatus
    """Paid is final."""
    filters: dict[str, Any] | None
    """As normalised and applied."""
    search: str | None
    """As applied; null = none."""
    as_of: str
    """The time of creation: it contains what was owed at that time."""
    currency: str | None
    """Null when there are several; amount is null too."""
    amount: int | None
    """Minor units of the currency given with it."""
    totals: list[PayoutTotal]
    """One per currency; amount = paid + carried + released once completed."""
    affiliate_count: int
    """How many affiliates it covers."""
    commission_count: int
    """How many commissions it covers."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    revision: int
    """The ETag; rises with every change."""
    created_by: str
    """The id of the key, user or application."""
    schedule_id: str | None
    """The schedule that prepared it, which may have been deleted since."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    paid_at: str | None
    """When the money left, as given at completion; default the time of completion."""
    paid_by: str | None
    """Who completed it."""
    approval: Approval
    """Whether the payout needs approval, and who has decided."""


class PayoutTotal(TypedDict):
    currency: str
    """The currency of the amounts."""
    amount: int
    """Minor units of the currency given with it."""
    commission_count: int
    """How many commissions it covers."""
    affiliate_count: int
    """How many affiliates it covers."""
    paid_amount: int
    """What was paid, in minor units."""
    paid_count: int
    """Commissions of lines that were paid, also in part."""
    carried_amount: int
    """The unpaid part of paid lines: owed again through an adjustment."""
    released_amount: int
    """Minor units of the currency given with it."""
    released_count: int
    """Commissions that were released and are owed again."""
    with_tax: NotRequired[PayoutTotalWithTax]
    """Only with net commissions: the same sums with the tax on top of them."""


class PayoutTotalWithTax(TypedDict):
    """Only if commissions are net, or something is withheld: sums of what leaves the bank."""

    amount: int
    """What leaves the bank: the amount, with the tax on top and without what is withheld."""
    tax_amount: int
    """The tax on top."""
    withheld_amount: int
    """What is withheld for the IRS (backup withholding); you owe it to the IRS."""
    paid_amount: int
    """What left the bank."""


class PayoutUpdatedEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["payout.updated"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: PayoutSummary
    """The records of this page, in the requested order."""


class PayoutVerification(TypedDict):
    object: Literal["payee_verification"]
    """The type of the record."""
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name of the affiliate."""
    account_holder: str | None
    """The name in payment files."""
    last_four: str | None
    """The end of the IBAN."""
    currency: str | None
    """Of the destination; null: the one for all currencies."""
    result: PayeeVerificationResult
    """Whether the name is that of the account, by the bank of the payee. not_possible: it does not say.
    name_used: the name that the bank has replaced ours, and the bank has not answered since.
    """
    bank_name: str | None
    """The name that the bank of the payee has, which it gives for a close match."""
    reason: str | None
    """why, as readable text."""
    reason_code: str | None
    """An ISO 20022 code."""
    replaced_name: str | None
    """The account holder that `bank_name` replaced; null: it did not."""
    payment_file: str | None
    """The id (MsgId) of the payment file that the bank checked; null: the answer came as a list."""
    verified_at: str
    """When its answer was read."""


class Portal(TypedDict):
    """What a portal is of; null for every other caller."""

    webhook_endpoint_id: str
    """The endpoint its link was made at."""
    owner: str | None
    """It is of all endpoints of this owner; null = of the one alone."""
    event_types: list[str] | None
    """What endpoints may be subscribed to; null = all."""
    ends_at: str
    """When it ends."""


class PortalLink(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["portal_link"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint for which it was created."""
    owner: str | None
    """The portal shows all endpoints of this owner; null = only this endpoint."""
    read_only: bool
    """The portal can change and send nothing, and shows no secrets."""
    event_types: list[str] | None
    """The event types that portal users may subscribe to; null = all."""
    filter: dict[str, Any] | None
    """The filter of endpoints created in the portal; null = none."""
    status: PortalLinkStatus
    """open: its portal is open; ended: its portal has ended; expired: it was not opened in time."""
    created_by: str
    """The id of the key or user that created it."""
    expires_at: str
    """Until when it can be opened."""
    used_at: str | None
    """When it was opened; a link opens once."""
    ends_at: str | None
    """When the portal it opened ends."""
    revoked_at: str | None
    """When it was revoked; null while it is valid."""
    created_at: str
    """When it was created."""


PortalLinkStatus = Literal["unused", "open", "ended", "expired", "revoked"]

class PostalAddress(TypedDict):
    line1: str
    """Street and number."""
    line2: str | None
    """Address, line 2."""
    postal_code: str | None
    """Postal code."""
    city: str
    """City."""
    region: str | None
    """State or province; two letters in the United States."""


class PreviewRecoveryOfWebhookEndpointBody(TypedDict):
    action: NotRequired[RecoveryAction]
    """recover: sends the events again; discard: cancels those that wait."""
    since: NotRequired[str]
    """Events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the
    account; required without `missing`, by default the oldest event.
    """
    missing: NotRequired[bool]
    """The events that the endpoint never got, but would get now; not with `status`."""
    until: NotRequired[str]
    """Events created before it, including a whole day; at most now, which is the default."""
    status: NotRequired[RecoveredStatus | list[RecoveredStatus]]
    """The status of the events in the log, one or several; default failed."""
    types: NotRequired[list[str] | None]
    """Names such as payout.paid or payout.*; null = all."""


class Program(TypedDict):
    id: int
    """The id of the record."""
    object: Literal["affiliate_program"]
    """The type of the record."""
    name: str
    """Unique in the account."""
    hold_days: int | None
    """The days for which new commissions are on hold; null = the account's hold."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class PublishEventBatchBody(TypedDict):
    events: list[PublishEventBody]
    """The events, one entry each."""


class PublishEventBody(TypedDict):
    type: str
    """The type, such as `payout.paid`."""
    data: dict[str, Any]
    """Passed on unchanged; a number may have 131,072 digits before the decimal point and 16,383 after it,
    written without an exponent.
    """
    external_id: NotRequired[str]
    """Your own id of the record; null if you gave none."""
    ordering_key: NotRequired[str]
    """Ordered endpoints get the events of a key one at a time, in the order of publishing."""
    owner: NotRequired[str]
    """Only the endpoints of this owner get the event; without it all do."""
    tags: NotRequired[list[str]]
    """Texts by which you find the event again; receivers do not get them."""


class PublishedEvent(TypedDict):
    id: str
    """`webhook-id` for every receiver."""
    object: Literal["published_event"]
    """The type of the record."""
    type: str
    """The type, such as `payout.paid`."""
    external_id: str | None
    """The id under which the platform published it."""
    ordering_key: str | None
    """Ordered endpoints get the events of a key one at a time."""
    owner: str | None
    """Only the endpoints of this owner get it; null = all."""
    tags: list[str]
    """sorted; receivers do not get them."""
    created_at: str
    """When it was created."""
    deliveries: DeliveryCounts
    """The deliveries of the event, by status."""


class PublishedEventWhole(TypedDict):
    id: str
    """`webhook-id` for every receiver."""
    object: Literal["published_event"]
    """The type of the record."""
    type: str
    """The type, such as `payout.paid`."""
    external_id: str | None
    """The id under which the platform published it."""
    ordering_key: str | None
    """Ordered endpoints get the events of a key one at a time."""
    owner: str | None
    """Only the endpoints of this owner get it; null = all."""
    tags: list[str]
    """sorted; receivers do not get them."""
    created_at: str
    """When it was created."""
    deliveries: DeliveryCounts
    """The deliveries of the event, by status."""
    payload: Event
    """The event as it is sent."""
    sent_to: list[WebhookEventAt]
    """Its records in the log, at most 100; `event_id` finds all of them there."""
    not_sent_to: list[NotSent]
    """The other current endpoints, at most 100, oldest first."""


class PutAffiliateByExternalIdBody(TypedDict):
    name_first: NotRequired[str | None]
    """First name."""
    name_last: NotRequired[str | None]
    """Last name."""
    email: NotRequired[str]
    """Unique in the account; an e-mail address."""
    slug: NotRequired[str | None]
    """The affiliate in your links; searches include it."""
    status: NotRequired[AffiliateStatus]
    """Payouts leave out an inactive affiliate."""
    payout_method: NotRequired[PayoutMethod | None]
    """How payouts pay, unless a destination says otherwise."""
    paypal_email: NotRequired[str | None]
    """The address that PayPal pays; an e-mail address."""
    is_ready_for_payout: NotRequired[bool]
    """Your switch: payouts leave out an affiliate that is not ready."""
    minimum_payout: NotRequired[dict[str, int] | None]
    """Used instead of the minimum of the account; minor units per currency code, for example {"usd":
    5000}.
    """
    commissions_are: NotRequired[CommissionsAre | None]
    """Used instead of the setting of the account: gross with the tax, or net with the tax paid on top;
    gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when
    a payout is created.
    """
    legal_type: NotRequired[LegalType | None]
    """What the affiliate is by law, if known."""
    country: NotRequired[str | None]
    """Where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)."""
    language: NotRequired[NoticeLanguage | None]
    """Of e-mails to the affiliate; without it, that of the account."""
    is_notified: NotRequired[bool]
    """Whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link
    in each.
    """
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class PutAffiliateDestinationBody(TypedDict):
    type: DestinationType
    """paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank
    account; other: your own method.
    """
    currency: NotRequired[str | None]
    """Only for this currency; without it, for every currency without its own destination."""
    account_holder: NotRequired[str]
    """wise_bank, sepa, ach: the name of the account holder."""
    iban: NotRequired[str]
    """wise_bank, sepa: the IBAN, with or without blanks."""
    bic: NotRequired[str]
    """sepa: the BIC, which few banks still ask for."""
    routing_number: NotRequired[str]
    """ach: nine digits."""
    account_number: NotRequired[str]
    """ach: the number of the account."""
    account_type: NotRequired[BankAccountType]
    """ach: the type of the account."""


class PutAffiliateTaxProfileBodyAddress(TypedDict):
    """A tax profile."""

    line1: str
    """Street and number."""
    line2: NotRequired[str | None]
    """Address, line 2."""
    postal_code: NotRequired[str | None]
    """Postal code."""
    city: str
    """City."""
    region: NotRequired[str | None]
    """State or province; two letters in the United States."""


class PutAffiliateTaxProfileBodyTaxId(TypedDict):
    type: TaxIdType
    """us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a
    number that is not checked.
    """
    number: str
    """The tax id, with or without spaces and hyphens; it cannot be read back."""


class PutAffiliateTaxProfileBodyForm(TypedDict):
    type: TaxForm
    """The form that was signed; w8ben is for persons and w8bene for businesses."""
    signed_on: str
    """The day the form was signed; YYYY-MM-DD."""
    document: NotRequired[str | None]
    """Where you keep the form: a name, number or link."""


class PutAffiliateTaxProfileBodySelfBilling(TypedDict):
    agreed_on: str
    """The day from which the agreement applies; empty if they write their own invoices; YYYY-MM-DD."""
    expires_on: NotRequired[str | None]
    """The last day of the agreement; empty if it has none; YYYY-MM-DD."""
    agreed_by: str
    """The name of the person who agreed."""
    document: NotRequired[str | None]
    """Where you keep the agreement: a name, number or link."""


class PutAffiliateTaxProfileBody(TypedDict):
    legal_type: TaxLegalType
    """Who signed."""
    legal_name: str
    """The name as signed."""
    country: str
    """The tax country, in two letters; ISO 3166-1 alpha-2, any case."""
    address: PutAffiliateTaxProfileBodyAddress
    """A tax profile."""
    tax_id: NotRequired[PutAffiliateTaxProfileBodyTaxId | None]
    """Without it the current one is kept, because it cannot be read back; null removes it."""
    siren: NotRequired[str | None]
    """The number of a French business, which its invoices show: SIREN (9 digits) or SIRET (14 digits)."""
    electronic_address: NotRequired[str | None]
    """Where Peppol delivers their invoices: the code of the scheme, a colon and the id."""
    form: NotRequired[PutAffiliateTaxProfileBodyForm | None]
    """A tax form."""
    self_billing: NotRequired[PutAffiliateTaxProfileBodySelfBilling | None]
    """The affiliate agreed that you write their invoices; null: they did not."""


class PutEventTypeBody(TypedDict):
    description: str
    """When it happens."""
    group: NotRequired[str | None]
    """For showing types together; default null."""
    deprecation: NotRequired[str | None]
    """Why the type should not be used any more, and what to use instead; default null = it is not
    deprecated.
    """
    data_schema: NotRequired[dict[str, Any] | None]
    """A JSON schema (2020-12) of `data`, at most 64 KiB; `$ref` only within it, `pattern` only without
    groups, and no `format`, `patternProperties` and `unevaluatedProperties` are checked.
    """
    data_example: NotRequired[dict[str, Any] | None]
    """An example of `data`, which matches the schema; test events have it."""


class PutWebhookEndpointByExternalIdBody(TypedDict):
    delivery: NotRequired[EndpointDelivery]
    """push: events are sent to the URL; pull: it has none, and consumers claim its events."""
    url: NotRequired[str]
    """Where events are sent, including pending ones; http or https, without credentials and fragment, at a
    public address.
    """
    description: NotRequired[str | None]
    """A note of yours."""
    owner: NotRequired[str | None]
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    contact_email: NotRequired[str | None]
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link; an e-mail address.
    """
    event_types: NotRequired[list[str] | None]
    """The types of events that it receives; names such as payout.paid or payout.*; null = all."""
    filter: NotRequired[dict[str, Any] | None]
    """Conditions on the payload; conditions on the payload that must all hold: a path, and a value or
    operators ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith, $contains); $and and $or
    take lists of filters. At most 4,096 bytes.
    """
    status: NotRequired[EndpointStatus]
    """Events for a disabled endpoint are held until it is enabled."""
    ordered: NotRequired[bool]
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published; applies to events published from now on; false releases the events that wait.
    """
    batch: NotRequired[BatchInput | None]
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: NotRequired[int | None]
    """The most requests that it is sent in a second; null = no limit."""
    max_age: NotRequired[int | None]
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    null = no limit.
    """
    headers: NotRequired[dict[str, str | None]]
    """Your own headers, sent with every delivery; values by name; null removes a header, others stay."""
    payload: NotRequired[PayloadForm]
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: NotRequired[ApiVersion]
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: NotRequired[SigningScheme]
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: NotRequired[CustomSigningInput | None]
    """The scheme of `signing: custom`; null with another scheme."""
    secret: NotRequired[str]
    """A secret that the receiver already has, or with `ed25519` your private key; by default the current
    one stays if the scheme can use it, else a new one is created.
    """
    second_signature: NotRequired[SecondSignatureInput | None]
    """A further signature that is sent until it expires; null if there is none."""
    proxy: NotRequired[str | None]
    """An HTTP proxy that requests go through, with user and password if it needs them:
    http://user:password@proxy:3128; null = that of the server, if any.
    """
    client_certificate: NotRequired[ClientCertificateInput | None]
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: NotRequired[ClientCredentialsInput | None]
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: NotRequired[dict[str, str]]
    """Your own keys and texts."""


class RecoverWebhookEndpointBody(TypedDict):
    since: NotRequired[str]
    """Events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the
    account; required without `missing`, by default the oldest event.
    """
    missing: NotRequired[bool]
    """The events that the endpoint never got, but would get now; not with `status`."""
    until: NotRequired[str]
    """Events created before it, including a whole day; at most now, which is the default."""
    status: NotRequired[RecoveredStatus | list[RecoveredStatus]]
    """The status of the events in the log, one or several; default failed."""
    types: NotRequired[list[str] | None]
    """Names such as payout.paid or payout.*; null = all."""


RecoveredStatus = Literal["failed", "pending", "delivered", "cancelled"]

RecoveryAction = Literal["recover", "discard"]

class RecoveryFilters(TypedDict):
    since: str
    """From when."""
    until: str
    """Until when."""
    status: list[RecoveredStatus]
    """The status."""
    types: list[str] | None
    """Null = all."""
    missing: bool
    """The events that it never got; `status` is then empty."""


class RecoveryPreview(TypedDict):
    object: Literal["recovery_preview"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The webhook endpoint."""
    action: RecoveryAction
    """recover: sends the events again; discard: cancels those that wait."""
    filters: RecoveryFilters
    """What the recovery sends again, or the discard cancels."""
    matching_count: int
    """Events that match now."""


RecoveryStatus = Literal["pending", "running", "paused", "completed", "cancelled"]

class Refund(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["affiliate_refund"]
    """The type of the record."""
    external_id: str
    """Your own id of the refund, unique forever."""
    status: Literal["waiting", "applied", "reversed"]
    """waiting: a line of it has no commission yet, or is in doubt."""
    order_id: str | None
    """Null for a refund of one commission by its id."""
    product_id: str | None
    """Product."""
    reason: str | None
    """why."""
    occurred_at: str
    """When the customer was refunded."""
    reversed_at: str | None
    """When the refund was reversed; null if it was not."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    lines: list[RefundLine]
    """Of a refund by order: what it covers."""
    refunds: list[RefundItem]
    """What it took of each commission."""


class RefundCommissionBody(TypedDict):
    external_id: str
    """Your own id of the refund, unique forever; sending the same refund again changes nothing."""
    amount: NotRequired[int]
    """Minor units of commission to take back."""
    sale_amount: NotRequired[int]
    """Minor units of the sale; the commission is reduced pro rata."""
    reason: NotRequired[str | None]
    """why."""
    occurred_at: NotRequired[str]
    """When the customer was refunded; RFC 3339; default now."""


class RefundItem(TypedDict):
    amount: int
    """Minor units of commission that were taken back."""
    sale_amount: int | None
    """Minor units of the sale refunded; null when the refund was given as commission."""
    capped: bool
    """The refund asked for more than was left and took the rest."""
    commission: Commission
    """The commission."""
    clawback: Commission | None
    """The negative commission that takes back what was paid; null if nothing had been paid."""


class RefundLine(TypedDict):
    order_line_id: str | None
    """The line of the order, by your own id."""
    external_id: str | None
    """Of the one commission the line is."""
    amount: int | None
    """Minor units of commission."""
    sale_amount: int | None
    """Minor units of the sale."""
    currency: str | None
    """Of the amount, once it is known."""
    status: Literal["waiting", "in_doubt", "applied"]
    """in_doubt: it could belong to several commissions that came in; reverse it and name lines."""


class RefundOrderBodyLinesItem(TypedDict):
    order_line_id: NotRequired[str]
    """The line of the order, by your own id."""
    external_id: NotRequired[str]
    """Of one commission."""
    sale_amount: NotRequired[int]
    """Minor units of the sale; the commission is reduced pro rata."""


class RefundOrderBody(TypedDict):
    external_id: str
    """Your own id of the refund, unique forever; sending the same refund again changes nothing."""
    order_id: str
    """Order."""
    product_id: NotRequired[str | None]
    """Product."""
    currency: NotRequired[str]
    """The currency of the amounts; a different one is refused."""
    lines: NotRequired[list[RefundOrderBodyLinesItem]]
    """Each with either order_line_id or external_id."""
    amount: NotRequired[int]
    """Minor units of commission to take back."""
    sale_amount: NotRequired[int]
    """Minor units of the sale; the commission is reduced pro rata."""
    reason: NotRequired[str | None]
    """why."""
    occurred_at: NotRequired[str]
    """When the customer was refunded; RFC 3339; default now."""


class RejectPayoutBody(TypedDict):
    revision: int
    """The revision you reviewed: if the payout has another one by now, the decision is refused."""
    note: NotRequired[str | None]
    """Shown with the payout."""


class ReportEntry(TypedDict):
    kind: Literal["earned", "adjusted", "refunded", "voided", "paid", "returned"]
    """The column of the report."""
    occurred_at: str
    """The instant whose day counts."""
    amount: int
    """The change of what is owed: below zero for refunds, voids and payments."""
    currency: str
    """The currency of the amounts."""
    affiliate_id: int
    """The affiliate."""
    country: str | None
    """The current one of the affiliate."""
    program_id: int | None
    """The program."""
    paid_through: DestinationType | None
    """The method of a payment or return."""
    commission_id: str | None
    """The commission."""
    refund_id: str | None
    """The refund."""
    payout_id: str | None
    """The payout."""
    what: str
    """The `external_id` of the commission or refund, or the payout."""
    reference: str | None
    """The order, or the reference of the payment."""


ReportSummary = TypedDict(
    "ReportSummary",
    {
        "object": Literal["report_summary"],
        "by": Literal["currency", "method", "program", "country", "affiliate"],
        "from": Union[str, None],
        "to": Union[str, None],
        "time_zone": str,
        "totals": list["ReportSummaryTotal"],
        "rows": list["ReportSummaryRow"],
        "row_count": int,
        "page": int,
        "per_page": int,
    },
)

class ReportSummaryRow(TypedDict):
    key: str | None
    """The currency, payout method, id of the program, country (ISO 3166-1 alpha-2) or id of the affiliate;
    null: none, or unknown.
    """
    name: str | None
    """Of the program or affiliate; the e-mail address of an affiliate without a name."""
    currency: str
    """The currency of the amounts."""
    opening_amount: int | None
    """Owed before the first day."""
    earned_amount: int | None
    """commissions, dated by the sale."""
    adjusted_amount: int | None
    """Manual credits, less debits, dated by their own date."""
    refunded_amount: int | None
    """Amounts taken by refunds, also of paid commissions, dated by the refund; reversed refunds do not
    count.
    """
    voided_amount: int | None
    """The remaining amounts of commissions that were voided manually, dated by the day they were voided."""
    paid_amount: int | None
    """payments, dated by the payment."""
    returned_amount: int | None
    """Returned payments, less returns that were undone, dated by the return."""
    closing_amount: int | None
    """Owed after the last day: opening + earned + adjusted - refunded - voided - paid + returned."""


class ReportSummaryTotal(TypedDict):
    currency: str
    """The currency of the amounts."""
    opening_amount: int | None
    """Owed before the first day."""
    earned_amount: int | None
    """commissions, dated by the sale."""
    adjusted_amount: int | None
    """Manual credits, less debits, dated by their own date."""
    refunded_amount: int | None
    """Amounts taken by refunds, also of paid commissions, dated by the refund; reversed refunds do not
    count.
    """
    voided_amount: int | None
    """The remaining amounts of commissions that were voided manually, dated by the day they were voided."""
    paid_amount: int | None
    """payments, dated by the payment."""
    returned_amount: int | None
    """Returned payments, less returns that were undone, dated by the return."""
    closing_amount: int | None
    """Owed after the last day: opening + earned + adjusted - refunded - voided - paid + returned."""


class ReturnPayoutLineBody(TypedDict):
    external_id: NotRequired[str | None]
    """Your id: sending the same return again books nothing more."""
    currency: NotRequired[str]
    """Without it all currencies, or with an amount the only currency paid."""
    amount: NotRequired[int]
    """What came back to the bank in minor units, with the tax if it was paid on top, and without what was
    withheld; without it, everything not yet returned.
    """
    reason: str
    """Why the money came back."""
    reference: NotRequired[str | None]
    """The reference of the return at the bank; null if there is none."""


class ReviewPayoutSignalsBody(TypedDict):
    revision: int
    """The revision you reviewed: if the payout has another one by now, the review is refused."""
    rule: NotRequired[SignalRule]
    """Only signals of this rule."""
    affiliate_id: NotRequired[int]
    """Only signals of this affiliate."""
    currency: NotRequired[str]
    """Only signals of lines in this currency."""
    note: NotRequired[str | None]
    """Kept with the signals."""


Role = Literal["owner", "member", "finance", "approver", "viewer"]

class RotateWebhookEndpointSecretBody(TypedDict):
    overlap_seconds: NotRequired[int]
    """For how long the previous secret signs as well, in seconds."""
    secret: NotRequired[str]
    """A secret that the receiver already has, or with `ed25519` your private key; by default the current
    one stays if the scheme can use it, else a new one is created.
    """


ScheduleOutcome = Literal["created", "empty", "refused"]

ScheduleRhythm = Literal["week", "month"]

class ScheduleRun(TypedDict):
    due_on: str
    """The last due day."""
    ran_at: str
    """When the schedule ran."""
    outcome: ScheduleOutcome
    """empty: there was nothing to pay; refused: see `reason`."""
    reason: str | None
    """Why it created no payout."""
    payout_id: str | None
    """The payout it created, which may have been deleted since."""


class SchemaViolation(TypedDict):
    """The last event that violated the schema, noted at most once a minute while `event_validation` is not
    off; null in a portal.
    """

    at: str
    """When it was published."""
    message: str
    """Field and rule."""


Scope = Literal["account", "users", "customers", "checkouts", "subscriptions", "subscription_metered_billing", "integrations", "orders", "payments", "paymentplans", "webhooks", "promos", "affiliates", "products", "analytics", "reports"]

class SecondSignature(TypedDict):
    """Also sent until `expires_at`."""

    signing: SigningScheme
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: CustomSigning | None
    """The scheme of `signing: custom`; null with another scheme."""
    expires_at: str
    """When it expires."""


class SecondSignatureInput(TypedDict):
    """Also sent until `expires_at`. Fields that are left out have the values of the previous signature.
    Without it, a change of scheme or secret sends the previous signature for a day; null = none.
    """

    signing: NotRequired[SigningScheme]
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: NotRequired[CustomSigningInput | None]
    """The scheme of `signing: custom`; null with another scheme."""
    secret: NotRequired[str]
    """A secret that the receiver already has, or with `ed25519` your private key; by default the current
    one stays if the scheme can use it, else a new one is created.
    """
    expires_at: str
    """An RFC 3339 instant, at most 90 days ahead."""


class SelfBillingAgreement(TypedDict):
    agreed_on: str
    """The day from which the agreement applies; empty if they write their own invoices; YYYY-MM-DD."""
    expires_on: str | None
    """The last day of the agreement; empty if it has none; YYYY-MM-DD."""
    agreed_by: str
    """The name of the person who agreed."""
    document: str | None
    """Where you keep the agreement: a name, number or link."""


SepaMessage = Literal["pain.001.001.09", "pain.001.001.03"]

class Session(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["session"]
    """The type of the record."""
    user_id: str
    """The user."""
    user_agent: str | None
    """The User-Agent header of the browser."""
    address: str | None
    """The network address that opened it."""
    created_at: str
    """When it was created."""
    last_seen_at: str
    """When it was last used, to the minute."""
    expires_at: str
    """When it ends unless it is used before."""


class SetAlertSettingsBody(TypedDict):
    kinds: list[AlertKind] | None
    """The alerts to get by e-mail; null = the role's default."""


class SharedDestination(TypedDict):
    type: DestinationType
    """The type, such as `payout.paid`."""
    last_four: str
    """The last four characters of the IBAN or account number."""
    affiliate_count: int
    """How many affiliates it covers."""
    affiliates: list[SharedDestinationAffiliate]
    """The first 20."""


class SharedDestinationAffiliate(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    email: str | None
    """The e-mail address."""


SignalAction = Literal["off", "warn", "block"]

class SignalCount(TypedDict):
    rule: SignalRule
    """What was found: `payout_signals` of the account has the rules."""
    line_count: int
    """Lines with the signal."""
    unreviewed_count: int
    """Of them, those that nobody has reviewed."""
    blocking_count: int
    """Of these, those that block."""


class SignalDestination(TypedDict):
    type: DestinationType
    """The type, such as `payout.paid`."""
    last_four: str | None
    """wise_bank, sepa, ach: the last four characters of the IBAN or account number; 0000 after the
    affiliate was erased.
    """


class SignalDetails(TypedDict):
    """why; null for what the rule does not look at."""

    limit: int | None
    """first_payout_above, amount_above_history: the amount is above it."""
    largest_payment: int | None
    """amount_above_history: the largest payment before."""
    previous_destination: SignalDestination | None
    """destination_changed: where the last payment went."""
    destination: SignalDestination | None
    """destination_changed, shared_destination: where the line is paid."""
    affiliates: list[int] | None
    """shared_destination: the affiliates with this account, the first 20."""
    affiliate_count: int | None
    """shared_destination, imported_together: how many affiliates."""
    import_id: str | None
    """imported_together: the import."""


class SignalHistory(TypedDict):
    action: SignalAction
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    amounts: dict[str, int]
    """The amount in minor units by currency up to which there is no signal."""
    times: int
    """How many times the largest payment."""


class SignalImport(TypedDict):
    action: SignalAction
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    affiliates: int
    """How many affiliates."""
    days: int
    """How many days after the import."""


class SignalLimit(TypedDict):
    action: SignalAction
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """
    amounts: dict[str, int]
    """The limit in minor units by currency; a currency without one gives no signal."""


SignalRule = Literal["destination_changed", "shared_destination", "first_payout_above", "amount_above_history", "imported_together"]

class SignalSetting(TypedDict):
    action: SignalAction
    """off: not looked for; warn: shown; block: neither approved nor paid, and in no payment file, until
    somebody has reviewed it.
    """


SignatureAlgorithm = Literal["sha256", "sha512", "sha1"]

SignatureEncoding = Literal["hex", "base64"]

class SignedTaxForm(TypedDict):
    type: TaxForm
    """The form that was signed; w8ben is for persons and w8bene for businesses."""
    signed_on: str
    """The day the form was signed; YYYY-MM-DD."""
    valid_until: str | None
    """The last day of the third calendar year after the signature; null: a form of this type does not
    lapse.
    """
    document: str | None
    """Where you keep the form: a name, number or link."""


SigningScheme = Literal["standard", "ed25519", "stripe", "github", "shopify", "slack", "custom"]

class StatementBalance(TypedDict):
    currency: str
    """The currency of the amounts."""
    opening_amount: int
    """Owed before the first day."""
    earned_amount: int
    """commissions, dated by the sale."""
    adjusted_amount: int
    """Manual credits and debits."""
    refunded_amount: int
    """Below zero: amounts taken by refunds, dated by the refund; reversed refunds do not count."""
    voided_amount: int
    """Below zero: the remaining amounts of commissions that were voided manually."""
    paid_amount: int
    """Below zero: payments, dated by the payment."""
    returned_amount: int
    """Returned payments, less returns that were undone."""
    closing_amount: int
    """Owed after the last day: the opening amount plus all others."""


class SystemDatabase(TypedDict):
    """The database."""

    version: str
    """The version of PostgreSQL."""
    size_bytes: int
    """The size in bytes."""
    started_at: str
    """When it started."""


class SystemBacklog(TypedDict):
    """Of all accounts."""

    queued_count: int
    """Deliveries that somebody must act on, of all accounts."""
    due_count: int
    """Of these, due now at endpoints that are enabled."""
    behind_count: int
    """Of these, behind another delivery of their ordering key, which has to end first."""
    behind_since: str | None
    """When the first of them at an endpoint that is enabled was published."""
    oldest_due_at: str | None
    """Since when the first of them is due."""


class SystemWorkersProcessesItem(TypedDict):
    name: str
    """The name."""
    started_at: str
    """When it started."""


class SystemWorkers(TypedDict):
    """The processes that deliver events."""

    processes: list[SystemWorkersProcessesItem]
    """What delivers at the moment: machine and process."""
    last_claim_at: str | None
    """When one of them last took something to send."""
    in_flight_count: int
    """Attempts under way, of all accounts."""


class SystemChoresItem(TypedDict):
    name: str
    """The name."""
    last_done_at: str
    """By any process; noted once a minute at most."""


class SystemFailingChoresItem(TypedDict):
    name: str
    """The name."""
    since: str
    """Of the first failure."""
    message: str
    """Why it failed the last time."""
    cell: int
    """The cell in which it fails."""


class SystemBackupsLast(TypedDict):
    made_at: str
    """The instant that it holds."""
    file: str
    """Where it was written, on the machine that made it."""
    size_bytes: int
    """The size in bytes."""
    duration_ms: int
    """How long it took, in milliseconds."""


class SystemBackupsFailure(TypedDict):
    """Of BACKUP_EVERY; null when a backup was made since."""

    failed_at: str
    """When it failed."""
    message: str
    """why, and what to do."""


class SystemBackups(TypedDict):
    """Made by `payhook backup`, by any process."""

    last: SystemBackupsLast | None
    """The last backup; null before the first."""
    failure: SystemBackupsFailure | None
    """Of BACKUP_EVERY; null when a backup was made since."""


class SystemAlerts(TypedDict):
    """The alerts of people and channels."""

    waiting_count: int
    """Messages of all accounts that are still to be sent."""
    failed_count: int
    """Given up within the last week."""
    last_error: str | None
    """Why the last of these was given up."""


class SystemReplica(TypedDict):
    """DATABASE_REPLICA_URL, as the server that answers sees it; null when it is not set."""

    is_used: bool
    """Whether lists, reports and CSV files are read from it."""
    problem: str | None
    """Why not; null = it is used."""
    lag_ms: int | None
    """For how long it has not had what the primary has."""
    lag_bytes: int | None
    """WAL of the primary that it has not replayed."""


class SystemCellsItem(TypedDict):
    number: int
    """The number of the cell."""
    state: Literal["open", "draining"]
    """A draining cell takes no new accounts."""
    problem: str | None
    """Why it cannot be used; null = it can."""
    host: str | None
    """Of its PostgreSQL; null = that of cell 0."""
    schema: str | None
    """Null = that of the login."""
    schema_version: int | None
    """Of its last migration; this and the counts are null while it cannot be used."""
    account_count: int | None
    """How many accounts it holds; null if it cannot be reached."""
    due_count: int | None
    """Deliveries that are due now at endpoints that are enabled."""
    worker_count: int | None
    """Processes that deliver."""


class SystemDisk(TypedDict):
    """Where the data folder is; null when the database is elsewhere."""

    free_bytes: int
    """The free bytes of the disk."""
    total_bytes: int
    """The size of the disk in bytes."""


class System(TypedDict):
    object: Literal["system"]
    """The type of the record."""
    schema_version: int
    """Of the last migration."""
    database: SystemDatabase
    """The database."""
    backlog: SystemBacklog
    """Of all accounts."""
    workers: SystemWorkers
    """The processes that deliver events."""
    chores: list[SystemChoresItem]
    """The background work, and when each part last ran."""
    failing_chores: list[SystemFailingChoresItem]
    """Of all cells: what has failed, at every process that tried, since it was last done."""
    backups: SystemBackups
    """Made by `payhook backup`, by any process."""
    alerts: SystemAlerts
    """The alerts of people and channels."""
    version: str
    """Of the program."""
    replica: SystemReplica | None
    """DATABASE_REPLICA_URL, as the server that answers sees it; null when it is not set."""
    cells: list[SystemCellsItem]
    """By number; cell 0 is the database of DATABASE_URL."""
    disk: SystemDisk | None
    """Where the data folder is; null when the database is elsewhere."""


TaxCategory = Literal["S", "Z", "E", "AE", "O"]

TaxForm = Literal["w9", "w8ben", "w8bene", "w8eci", "w8exp", "w8imy", "vat_registration", "other"]

class TaxId(TypedDict):
    type: TaxIdType
    """us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a
    number that is not checked.
    """
    ending: str
    """The last four characters, of a short one fewer."""
    is_lost: bool
    """It was lost with the secret key: set it again."""
    shared_with: list[int]
    """Other affiliates with the same tax id, the first 20 ids."""


TaxIdType = Literal["us_ssn", "us_itin", "us_ein", "vat", "other"]

TaxLegalType = Literal["person", "business"]

class TestWebhookEndpointBody(TypedDict):
    type: NotRequired[str]
    """A type of the catalogue or your own; default webhook_endpoint.test."""
    data: NotRequired[dict[str, Any]]
    """Passed on unchanged; default: that of webhook_endpoint.test."""
    changes: NotRequired[Changes]
    """How the fields of `data` changed."""


class TestWebhookEndpointFilterBody(TypedDict):
    filter: NotRequired[dict[str, Any]]
    """default: the filter of the endpoint."""
    payload: dict[str, Any]
    """A whole event, as sent."""


class UploadedFile(TypedDict):
    name: str | None
    """The name."""
    bytes: int
    """The size in bytes."""


UsTaxFormat = Literal["filing_service", "iris", "tin_matching"]

class UsTaxPayment(TypedDict):
    method: PaidMethod
    """How it was paid."""
    currency: str
    """The currency of the amounts."""
    paid_amount: int
    """Minor units of the currency given with it."""
    returned_amount: int
    """Minor units of the currency given with it."""
    net_amount: int
    """Minor units of the currency given with it."""


class UsTaxReportReportable(TypedDict):
    """The affiliates whose payments must be reported."""

    affiliate_count: int
    """In the United States, with the threshold or more, or something was withheld: they are in the export."""
    amount: int
    """cents: the sum paid to them."""


class UsTaxReport(TypedDict):
    object: Literal["us_tax_report"]
    """The type of the record."""
    year: int
    """The calendar year."""
    time_zone: str
    """Of the account: the year begins and ends at its midnights."""
    threshold_amount: int
    """cents: the sum from which a Form 1099-NEC is due."""
    is_threshold_known: bool
    """false: the threshold of that year was not yet published when this version was released."""
    reportable: UsTaxReportReportable
    """The affiliates whose payments must be reported."""
    processor_amount: int
    """cents: the sum paid by PayPal to anyone."""
    withheld_amount: int
    """cents: the sum withheld, which you owe to the IRS."""
    missing_w9_count: int
    """Affiliates who need a W-9 and have none."""
    missing_w8_count: int
    """Affiliates elsewhere without a W-8."""
    missing_tax_id_count: int
    """Affiliates in the export without a US tax id."""
    other_currency_count: int
    """Affiliates who were also paid in other currencies, which are not converted."""
    states: list[UsTaxState]
    """The states with affiliates to report there; `state_thresholds` of the account replaces the built-in
    table.
    """
    remark: str
    """What the report covers and what it leaves out."""


UsTaxResidence = Literal["us", "foreign", "unknown"]

class UsTaxRow(TypedDict):
    affiliate_id: int
    """The affiliate."""
    name: str | None
    """The name."""
    email: str
    """The e-mail address."""
    legal_name: str | None
    """Of the tax profile."""
    legal_type: TaxLegalType | None
    """The kind of taxpayer; null if unknown."""
    country: str | None
    """Of the tax profile, or of the affiliate."""
    residence: UsTaxResidence
    """By the signed form unless it has lapsed, else by the country."""
    form: TaxForm | None
    """The signed tax form; null if there is none."""
    form_valid_until: str | None
    """The day; null: it does not lapse, or there is none."""
    tax_id_type: TaxIdType | None
    """The type of the tax id; null if unknown."""
    tax_id_ending: str | None
    """The last characters of the tax id; null if unknown."""
    missing_form: MissingTaxForm | None
    """w9: in the United States, or country unknown and paid the threshold or more; w8: elsewhere without a
    W-8, or with one that had lapsed before the year.
    """
    reportable_amount: int
    """cents: paid by methods that you report, less returns."""
    processor_amount: int
    """cents: paid by PayPal, which reports it itself (Form 1099-K), less returns."""
    withheld_amount: int
    """cents: withheld from them (backup withholding, box 4 of Form 1099-NEC), less what returns reversed."""
    is_above_threshold: bool
    """`reportable_amount` is the threshold or more."""
    state: str | None
    """The `region` of a tax profile in the United States, if it has the two letters of a state, in
    capitals.
    """
    state_threshold_amount: int | None
    """cents: the sum from which the state is reported to; null: not at all, or the state is not known."""
    is_above_state_threshold: bool
    """`reportable_amount` is above zero, and `state_threshold_amount` or more."""
    payments: list[UsTaxPayment]
    """Every method and currency, in minor units; other currencies than USD are not converted."""


class UsTaxState(TypedDict):
    state: str
    """The two letters of the state."""
    threshold_amount: int
    """cents: the sum from which the state is reported to."""
    affiliate_count: int
    """With that sum or more."""
    amount: int
    """cents: the sum paid to them."""


class UseVerifiedNameBody(TypedDict):
    name: str
    """`verification.bank_name` of the destination."""
    currency: NotRequired[str]
    """absent: the destination for all currencies."""


class User(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["user"]
    """The type of the record."""
    email: str
    """The e-mail address."""
    name: str
    """The name."""
    role: Role
    """owner: may do everything; member: may do everything except API keys, users and applications;
    finance: manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users
    or API keys; approver: reads, downloads payment files and approves payouts, but changes nothing
    else; viewer: only reads, without payment files and complete account numbers.
    """
    status: UserStatus
    """invited: has not accepted the invitation yet."""
    removed_at: str | None
    """When the user was removed; null while the user belongs to the account."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


UserStatus = Literal["invited", "active", "removed"]

class VoidCommissionBody(TypedDict):
    reason: NotRequired[str | None]
    """The reason."""


class WebhookAcknowledgementsItemsItem(TypedDict):
    id: str
    """The id of the record."""
    lease_id: str
    """Of this claim."""
    result: AcknowledgementResult
    """acknowledged: also if it was before, with the same status; lease_lost: the lease has ended, so
    nothing was changed.
    """


class WebhookAcknowledgements(TypedDict):
    object: Literal["webhook_acknowledgements"]
    """The type of the record."""
    items: list[WebhookAcknowledgementsItemsItem]
    """The results, in the order of the request."""


class WebhookAttempt(TypedDict):
    number: int
    """From 1."""
    trigger: AttemptTrigger
    """manual: a manual retry."""
    status: AttemptStatus
    """The status."""
    url: str | None
    """null: a consumer claimed it."""
    started_at: str
    """When it started; null before that."""
    duration_ms: int
    """How long it took, in milliseconds."""
    request_headers: dict[str, str] | None
    """As sent; the values of your own headers are hidden."""
    request_body: str | None
    """As sent, if it differs from `payload`: thin or a CloudEvent; in a batch its part of the array."""
    batch: AttemptBatch | None
    """How events are sent together in one request; null if each is sent alone."""
    claim: AttemptClaim | None
    """Who claimed it from a pull endpoint; null = it was sent to a URL."""
    response_status: int | None
    """Null without a response."""
    response_headers: dict[str, str] | None
    """As received."""
    response_body: str | None
    """Its first 16 KiB; in a batch of several events its first KiB."""
    response_truncated: bool
    """The body is longer than the stored part."""
    error_code: str | None
    """Why it failed, as a stable code; null if it succeeded."""
    error_message: str | None
    """The same as readable text."""


class WebhookClaim(TypedDict):
    object: Literal["webhook_claim"]
    """The type of the record."""
    items: list[ClaimedEvent]
    """The results, in the order of the request."""


class WebhookEndpoint(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["webhook_endpoint"]
    """The type of the record."""
    delivery: EndpointDelivery
    """push: events are sent to the URL; pull: it has none, and consumers claim its events."""
    url: str | None
    """Where events are sent, including pending ones; null with pull."""
    description: str | None
    """A note of yours."""
    owner: str | None
    """Your name for the recipient: the endpoint also gets events that you publish for this owner, and an
    endpoint that has an owner keeps it.
    """
    external_id: str | None
    """Your own id of the endpoint, unique in the account."""
    contact_email: str | None
    """The e-mail address that is notified when the endpoint fails, is disabled or works again, once it was
    confirmed by a link.
    """
    contact_status: ContactStatus
    """off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail;
    none: there is no address; unsent: no link was sent yet; waiting: a link was sent; expired: it was
    not opened for 7 days; confirmed: the address gets e-mails.
    """
    event_types: list[str] | None
    """The types of events that it receives; null = all."""
    filter: dict[str, Any] | None
    """Conditions on the payload; null = none."""
    status: EndpointStatus
    """Events for a disabled endpoint are held until it is enabled."""
    disabled_reason: DisabledReason | None
    """manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it
    answered `webhook-delivery: disable`.
    """
    disabled_at: str | None
    """When it was disabled; null while it is enabled."""
    paused_until: str | None
    """Nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503,
    504).
    """
    next_attempt_at: str | None
    """When the first waiting event is due; null if no event is waiting or the endpoint is disabled."""
    ordered: bool
    """Events with the same ordering key are sent one after the other, in the order in which they were
    published.
    """
    batch: Batch | None
    """How events are sent together in one request; null if each is sent alone."""
    rate_limit: int | None
    """The most requests that it is sent in a second; null = no limit."""
    max_age: int | None
    """An event that was not delivered this many seconds after it was created is cancelled instead of sent;
    seconds; null = no limit.
    """
    headers: list[str]
    """Your own headers, sent with every delivery; the names; the values are never shown."""
    payload: PayloadForm
    """The form of the events: a thin one has no data, which the receiver reads with an API key; full: the
    whole event. thin: the event without its `data`, but with the id of its subject and the path to read
    it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts.
    """
    api_version: str
    """The version of the API in which it receives events; by default the current one when the endpoint is
    created.
    """
    signing: SigningScheme
    """standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets.
    stripe, github, shopify, slack: as these services sign, so that receivers written for them need no
    change. custom: as `custom_signing` says.
    """
    custom_signing: CustomSigning | None
    """The scheme of `signing: custom`; null with another scheme."""
    second_signature: SecondSignature | None
    """A further signature that is sent until it expires; null if there is none."""
    proxy: str | None
    """The HTTP proxy of requests, without its password; null = that of the server, if any."""
    client_certificate: ClientCertificate | None
    """The certificate shown to the receiver (mTLS), without its key; null if there is none."""
    client_credentials: ClientCredentials | None
    """How access tokens for the receiver are requested (OAuth 2); null if none are."""
    metadata: dict[str, str]
    """Your own keys and texts."""
    first_failure_at: str | None
    """When the first of the current failures happened; null after a success."""
    last_claimed_at: str | None
    """When a consumer last asked for events, to the minute; null with push."""
    last_success_at: str | None
    """When a delivery last succeeded; null if none has."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class WebhookEndpointDisabledEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["webhook_endpoint.disabled"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    changes: Changes
    """How the fields of `data` changed."""
    data: WebhookEndpoint
    """The records of this page, in the requested order."""


class WebhookEndpointSecret(TypedDict):
    object: Literal["webhook_endpoint_secret"]
    """The type of the record."""
    secret: str | None
    """What the receiver verifies with; with `signing: ed25519` the public key; null when a stored answer
    is replayed.
    """
    previous_secret_expires_at: str | None
    """When the second signature ends: that of the previous secret, or one that was given."""
    public_keys_url: str | None
    """With `signing: ed25519`: where anyone can read the public keys, as a JSON Web Key Set."""


class WebhookEndpointTestEventData(TypedDict):
    """The records of this page, in the requested order."""

    object: Literal["webhook_test"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint to which it was sent."""
    message: str
    """A text that says that it is a test."""


class WebhookEndpointTestEvent(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["event"]
    """The type of the record."""
    type: Literal["webhook_endpoint.test"]
    """The type, such as `payout.paid`."""
    timestamp: str
    """When the change happened."""
    account_id: str
    """The account that it belongs to."""
    api_version: Literal["2.0.0"]
    """The version of the API that the form of the event belongs to."""
    is_test: NotRequired[bool]
    """Sent to test the endpoint: nothing happened."""
    data: WebhookEndpointTestEventData
    """The records of this page, in the requested order."""


class WebhookEndpointToken(TypedDict):
    object: Literal["webhook_endpoint_token"]
    """The type of the record."""
    token: str | None
    """The secret, shown once; null when a stored answer is replayed."""
    previous_token_expires_at: str | None
    """null: there is none."""


class WebhookEvent(TypedDict):
    id: str
    """The event's id: `webhook-id` for the receiver."""
    object: Literal["webhook_event"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint it is sent to."""
    type: str
    """The type, such as `payout.paid`."""
    status: DeliveryStatus
    """held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too
    old, or given up by the receiver.
    """
    attempt_count: int
    """Attempts made so far."""
    next_attempt_at: str | None
    """Null if none is planned, or it waits for another event."""
    waits_for: str | None
    """The event of the same ordering key that must end first, at an ordered endpoint; null = none."""
    last_attempt_at: str | None
    """When the last attempt was made; null before the first."""
    last_response_status: int | None
    """Of the last attempt; null without a response."""
    last_error_code: str | None
    """Why the last attempt failed."""
    delivered_at: str | None
    """When it was delivered; null if it was not."""
    created_at: str
    """When it was created."""


class WebhookEventAt(TypedDict):
    url: str | None
    """The current URL of the endpoint; null: it has none."""
    id: str
    """The event's id: `webhook-id` for the receiver."""
    object: Literal["webhook_event"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint it is sent to."""
    type: str
    """The type, such as `payout.paid`."""
    status: DeliveryStatus
    """held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too
    old, or given up by the receiver.
    """
    attempt_count: int
    """Attempts made so far."""
    next_attempt_at: str | None
    """Null if none is planned, or it waits for another event."""
    waits_for: str | None
    """The event of the same ordering key that must end first, at an ordered endpoint; null = none."""
    last_attempt_at: str | None
    """When the last attempt was made; null before the first."""
    last_response_status: int | None
    """Of the last attempt; null without a response."""
    last_error_code: str | None
    """Why the last attempt failed."""
    delivered_at: str | None
    """When it was delivered; null if it was not."""
    created_at: str
    """When it was created."""


class WebhookEventWithAttempts(TypedDict):
    id: str
    """The event's id: `webhook-id` for the receiver."""
    object: Literal["webhook_event"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The endpoint it is sent to."""
    type: str
    """The type, such as `payout.paid`."""
    status: DeliveryStatus
    """held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too
    old, or given up by the receiver.
    """
    attempt_count: int
    """Attempts made so far."""
    next_attempt_at: str | None
    """Null if none is planned, or it waits for another event."""
    waits_for: str | None
    """The event of the same ordering key that must end first, at an ordered endpoint; null = none."""
    last_attempt_at: str | None
    """When the last attempt was made; null before the first."""
    last_response_status: int | None
    """Of the last attempt; null without a response."""
    last_error_code: str | None
    """Why the last attempt failed."""
    delivered_at: str | None
    """When it was delivered; null if it was not."""
    created_at: str
    """When it was created."""
    payload: dict[str, Any]
    """The event as sent."""
    attempts: list[WebhookAttempt]
    """The attempts, the latest first."""


class WebhookLeasesItemsItem(TypedDict):
    id: str
    """The id of the record."""
    lease_id: str
    """Of this claim."""
    result: LeaseResult
    """lease_lost: the lease has ended, so nothing was changed."""
    lease_expires_at: str | None
    """null: nobody has the event now."""


class WebhookLeases(TypedDict):
    object: Literal["webhook_leases"]
    """The type of the record."""
    items: list[WebhookLeasesItemsItem]
    """The results, in the order of the request."""


class WebhookRecovery(TypedDict):
    id: str
    """The id of the record."""
    object: Literal["webhook_recovery"]
    """The type of the record."""
    webhook_endpoint_id: str
    """The webhook endpoint."""
    action: RecoveryAction
    """recover: sends the events again; discard: cancels those that wait."""
    status: RecoveryStatus
    """paused: the endpoint is disabled; the recovery continues when it is enabled."""
    filters: RecoveryFilters
    """What the recovery sends again, or the discard cancels."""
    processed_until: str | None
    """Its progress from `since` to `until`: events created before this were processed."""
    queued_count: int
    """Events it queued; 0 for a discard."""
    discarded_count: int
    """Events it cancelled; 0 for a recovery."""
    skipped_count: int
    """Events that were already due or being sent: that attempt counts."""
    created_by: str
    """Who created it: the id of a key, a user or an application."""
    created_at: str
    """When it was created."""
    started_at: str | None
    """When it started; null before that."""
    completed_at: str | None
    """When it was completed; null before that."""
    cancelled_at: str | None
    """When it was cancelled; null if it was not."""


WebhookBody = Union[
    "PayoutCreatedEvent",
    "PayoutUpdatedEvent",
    "PayoutApprovedEvent",
    "PayoutRejectedEvent",
    "PayoutPaidEvent",
    "PayoutDeletedEvent",
    "CommissionCreatedEvent",
    "CommissionUpdatedEvent",
    "CommissionVoidedEvent",
    "CommissionClawedBackEvent",
    "CommissionsImportedEvent",
    "AffiliateCreatedEvent",
    "AffiliateUpdatedEvent",
    "AffiliateDeletedEvent",
    "ImportUndoneEvent",
    "WebhookEndpointDisabledEvent",
    "WebhookEndpointTestEvent",
]
"""An event of Payhook as it is sent to an endpoint with `payload: full`; `type` distinguishes them."""
