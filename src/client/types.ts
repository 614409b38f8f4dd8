/** A page of a list with its exact total. */
export interface List<Item> {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly page: number;
    readonly limit: number;
    readonly total: number;
    readonly pages: number;
  };
}

export interface ListQuery {
  readonly page?: string;
  readonly per_page?: string;
  readonly sort?: string;
  readonly status?: string;
  readonly email?: string;
}

export interface ApiKey {
  readonly id: string;
  readonly object: 'api_key';
  readonly name: string;
  /** The first and last characters of the key. */
  readonly hint: string;
  readonly created_by: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
}

/** A key just made. `key` is null when the first answer was lost and this one is its replay. */
export interface NewApiKey extends ApiKey {
  readonly key: string | null;
}

export type Role = 'owner' | 'member' | 'viewer';

export interface User {
  readonly id: string;
  readonly object: 'user';
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly status: 'invited' | 'active' | 'removed';
  readonly removed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A user just invited. The link is null when the first answer was lost and this one is its replay. */
export interface NewUser extends User {
  readonly invitation_url: string | null;
}

/** A link to choose a new password; null as in NewUser. */
export interface PasswordReset {
  readonly object: 'password_reset';
  readonly user_id: string;
  readonly reset_url: string | null;
  readonly expires_at: string;
}

/** Minor units of one currency. */
export interface Money {
  readonly currency: string;
  readonly amount: number;
}

export interface PayoutTotal extends Money {
  readonly commission_count: number;
  readonly affiliate_count: number;
  readonly paid_amount: number;
  readonly paid_count: number;
  readonly released_amount: number;
  readonly released_count: number;
}

export interface PayoutLine {
  readonly affiliate_id: number;
  readonly name: string | null;
  readonly email: string | null;
  readonly payout_method: string | null;
  /** null until the payout is completed. */
  readonly is_paid: boolean | null;
  readonly totals: readonly (Money & { readonly commission_count: number })[];
  readonly payment_reference: string | null;
}

/** Who was left out of a payout, and why. */
export interface Exclusion {
  readonly reason: string;
  readonly affiliate_count: number;
  readonly totals: readonly (Money & {
    readonly commission_count: number;
    readonly affiliate_count: number;
  })[];
}

export interface PayoutSummary {
  readonly id: string;
  readonly object: 'affiliate_payout';
  readonly number: number;
  readonly status: 'unpaid' | 'paid';
  readonly filters: Readonly<Record<string, unknown>> | null;
  readonly search: string | null;
  readonly as_of: string;
  readonly totals: readonly PayoutTotal[];
  readonly affiliate_count: number;
  readonly commission_count: number;
  readonly revision: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly paid_at: string | null;
  readonly paid_by: string | null;
}

export interface Payout extends PayoutSummary {
  /** All lines, or null when there are more than 1,000. */
  readonly affiliates: readonly PayoutLine[] | null;
  readonly excluded: readonly Exclusion[];
}

export interface CompletedPayout extends Payout {
  readonly unlisted_affiliate_count: number;
}

type NotYet = 'id' | 'number' | 'revision' | 'created_by' | 'created_at';

/** What creating a payout would make now. */
export type PayoutPreview = Omit<Payout, NotYet> & { readonly [Field in NotYet]: null } & {
  readonly current_payout_id: string | null;
};

export interface PayoutSelection {
  readonly filters?: unknown;
  readonly search?: string;
  readonly ignore_minimum?: boolean;
}

export interface PaidEntry {
  readonly affiliate_id: number;
  readonly is_paid: boolean;
  readonly payment_reference?: string;
}

export interface BadLine {
  readonly line: number;
  readonly message: string;
}

interface ImportReport {
  readonly dry_run: boolean;
  readonly lines: number;
  readonly created: number;
  readonly unchanged: number;
  readonly failed: number;
  /** The first 1,000 bad lines. */
  readonly errors: readonly BadLine[];
}

export interface AffiliateImport extends ImportReport {
  readonly object: 'affiliate_import';
  readonly updated: number;
}

export interface CommissionImport extends ImportReport {
  readonly object: 'commission_import';
  /** Sums of the good lines. */
  readonly totals: readonly (Money & { readonly count: number })[];
}

export interface ImportOptions {
  readonly dryRun: boolean;
  readonly partial: boolean;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly object: 'webhook_endpoint';
  readonly url: string;
  readonly description: string | null;
  /** null = all. */
  readonly event_types: readonly string[] | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabled_reason: 'manual' | 'failing' | 'gone' | null;
  readonly disabled_at: string | null;
  readonly rate_limit: number | null;
  /** Names of the own headers; their values are never shown. */
  readonly headers: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly first_failure_at: string | null;
  readonly last_success_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An endpoint just made. `secret` is null when the first answer was lost and this one is its replay. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  readonly secret: string | null;
}

/** What an endpoint may be made of or changed to. */
export interface WebhookEndpointInput {
  readonly url?: string;
  readonly description?: string | null;
  readonly event_types?: readonly string[] | null;
  readonly status?: 'enabled' | 'disabled';
}

export interface WebhookEndpointSecret {
  readonly object: 'webhook_endpoint_secret';
  /** null when the answer is a replay. */
  readonly secret: string | null;
  /** Until when the one before signs too. */
  readonly previous_secret_expires_at: string | null;
}

/** A record of the delivery log: one event at one endpoint. */
export interface WebhookEvent {
  /** The event's id, which the receiver sees as `webhook-id`. */
  readonly id: string;
  readonly object: 'webhook_event';
  readonly webhook_endpoint_id: string;
  readonly type: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'held';
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly last_attempt_at: string | null;
  readonly last_response_status: number | null;
  readonly last_error_code: string | null;
  readonly delivered_at: string | null;
  readonly created_at: string;
}

export interface WebhookAttempt {
  readonly number: number;
  readonly trigger: 'scheduled' | 'manual' | 'recovery';
  readonly status: 'succeeded' | 'failed';
  readonly url: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly request_headers: Readonly<Record<string, string>> | null;
  readonly response_status: number | null;
  readonly response_headers: Readonly<Record<string, string>> | null;
  readonly response_body: string | null;
  /** Whether the body went on after what is kept of it. */
  readonly response_truncated: boolean;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** A record of the log with what was sent and what came back. */
export interface WebhookEventWithAttempts extends WebhookEvent {
  readonly payload: PublishedEvent;
  readonly attempts: readonly WebhookAttempt[];
}

/** Which records of the delivery log, or which endpoints. */
export interface WebhookQuery extends ListQuery {
  readonly type?: string;
  readonly webhook_endpoint_id?: string;
}

/** A whole event, as it is sent. */
export interface PublishedEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  readonly timestamp: string;
  readonly account_id: string;
  readonly api_version: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event to publish. */
export interface EventInput {
  readonly type: string;
  /** A JSON object as text: it is passed on as it stands, however long its numbers are. */
  readonly dataText: string;
  readonly external_id?: string;
}
