import type { CommissionInput, PublishEventBody } from './api.ts';
import type { Calls, KeyedOptions, Method, OperationId } from './calls.ts';

/** An event whose data is JSON text and sent as it is, so that numbers that JavaScript would round arrive unchanged. */
export interface EventText extends Omit<PublishEventBody, 'data'> {
  /** A JSON object. */
  readonly dataText: string;
}

/** Options of `commissions.createMany`. */
export interface BatchOptions extends KeyedOptions {
  /** Each commission by itself; by default all or none. */
  readonly partial?: boolean | undefined;
}

/** Every operation of the API, by resource. The OpenAPI description documents each in full. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with a line per operation
export function resourcesOf({ method, send }: Calls) {
  return {
    me: {
      /** The caller: the key, token or session of this client, and its permissions. */
      get: method('getMe'),
      /** The browsers in which the signed-in person is signed in. */
      sessions: method('listOwnSessions'),
      endSession: method('endOwnSession'),
      endOtherSessions: method('endOtherSessions'),
    },
    actors: {
      /** The names behind `created_by`, `paid_by` and the like. */
      get: method('getActors'),
    },
    system: {
      /** The state of the installation, for the account that was created first. */
      get: method('getSystem'),
    },
    /** The account of the API key. */
    account: {
      /** The account and its settings. */
      get: method('getAccount'),
      /** Changes settings: the hold, the minimums, the currency. */
      change: method('changeAccount'),
    },
    /** Who gets how much, and who has been paid. */
    payouts: {
      list: method('listPayouts'),
      /**
       * Creates a payout of everything owed that matches. Refused with `current_payout_exists` while another is unpaid.
       */
      create: method('createPayout'),
      /** What `create` would create now, without creating it. */
      preview: method('previewPayout'),
      /** Who `create` would pay, a page at a time: the first argument selects, the second is the page. */
      previewAffiliates: method('previewPayoutAffiliates'),
      /** Who `create` would leave out, and what would have to change for them. */
      previewExcluded: method('previewPayoutExclusions'),
      /** The unpaid payout; refused with `no_current_payout` when there is none. */
      current: method('getCurrentPayout'),
      /** A payout; the id may be `current`, here and in the calls below that read a payout. */
      get: method('getPayout'),
      /**
       * Records who was paid, for good. Affiliates listed as not paid, or not listed, are owed again. Pass
       * `require_all: true` and `{ ifMatch: payout.revision }` so that nobody is forgotten and nothing has changed
       * since.
       */
      complete: method('completePayout'),
      /** How the approval stands, and who may give one. */
      approval: method('getPayoutApproval'),
      /** For accounts that want a second person: with the session of one, and the revision they looked at. */
      approve: method('approvePayout'),
      reject: method('rejectPayout'),
      /** Deletes an unpaid payout; its commissions are owed again. */
      delete: method('deletePayout'),
      /** The commissions as CSV: all of an unpaid payout, those that were paid of a paid one. */
      download: method('downloadPayout'),
      /** The lines: one per affiliate. */
      affiliates: method('listPayoutAffiliates'),
      commissions: method('listPayoutCommissions'),
      /** Who was left out, and why. */
      excluded: method('listPayoutExclusions'),
      /** The payment files it needs, who is left out of each and why, and who downloaded them. */
      paymentFiles: method('getPaymentFiles'),
      /** A payment file, for whoever makes the payments: `summary`, `paypal`, `wise`. */
      paymentFile: method('downloadPaymentFile'),
      /** What a bank or provider answered, compared with the payout; nothing is changed. */
      takeResult: method('takePayoutResult'),
      /** The files that were taken so. */
      results: method('listPayoutResults'),
      /** Records a returned payment, in full or in part: the affiliate is owed it again. */
      returned: method('returnPayoutLine'),
      /** The returned payments of an affiliate. */
      returns: method('listPayoutReturns'),
      /** Undoes a return that was recorded by mistake, as long as its money was not paid again. */
      undoReturn: method('undoPayoutReturn'),
    },
    /** The people who are paid. */
    affiliates: {
      /** With their balances; `{ sort: '-unpaid' }` starts with the highest. */
      list: method('listAffiliates'),
      /** The total owed, by currency and state. */
      balances: method('getBalances'),
      create: method('createAffiliate'),
      /** Creates and updates affiliates from a CSV file, in one transaction. */
      import: method('importAffiliates'),
      /** An affiliate with its balance. */
      get: method('getAffiliate'),
      change: method('changeAffiliate'),
      /** Erases the person behind an affiliate; amounts stay. It cannot be undone. */
      erase: method('eraseAffiliate'),
      /** An affiliate with its balance, by your own id. */
      getByExternalId: method('getAffiliateByExternalId'),
      /** Creates the affiliate with this id of yours, or updates the given fields if it exists. */
      putByExternalId: method('putAffiliateByExternalId'),
      /** Where an affiliate is paid; account numbers by their last four characters. */
      destinations: method('getAffiliateDestinations'),
      /** Sets where an affiliate is paid, in all currencies or one. */
      putDestination: method('putAffiliateDestination'),
      removeDestination: method('removeAffiliateDestination'),
      /** Who an affiliate is to a tax office; the tax id by its end. */
      taxProfile: method('getAffiliateTaxProfile'),
      putTaxProfile: method('putAffiliateTaxProfile'),
      removeTaxProfile: method('removeAffiliateTaxProfile'),
      /** Credits or debits an affiliate. */
      adjust: method('createAdjustment'),
    },
    /** Schedules that prepare payouts; a person completes them. */
    payoutSchedules: {
      list: method('listPayoutSchedules'),
      create: method('createPayoutSchedule'),
      get: method('getPayoutSchedule'),
      /** Whoever changes a schedule is the creator of its next payouts. */
      change: method('changePayoutSchedule'),
      delete: method('removePayoutSchedule'),
    },
    /** Sums over time, for charts. */
    analytics: {
      /** What was earned, refunded, paid, … by day, week or month in the account's time zone. */
      commissions: method('getCommissionAnalytics'),
      /** How deliveries to webhook endpoints went, by minute, hour or day, and how long receivers took. */
      deliveries: method('getDeliveryAnalytics'),
    },
    /** Programs, with their own holds and minimums. */
    programs: {
      list: method('listPrograms'),
      create: method('createProgram'),
      get: method('getProgram'),
      change: method('changeProgram'),
    },
    /** What is owed. */
    commissions: {
      list: method('listCommissions'),
      /** Creates a commission; repeated with the same `external_id`, it returns the stored one. */
      create: method('createCommission'),
      /** Creates up to 1,000, all or none; with `partial` each by itself, with a result for each. */
      createMany: operation(
        'createCommissionBatch',
        (commissions: readonly CommissionInput[], { partial, ...options }: BatchOptions = {}) =>
          send('createCommissionBatch', {
            path: [],
            json: JSON.stringify({ commissions, partial }),
            options,
          }),
      ),
      /** Creates commissions from a CSV file of any size, in one transaction. */
      import: method('importCommissions'),
      get: method('getCommission'),
      /** Refunds a commission; if it was paid, the next payout deducts the refund. */
      refund: method('refundCommission'),
      /** Voids a commission that is not paid. */
      void: method('voidCommission'),
      /** Holds a commission for review, until `unhold`. */
      hold: method('holdCommission'),
      unhold: method('unholdCommission'),
    },
    /** Imports of files in any layout, and their results. */
    imports: {
      /** How a file would be read, what must be answered, and what its import would do; changes nothing. */
      preview: method('previewImport'),
      /** Imports a file; guesses are used only with `accept_guesses`. */
      create: method('createImport'),
      /** The bad lines of a file as CSV, with their errors. */
      badLines: method('downloadBadLines'),
      /** How far an import is whose request named the key. */
      progress: method('getImportProgress'),
      list: method('listImports'),
      get: method('getImport'),
      /** Undoes a whole import, as long as nothing of it is in use. */
      undo: method('undoImport'),
      /** Saved mappings. */
      mappings: method('listImportMappings'),
    },
    /** Refunds by order, as shops record them. */
    refunds: {
      list: method('listRefunds'),
      /** Refunds an order, a product in it, part of its one sale, or the given lines. */
      create: method('refundOrder'),
      get: method('getRefund'),
      /** Reverses a refund made by mistake, as long as it has not reduced a paid payout. */
      reverse: method('reverseRefund'),
    },
    reports: {
      /** What was paid in a year or a range of days, as CSV. */
      paid: method('downloadPaidReport'),
      /** The same rows as JSON, a page at a time. */
      paidRows: method('listPaidReport'),
      /** The sums of a year for US tax forms, and what is missing. */
      usTax: method('getUsTaxReport'),
      /** Its affiliates, a page at a time. */
      usTaxRows: method('listUsTaxReport'),
      /** What a filing service needs, as CSV with whole tax ids. */
      exportUsTax: method('exportUsTaxReport'),
      /** What an affiliate was owed, earned and was paid in a period. */
      statement: method('getAffiliateStatement'),
      /** The same with every entry, as CSV, PDF or a page to print. */
      statementFile: method('downloadAffiliateStatement'),
    },
    /** Self-billing invoices in the name of affiliates, and credit notes. */
    invoices: {
      /** Issues what is missing for the paid lines of a payout; asked again, nothing twice. */
      issue: method('issueInvoices'),
      list: method('listInvoices'),
      get: method('getInvoice'),
      /** PDF/A-3 with the XML in it (Factur-X), the XML alone, or a page to print. */
      file: method('downloadInvoice'),
    },
    /** Where events are sent, and the log of deliveries. */
    webhookEndpoints: {
      list: method('listWebhookEndpoints'),
      /** Creates an endpoint, which gets all events from now on. The response contains its secret. */
      create: method('createWebhookEndpoint'),
      get: method('getWebhookEndpoint'),
      /** Updates the given fields. An endpoint that is enabled again gets everything that was held for it. */
      change: method('changeWebhookEndpoint'),
      delete: method('deleteWebhookEndpoint'),
      /** The secret that signs deliveries. */
      secret: method('getWebhookEndpointSecret'),
      /** Creates a new secret; the old one also signs for a day, or for `overlap_seconds`. */
      rotateSecret: method('rotateWebhookEndpointSecret'),
      /** Sends a test event to this endpoint only. */
      test: method('testWebhookEndpoint'),
      /** Tries a filter on a payload, by default the endpoint's own filter. */
      testFilter: method('testWebhookEndpointFilter'),
      /** The delivery log of an endpoint, even of a deleted one. */
      events: method('listEventsOfWebhookEndpoint'),
      /** One record of the log, with its payload and its attempts. */
      event: method('getEventOfWebhookEndpoint'),
      /** Sends an event again now, with the same `webhook-id`. */
      retry: method('retryEventOfWebhookEndpoint'),
      /** Resends the events of a period, in a background job; one at a time per endpoint. */
      recover: method('recoverWebhookEndpoint'),
      recoveries: method('listRecoveriesOfWebhookEndpoint'),
      /** A recovery, its progress, and what it has queued. */
      recovery: method('getRecoveryOfWebhookEndpoint'),
      /** Cancels a recovery; what it has already queued is sent. */
      cancelRecovery: method('cancelRecoveryOfWebhookEndpoint'),
      /** Makes a link that opens a portal for whoever receives at the endpoint; the response contains its address. */
      createPortalLink: method('createPortalLink'),
    },
    portalLinks: {
      /** The links of the last month, and what became of them. */
      list: method('listPortalLinks'),
      /** Revokes a link and ends its portal, at once. */
      revoke: method('revokePortalLink'),
    },
    webhookEvents: {
      /** The delivery log of the account: a record per event and endpoint. */
      list: method('listWebhookEvents'),
    },
    events: {
      /** Published events, with the number of their deliveries by status. */
      list: method('listEvents'),
      /** An event, its delivery to each endpoint, and why it did not go to the others. */
      get: method('getEvent'),
      /** Publishes an event of your own; repeated with the same `external_id`, it returns the stored one. */
      publish: operation('publishEvent', (event: PublishEventBody | EventText, options?: KeyedOptions) =>
        send('publishEvent', { path: [], json: eventJson(event), options }),
      ),
      /** Publishes up to 1,000 events of your own, all or none; ordered endpoints get them in the order of the list. */
      publishMany: operation(
        'publishEventBatch',
        (events: readonly (PublishEventBody | EventText)[], options?: KeyedOptions) =>
          send('publishEventBatch', {
            path: [],
            json: `{"events":[${events.map(eventJson).join(',')}]}`,
            options,
          }),
      ),
      /** The types Payhook publishes, each with its JSON schema and an example. */
      types: method('listEventTypes'),
    },
    apiKeys: {
      list: method('listApiKeys'),
      /** Creates a key; its secret is only in this response. */
      create: method('createApiKey'),
      revoke: method('revokeApiKey'),
    },
    /** What the user of a session is told by e-mail. */
    alerts: {
      get: method('getAlertSettings'),
      set: method('setAlertSettings'),
      /** Sends a test to their e-mail address. */
      test: method('testAlertSettings'),
    },
    /** Webhooks and Slack channels that are told. */
    alertChannels: {
      list: method('listAlertChannels'),
      /** Creates a channel; the secret of a webhook is only in this response. */
      create: method('createAlertChannel'),
      get: method('getAlertChannel'),
      change: method('changeAlertChannel'),
      delete: method('deleteAlertChannel'),
      /** Sends a test message there. */
      test: method('testAlertChannel'),
    },
    /** The people who sign in. */
    users: {
      list: method('listUsers'),
      /** Invites a user; pass on the link in the response. */
      create: method('createUser'),
      get: method('getUser'),
      change: method('changeUser'),
      /** Removes a user: their sessions and links end at once. */
      delete: method('removeUser'),
      /** Erases the person behind a user, who is removed first; it cannot be undone. */
      erase: method('eraseUser'),
      /** Creates a link where the user chooses a new password. */
      resetPassword: method('resetUserPassword'),
    },
    /** Sessions of signed-in users. */
    sessions: {
      list: method('listSessions'),
      end: method('endSession'),
    },
    auditLog: {
      /** What was done, and by whom. */
      list: method('listAuditLog'),
    },
    oauthApplications: {
      list: method('listOAuthApplications'),
      /** Registers an application; its secret is only in this response. */
      create: method('createOAuthApplication'),
      get: method('getOAuthApplication'),
      change: method('changeOAuthApplication'),
      /** Deletes an application and everything that was granted to it. */
      delete: method('deleteOAuthApplication'),
      /** Creates a new secret; the old one stops working at once. */
      rotateSecret: method('rotateOAuthApplicationSecret'),
    },
    /** What this account has granted to applications. */
    oauthGrants: {
      list: method('listOAuthGrants'),
      get: method('getOAuthGrant'),
      revoke: method('revokeOAuthGrant'),
    },
  };
}

/** A function for an operation, with arguments of its own. */
function operation<Id extends OperationId, Arguments extends unknown[], Result>(
  id: Id,
  call: (...given: Arguments) => Result,
): ((...given: Arguments) => Result) & Pick<Method<Id>, 'operation'> {
  return Object.assign(call, { operation: id });
}

function eventJson(event: PublishEventBody | EventText): string {
  if (!('dataText' in event)) return JSON.stringify(event);
  const { dataText, ...rest } = event;
  return `${JSON.stringify(rest).slice(0, -1)},"data":${dataText}}`;
}
