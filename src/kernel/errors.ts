/** The `code` of an error body: one of six. docs/errors.md shows the body. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'internal_error';

interface Reason {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500 | 503;
  readonly meaning: string;
}

/**
 * Every machine-readable reason that the API returns in the `Payhook-Reason` header, with its status and meaning. The
 * table in docs/errors.md is generated from this one, and only reasons listed here can be thrown.
 */
export const REASONS = {
  // The request itself
  invalid_json: { status: 400, meaning: 'The body is not valid UTF-8 JSON.' },
  duplicate_key: { status: 400, meaning: 'An object in the body has the same key twice.' },
  invalid_body: { status: 400, meaning: 'A field of the body is missing or breaks its rule.' },
  unknown_field: { status: 400, meaning: 'The body has a key this operation does not know.' },
  invalid_query: { status: 400, meaning: 'A query parameter breaks its rule.' },
  unknown_query_parameter: { status: 400, meaning: 'The operation does not know this query parameter.' },
  unsupported_media_type: { status: 400, meaning: 'The Content-Type is not the one this operation reads.' },
  body_too_large: { status: 400, meaning: 'The body is larger than the operation accepts.' },
  malformed_request: { status: 400, meaning: 'The HTTP request could not be read.' },
  request_timeout: { status: 400, meaning: 'The request arrived too slowly; its connection is closed.' },
  invalid_idempotency_key: {
    status: 400,
    meaning: 'Idempotency-Key is empty, longer than 255 characters or not printable ASCII.',
  },
  invalid_if_match: { status: 400, meaning: 'If-Match is not an ETag of a payout.' },
  method_not_allowed: { status: 405, meaning: 'The path does not support this method.' },
  // The caller
  missing_credentials: { status: 401, meaning: 'No usable Authorization: Bearer header.' },
  invalid_credentials: {
    status: 401,
    meaning: 'The API key, token or session is unknown, expired or revoked.',
  },
  insufficient_scope: { status: 403, meaning: 'The token does not hold the scope the operation needs.' },
  full_access_required: {
    status: 403,
    meaning: 'No application may use the operation: it takes an API key or a signed-in user.',
  },
  installation_only: {
    status: 403,
    meaning: 'Only the operator may see this: the oldest account, and the command line on the server.',
  },
  person_required: {
    status: 403,
    meaning: 'Only a person who is signed in to the dashboard may do this, not a key or an application.',
  },
  owner_required: {
    status: 403,
    meaning:
      'Only a signed-in owner or the operator may do this, not a key: it affects who can approve payouts.',
  },
  approver_is_creator: {
    status: 403,
    meaning:
      'The user created the payout, directly or through a key or an application, and cannot approve it.',
  },
  approver_changed_payout: {
    status: 403,
    meaning:
      'The user changed the payout since it was created, directly or through a key or an application, and cannot approve it.',
  },
  approver_let_in: {
    status: 403,
    meaning:
      'After the payout was created, its author, somebody who changed it, or a key invited the user, raised their role or made ' +
      'a link to set their password.',
  },
  role_too_low: {
    status: 403,
    meaning: "The user's role does not allow the operation; the message names the roles that do.",
  },
  not_in_portal: {
    status: 403,
    meaning: 'A portal manages the webhook endpoints of one owner, and nothing else.',
  },
  not_for_consumers: { status: 403, meaning: 'The token of a pull endpoint only claims and acknowledges.' },
  cross_site_request: {
    status: 403,
    meaning: 'A request with a session must come from a page of this server.',
  },
  rate_limited: {
    status: 429,
    meaning: 'The account or the key sent too many requests; try again after Retry-After.',
  },
  // The target
  unknown_route: { status: 404, meaning: 'There is no operation at this path.' },
  resource_missing: { status: 404, meaning: 'No such record in this account.' },
  no_current_payout: { status: 404, meaning: 'The account has no unpaid payout.' },
  current_is_read_only: {
    status: 404,
    meaning: '`current` can only be read; PUT and DELETE need the id.',
  },
  // Its state
  idempotency_key_reused: { status: 409, meaning: 'The Idempotency-Key was used for another request.' },
  duplicate_external_id: {
    status: 409,
    meaning:
      'The external_id exists with different content; for an affiliate, Location names the existing one.',
  },
  duplicate_email: {
    status: 409,
    meaning:
      'Another affiliate, which Location names, or another user of the account has this e-mail address.',
  },
  member_elsewhere: {
    status: 409,
    meaning: 'The user is also a member of another account, so an owner cannot set their password.',
  },
  last_owner: {
    status: 409,
    meaning: 'An account must keep at least one owner, and one who can sign in if it ever had one.',
  },
  duplicate_name: { status: 409, meaning: 'Another record of the account has this name.' },
  current_payout_exists: { status: 409, meaning: 'The account already has an unpaid payout.' },
  affiliate_in_payout: {
    status: 409,
    meaning: 'The affiliate is in the unpaid payout; complete or delete it before the affiliate is erased.',
  },
  nothing_to_pay: {
    status: 409,
    meaning: 'No commission is left to pay after filters and rules were applied.',
  },
  payout_is_paid: { status: 409, meaning: 'The payout is paid, and a paid payout never changes.' },
  payout_changed: {
    status: 409,
    meaning: 'If-Match or `revision` names a revision of the payout that is not the current one.',
  },
  approval_missing: {
    status: 409,
    meaning:
      'The account requires a second person to approve a payout before it is paid, or two people if its author is unknown.',
  },
  signals_unreviewed: { status: 409, meaning: 'A signal blocks until somebody has reviewed it.' },
  approval_not_needed: { status: 409, meaning: 'The account does not require approval of payouts.' },
  commission_is_paid: { status: 409, meaning: 'The commission is paid; use a refund.' },
  commission_is_voided: { status: 409, meaning: 'The commission is voided.' },
  commission_is_held: { status: 409, meaning: 'The commission is already held for review.' },
  commission_not_held: { status: 409, meaning: 'The commission is not held for review.' },
  wrong_commission_type: {
    status: 409,
    meaning: 'The operation is not possible for commissions of this type.',
  },
  refund_is_reversed: { status: 409, meaning: 'The refund is already reversed.' },
  refund_is_settled: {
    status: 409,
    meaning: 'A payout was paid less because of the refund; credit the affiliate with an adjustment.',
  },
  commission_is_bound: {
    status: 409,
    meaning:
      'The commission belongs to an earlier payout (a return or a carried rest), so it cannot be voided directly.',
  },
  already_returned: { status: 409, meaning: 'All money of this line is already booked as returned.' },
  return_is_undone: { status: 409, meaning: 'The return is already undone.' },
  return_paid_again: {
    status: 409,
    meaning: 'The returned money was paid again, so the return cannot be undone.',
  },
  no_verified_name: {
    status: 409,
    meaning: 'The bank of the payee has not given this name for the destination.',
  },
  correction_not_open: { status: 409, meaning: 'The correction was decided before, or is outdated.' },
  line_not_paid: { status: 409, meaning: 'The affiliate was not paid in this payout.' },
  event_owner_missing: { status: 409, meaning: 'The account requires an owner of each event.' },
  endpoint_owner_fixed: { status: 409, meaning: 'A webhook endpoint that has an owner keeps it.' },
  not_a_pull_endpoint: { status: 409, meaning: 'The webhook endpoint has a URL: its events are sent.' },
  endpoint_disabled: { status: 409, meaning: 'The webhook endpoint is disabled; enable it first.' },
  endpoint_deleted: { status: 409, meaning: 'The webhook endpoint was deleted; only its log is left.' },
  recovery_in_progress: { status: 409, meaning: 'The webhook endpoint already has a recovery in progress.' },
  recovery_ended: { status: 409, meaning: 'The recovery is completed or cancelled.' },
  application_is_public: { status: 409, meaning: 'A public OAuth application has no secret.' },
  email_not_sent: { status: 409, meaning: 'No e-mail is sent: SMTP_URL or contact_notices is not set.' },
  nothing_to_confirm: { status: 409, meaning: 'There is no contact_email, or it is confirmed.' },
  too_many_channels: { status: 409, meaning: 'The account has the maximum number of alert channels.' },
  too_many_endpoints: { status: 409, meaning: 'The account or owner has the maximum number of endpoints.' },
  too_many_event_types: { status: 409, meaning: 'The account has 200 event types of its own.' },
  too_many_uploads: {
    status: 409,
    meaning: 'Other files are being read; try again after Retry-After.',
  },
  import_is_undone: { status: 409, meaning: 'The import is already undone.' },
  import_undo_ended: {
    status: 409,
    meaning: 'The data for undoing the import was deleted after IMPORT_UNDO_DAYS.',
  },
  import_is_used: {
    status: 409,
    meaning:
      'A record of the import has since been paid here, refunded, returned, invoiced or changed, or is in a payout; the message names it.',
  },
  no_invoicing: {
    status: 409,
    meaning: 'The account has no `invoicing` or no `tax_profile`, which invoices need.',
  },
  tax_id_lost: { status: 409, meaning: 'The tax id on the invoice was lost with the secret key.' },
  no_xml_invoice: { status: 409, meaning: 'EN 16931 cannot express the currency of the invoice.' },
  no_invoices: { status: 409, meaning: 'The payout has no invoices.' },
  no_electronic_address: { status: 409, meaning: 'Peppol needs an electronic address of both sides.' },
  payout_not_paid: { status: 409, meaning: 'The payout is not completed yet.' },
  amount_too_large: {
    status: 409,
    meaning:
      'A sum, such as the balance of an affiliate, would exceed 9007199254740991 minor units, or the maximum of a payment file.',
  },
  too_many_files_today: {
    status: 409,
    meaning: 'The originator has used all file id modifiers or trace numbers of NACHA files for today.',
  },
  // The content of the request
  unknown_filter: { status: 400, meaning: 'The filters name an unknown field.' },
  unknown_operator: { status: 400, meaning: 'The field or filter does not have this operator.' },
  invalid_filter: {
    status: 400,
    meaning:
      'A filter is malformed, or one of its values has the wrong type, is empty or contradicts another.',
  },
  too_many_filters: { status: 400, meaning: 'More than 50 conditions or 1,000 values.' },
  unknown_affiliate: { status: 400, meaning: 'An affiliate named in the request does not exist.' },
  unknown_program: { status: 400, meaning: 'A program named in the request does not exist.' },
  duplicate_entry: { status: 400, meaning: 'The same affiliate, line or record is listed twice.' },
  affiliate_not_in_payout: { status: 400, meaning: 'A listed affiliate has no line in the payout.' },
  affiliates_missing: {
    status: 400,
    meaning: 'require_all is set, but some lines of the payout are not listed.',
  },
  several_currencies: {
    status: 400,
    meaning: 'The file holds one currency, but the payout has several; choose one with currency.',
  },
  currency_not_in_payout: { status: 400, meaning: 'The payout pays nothing in this currency.' },
  affiliates_not_in_file: {
    status: 400,
    meaning: 'The file cannot pay some affiliates; allow_skipped leaves them out.',
  },
  empty_payment_file: { status: 400, meaning: 'The file can pay nobody, so it would have no rows.' },
  destination_waiting: {
    status: 409,
    meaning:
      "The affiliate's payout destination changed too recently: see `destination_wait_hours` of the account.",
  },
  no_payer: {
    status: 409,
    meaning: 'The account has no sender for the bank file: set its `debtor` (SEPA) or `originator` (NACHA).',
  },
  several_parts: {
    status: 400,
    meaning: 'There are more rows than one file can hold; choose a part with `part`.',
  },
  no_such_part: { status: 400, meaning: 'The payment file has fewer parts.' },
  refund_exceeds_rest: { status: 400, meaning: 'The refund is larger than the rest of the commission.' },
  return_exceeds_paid: {
    status: 400,
    meaning: 'The returned amount is larger than the paid amount.',
  },
  invalid_amount: { status: 400, meaning: 'An amount is missing, zero, of the wrong sign or out of range.' },
  invalid_file: { status: 400, meaning: 'The file cannot be read or lacks a column.' },
  result_of_another_payout: {
    status: 400,
    meaning: 'The result file contains no payment of this payout.',
  },
  invalid_lines: { status: 400, meaning: 'Lines of the CSV file break rules; nothing was written.' },
  invalid_mapping: {
    status: 400,
    meaning: 'The mapping of an import names a field or column that does not exist, or maps a field twice.',
  },
  import_not_confirmed: {
    status: 400,
    meaning: 'Column meanings were guessed. Map them, or set `accept_guesses`.',
  },
  import_unclear: {
    status: 400,
    meaning:
      'The file has several readings, or unknown words or dates, that affect money: answer the question.',
  },
  invalid_items: { status: 400, meaning: 'Items of the batch break rules; nothing was written.' },
  invalid_url: { status: 400, meaning: 'Events may not be sent to this URL.' },
  invalid_redirect_uri: {
    status: 400,
    meaning: 'A redirect URI is not allowed for this kind of OAuth application.',
  },
  invalid_header: {
    status: 400,
    meaning: 'A header of the endpoint has a name or value that cannot be sent.',
  },
  invalid_signing: {
    status: 400,
    meaning: 'The scheme of a signature is incomplete or has an unusable header or template.',
  },
  invalid_secret: { status: 400, meaning: 'The signing secret cannot be used with the scheme.' },
  invalid_proxy: { status: 400, meaning: 'The proxy of the endpoint cannot be used.' },
  invalid_client_credentials: {
    status: 400,
    meaning: 'The client credentials cannot be used to get access tokens.',
  },
  invalid_client_certificate: {
    status: 400,
    meaning: 'The client certificate or its key cannot be used, or it has expired.',
  },
  invalid_event_type: { status: 400, meaning: 'The event type does not exist or cannot be used here.' },
  reserved_event_type: { status: 400, meaning: 'Only Payhook publishes event types with this prefix.' },
  invalid_schema: { status: 400, meaning: 'The schema or the example of an event type breaks a rule.' },
  event_violates_schema: { status: 400, meaning: 'An event violates the schema of its type.' },
  too_much_work: {
    status: 400,
    meaning:
      'Reading the file or making the document exceeded the time or memory of one request: split the file, or choose a smaller range.',
  },
  too_much_to_search: {
    status: 400,
    meaning:
      'The filters of the account would search more than 256 MiB for one request (the number of their $contains times the size of the body).',
  },
  payload_too_large: { status: 400, meaning: 'The event would be larger than 256 KiB.' },
  // The server
  internal_error: {
    status: 500,
    meaning: 'An unexpected error; the server logged it with the request id.',
  },
  database_unavailable: {
    status: 500,
    meaning: 'PostgreSQL cannot be reached; try again after Retry-After.',
  },
  cell_unavailable: {
    status: 503,
    meaning: 'The database that holds the account cannot be used at the moment; try again after Retry-After.',
  },
  disk_full: {
    status: 500,
    meaning: 'The disk of the database or of this server is full; nothing was written.',
  },
  took_too_long: {
    status: 500,
    meaning: 'A statement took longer than the server allows; nothing was written.',
  },
  shutting_down: { status: 500, meaning: 'The server is stopping; try again after Retry-After.' },
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof REASONS;

const CODES: Record<Reason['status'], ErrorCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'bad_request',
  409: 'conflict',
  429: 'conflict',
  500: 'internal_error',
  503: 'internal_error',
};

