import type { CommissionInput, PublishEventBody } from './api.ts';
import type { BatchOptions, Calls, KeyedOptions, Method, OperationId } from './calls.ts';
import { type EventText, eventJson, publishAll } from './publish.ts';

/** Every operation of the API, by resource. The OpenAPI description documents each in full. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with a line per operation
export function resourcesOf({ method, send }: Calls) {
  return {
    me: {
      /** The caller: the key, token or session of this client, and its permissions. */
      get: method('getMe'),
      /** The browsers in which the signed-in person is signed in. */
      sessions: method('listOwnSessions'),
      deleteSession: method('deleteOwnSession'),
      deleteOtherSessions: method('deleteOtherSessions'),
    },
    actors: {
      /** The names behind ids in `created_by`, `paid_by` and similar fields. */
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
    /** Payouts: who gets how much, and who was paid. */
    payouts: {
      list: method('listPayouts'),
      /**
       * Creates a payout of everything that is owed and matches. Refused with `current_payout_exists` while another is unpaid.
       */
      create: method('createPayout'),
      /** What `create` would create now, without creating it. */
      preview: method('previewPayout'),
      /** Who `create` would pay, a page at a time. The first argument has the filters, the second the page. */
      previewAffiliates: method('previewPayoutAffiliates'),
      /** Who `create` would leave out, and what would have to change. */
      previewExcluded: method('previewPayoutExclusions'),
      /** What may point to fraud in what `create` would create. */
      previewSignals: method('previewPayoutSignals'),
      /** The unpaid payout; refused with `no_current_payout` if there is none. */
      current: method('getCurrentPayout'),
      /** A payout; the id may be `current`, here and in the calls below that read a payout. */
      get: method('getPayout'),
      /**
       * Records who was paid, which is final. Affiliates listed as not paid, or not listed, are owed again. Pass
       * `require_all: true` and `{ ifMatch: payout.revision }` to make sure that nobody is forgotten and nothing changed.
       */
      complete: method('completePayout'),
      /** The state of the approval, and who can approve. */
      approval: method('getPayoutApproval'),
      /** For accounts that require a second person: uses that person's session and the revision they reviewed. */
      approve: method('approvePayout'),
      reject: method('rejectPayout'),
      /** Deletes an unpaid payout; its commissions are owed again. */
      delete: method('deletePayout'),
      /** The commissions as CSV: all of an unpaid payout, or the paid ones of a paid payout. */
      download: method('downloadPayout'),
      /** The lines: one per affiliate. */
      affiliates: method('listPayoutAffiliates'),
      commissions: method('listPayoutCommissions'),
      /** Who was left out, and why. */
      excluded: method('listPayoutExclusions'),
      /** What may point to fraud in the lines, and who reviewed it. */
      signals: method('listPayoutSignals'),
      /** The same as CSV. */
      downloadSignals: method('downloadPayoutSignals'),
      /** For a person who may approve payouts: signals that they looked into no longer block. */
      reviewSignals: method('reviewPayoutSignals'),
      /** The payment files of a payout, who each leaves out and why, and their downloads. */
      paymentFiles: method('getPaymentFiles'),
      /** A payment file: `summary`, `paypal`, `wise`, … */
      paymentFile: method('downloadPaymentFile'),
      /** Compares a result file of a bank or provider with the payout; changes nothing. */
      takeResult: method('takePayoutResult'),
      /** The result files read so far. */
      results: method('listPayoutResults'),
      /** What banks answered about the payees of a payout. */
      verifications: method('listPayoutVerifications'),
      /** Records a returned payment, in full or in part: the affiliate is owed it again. */
      returned: method('returnPayoutLine'),
      /** The returned payments of an affiliate. */
      returns: method('listPayoutReturns'),
      /** Undoes a return recorded by mistake, unless its money was paid again. */
      undoReturn: method('deletePayoutReturn'),
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
      /** Erases the person behind an affiliate; amounts stay. This cannot be undone. */
      erase: method('eraseAffiliate'),
      /** An affiliate with its balance, by your own id. */
      getByExternalId: method('getAffiliateByExternalId'),
      /** Creates the affiliate with this id of yours, or updates the given fields if it exists. */
      putByExternalId: method('putAffiliateByExternalId'),
      /** The destinations of an affiliate, with the last four characters of account numbers. */
      destinations: method('getAffiliateDestinations'),
      /** Sets where an affiliate is paid, for all currencies or one. */
      putDestination: method('putAffiliateDestination'),
      /** Makes the name that the bank of the payee has the account holder. */
      useVerifiedName: method('useVerifiedName'),
      /** What banks corrected in where affiliates are paid. */
      corrections: method('listDestinationCorrections'),
      /** Makes a destination what its bank says. */
      acceptCorrection: method('acceptDestinationCorrection'),
      /** Leaves a destination as it is. */
      dismissCorrection: method('dismissDestinationCorrection'),
      removeDestination: method('deleteAffiliateDestination'),
      /** The tax profile of an affiliate, with the last characters of the tax id. */
      taxProfiles: method('listAffiliateTaxProfiles'),
      taxProfile: method('getAffiliateTaxProfile'),
      putTaxProfile: method('putAffiliateTaxProfile'),
      removeTaxProfile: method('deleteAffiliateTaxProfile'),
      /** The e-mails that affiliates get: waiting, sent, failed. */
      notices: method('listAffiliateNotices'),
      /** An e-mail to affiliates with example data. */
      previewNotice: method('previewAffiliateNotice'),
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
      delete: method('deletePayoutSchedule'),
    },
    /** Sums over time, for charts. */
    analytics: {
      /** What was earned, refunded, paid, … by day, week or month in the account's time zone. */
      commissions: method('getCommissionAnalytics'),
      /** The outcomes of webhook deliveries by minute, hour or day, and how long receivers took. */
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
      /** Creates up to 1,000, all or none; with `partial`, each on its own, with a result for each. */
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
      /** Voids an unpaid commission. */
      void: method('voidCommission'),
      /** Holds a commission for review, until `unhold`. */
      hold: method('holdCommission'),
      unhold: method('unholdCommission'),
    },
    /** Imports of files in any layout, and their results. */
    imports: {
      /** How a file would be read, the open questions, and the result of importing it; changes nothing. */
      preview: method('previewImport'),
      /** Imports a file; guesses are used only with `accept_guesses`. */
      create: method('createImport'),
      /** The bad lines of a file as CSV, with their errors. */
      badLines: method('downloadBadLines'),
      /** The progress of an import, by the key in its request. */
      progress: method('getImportProgress'),
      list: method('listImports'),
      get: method('getImport'),
      /** Undoes a whole import, unless its records are in use. */
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
      /** Reverses a mistaken refund, unless it has reduced a paid payout. */
      reverse: method('reverseRefund'),
    },
    reports: {
      /** What was earned, refunded, adjusted, paid, returned and owed in a period, by currency or other groups. */
      summary: method('getReportSummary'),
      /** The same as CSV, PDF or a page to print. */
      summaryFile: method('downloadReportSummary'),
      /** The entries that its amounts are sums of, a page at a time. */
      entries: method('listReportEntries'),
      /** What was paid in a year or a range of days, as CSV. */
      paid: method('downloadPaidReport'),
      /** The same rows as JSON, a page at a time. */
      paidRows: method('listPaidReport'),
      /** The sums of a year for US tax forms, and missing forms and tax ids. */
      usTax: method('getUsTaxReport'),
      /** Its affiliates, a page at a time. */
      usTaxRows: method('listUsTaxReport'),
      /** A CSV file for a filing service, with full tax ids. */
      exportUsTax: method('exportUsTaxReport'),
      /** What an affiliate was owed, earned and paid in a period. */
      statement: method('getAffiliateStatement'),
      /** The same with every entry, as CSV, PDF or a page to print. */
      statementFile: method('downloadAffiliateStatement'),
    },
    /** Self-billed invoices and credit notes; the archive is a zip of those of a payout. */
    invoices: {
      /** Issues missing invoices for the paid lines of a payout; repeating it issues nothing twice. */
      issue: method('issueInvoices'),
      list: method('listInvoices'),
      get: method('getInvoice'),
      file: method('downloadInvoice'),
      archive: method('downloadInvoicesOfPayout'),
    },
    /** Where events are sent, and the log of deliveries. */
    webhookEndpoints: {
      list: method('listWebhookEndpoints'),
      /** Creates an endpoint, which receives events from now on. The response contains its secret. */
      create: method('createWebhookEndpoint'),
      get: method('getWebhookEndpoint'),
      /** Updates the given fields. Enabling an endpoint sends everything that was held for it. */
      change: method('changeWebhookEndpoint'),
      delete: method('deleteWebhookEndpoint'),
      /** An endpoint by your own id. */
      getByExternalId: method('getWebhookEndpointByExternalId'),
      /** Creates the endpoint with this id of yours, or gives it exactly this configuration. */
      putByExternalId: method('putWebhookEndpointByExternalId'),
      /** The secret that signs deliveries. */
      secret: method('getWebhookEndpointSecret'),
      /** Creates a new secret; the old one also signs for a day, or for `overlap_seconds`. */
      rotateSecret: method('rotateWebhookEndpointSecret'),
      /** Sends the link that confirms `contact_email` again. */
      confirmContact: method('confirmWebhookEndpointContact'),
      /** Sends a test event to this endpoint only. */
      test: method('testWebhookEndpoint'),
      /** Tries a filter on a payload, by default the endpoint's own filter. */
      testFilter: method('testWebhookEndpointFilter'),
      /** Takes events of a pull endpoint for the time of a lease; waits for the first one if `wait_seconds` says so. */
      claim: method('claimWebhookEvents'),
      acknowledge: method('acknowledgeWebhookEvents'),
      extend: method('extendWebhookLeases'),
      /** Creates the token of a pull endpoint, with which consumers claim; it is only in the response. */
      createToken: method('createWebhookEndpointToken'),
      /** The delivery log of an endpoint, even of a deleted one. */
      events: method('listEventsOfWebhookEndpoint'),
      /** One record of the log, with its payload and its attempts. */
      event: method('getEventOfWebhookEndpoint'),
      /** Sends an event again now, with the same `webhook-id`. */
      retry: method('retryEventOfWebhookEndpoint'),
      /** Resends the events of a period, in a background job; one at a time per endpoint. */
      recover: method('recoverWebhookEndpoint'),
      /** Cancels the waiting events of a period, in such a job. */
      discard: method('discardEventsOfWebhookEndpoint'),
      /** Counts what a recovery or discard would take. */
      previewRecovery: method('previewRecoveryOfWebhookEndpoint'),
      recoveries: method('listRecoveriesOfWebhookEndpoint'),
      /** A recovery, its progress, and what it has queued. */
      recovery: method('getRecoveryOfWebhookEndpoint'),
      /** Cancels a recovery; events it already queued are still sent. */
      cancelRecovery: method('deleteRecoveryOfWebhookEndpoint'),
      /** Creates a link that opens a portal for the customer who receives at the endpoint. The response contains its URL. */
      createPortalLink: method('createPortalLink'),
    },
    portalLinks: {
      /** The links of the last month and their status. */
      list: method('listPortalLinks'),
      /** Revokes a link and ends its portal at once. */
      revoke: method('deletePortalLink'),
    },
    webhookEvents: {
      /** The delivery log of the account: a record per event and endpoint. */
      list: method('listWebhookEvents'),
    },
    events: {
      /** Published events, with the number of their deliveries by status. */
      list: method('listEvents'),
      /** An event, its deliveries, and why other endpoints did not receive it. */
      get: method('getEvent'),
      /** Publishes your own event; repeated with the same `external_id`, it returns the stored one. */
      publish: operation('publishEvent', (event: PublishEventBody | EventText, options?: KeyedOptions) =>
        send('publishEvent', { path: [], json: eventJson(event), options }),
      ),
      /**
       * Publishes your own events, up to 1,000 in a request, each request all or none; ordered endpoints receive them in
       * the order of the list. More events are sent in several requests, one after the other. If a request fails, the
       * earlier ones have been carried out: repeat the call with the same events and the same `idempotencyKey`.
       */
      publishMany: operation(
        'publishEventBatch',
        (events: readonly (PublishEventBody | EventText)[], options?: KeyedOptions) =>
          publishAll(send, events, options),
      ),
      /** The types Payhook publishes and your own, each with its JSON schema and an example. */
      types: method('listEventTypes'),
      type: method('getEventType'),
      /** Creates or replaces a type of your own. */
      putType: method('putEventType'),
      deleteType: method('deleteEventType'),
    },
    apiKeys: {
      list: method('listApiKeys'),
      /** Creates a key; its secret is only in this response. */
      create: method('createApiKey'),
      revoke: method('deleteApiKey'),
    },
    /** The alerts that the user of a session gets by e-mail. */
    alerts: {
      get: method('getAlertSettings'),
      set: method('setAlertSettings'),
      /** Sends a test to their e-mail address. */
      test: method('testAlertSettings'),
    },
    /** Webhooks and Slack channels that receive alerts. */
    alertChannels: {
      list: method('listAlertChannels'),
      /** Creates a channel; the secret of a webhook is only in this response. */
      create: method('createAlertChannel'),
      get: method('getAlertChannel'),
      change: method('changeAlertChannel'),
      delete: method('deleteAlertChannel'),
      /** Sends a test message to the channel. */
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
      delete: method('deleteUser'),
      /** Removes a user and erases the person behind it; this cannot be undone. */
      erase: method('eraseUser'),
      /** Creates a link where the user chooses a new password. */
      resetPassword: method('resetUserPassword'),
    },
    /** Sessions of signed-in users. */
    sessions: {
      list: method('listSessions'),
      end: method('deleteSession'),
    },
    auditLog: {
      /** Every change, and who made it. */
      list: method('listAuditLog'),
    },
    oauthApplications: {
      list: method('listOAuthApplications'),
      /** Registers an application; its secret is only in this response. */
      create: method('createOAuthApplication'),
      get: method('getOAuthApplication'),
      change: method('changeOAuthApplication'),
      /** Deletes an application and all its grants. */
      delete: method('deleteOAuthApplication'),
      /** Creates a new secret; the old one stops working at once. */
      rotateSecret: method('rotateOAuthApplicationSecret'),
    },
    /** What this account has granted to applications. */
    oauthGrants: {
      list: method('listOAuthGrants'),
      get: method('getOAuthGrant'),
      revoke: method('deleteOAuthGrant'),
    },
  };
}

/** A function for an operation, with its own arguments. */
function operation<Id extends OperationId, Arguments extends unknown[], Result>(
  id: Id,
  call: (...given: Arguments) => Result,
): ((...given: Arguments) => Result) & Pick<Method<Id>, 'operation'> {
  return Object.assign(call, { operation: id });
}