/** An error that is reported to the caller: reason (see REASONS), message for people, extra response headers. */
export class Failure extends Error {
  readonly reason: ReasonName;
  readonly status: Reason['status'];
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: ReasonName, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'Failure';
    this.reason = reason;
    this.status = REASONS[reason].status;
    this.code = CODES[this.status];
    this.headers = headers;
  }
}

/** Builds the error to throw: `throw fail('payout_is_paid', 'payout po_… is paid …')`. */
export function fail(reason: ReasonName, message: string, headers?: Record<string, string>): Failure {
  return new Failure(reason, message, headers);
}

/** Lists ids in a message: the first 20, then "and N more". */
export function nameSome(items: readonly (string | number | bigint)[], total = items.length): string {
  const shown = items.slice(0, 20).join(', ');
  const rest = total - Math.min(items.length, 20);
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** Refuses a batch of `count` items. The message has the first 20 problems, each naming its item. */
export function failItems(
  problems: readonly string[],
  count: number,
  reason: ReasonName = 'invalid_items',
): Failure {
  const shown = problems.slice(0, 20).join('; ');
  const rest = problems.length > 20 ? `; and ${problems.length - 20} more` : '';
  return fail(reason, `${problems.length} of ${count} items are bad, nothing was written: ${shown}${rest}`);
}
