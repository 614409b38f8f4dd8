import type { CommissionInput, PublishEventBody } from './api.ts';
import type { Calls, KeyedOptions, Method, OperationId } from './calls.ts';

/** An event whose data is JSON text, passed on as it stands: numbers that JavaScript would round arrive unchanged. */
export interface EventText extends Omit<PublishEventBody, 'data'> {
  /** A JSON object. */
  readonly dataText: string;
}

/** Options of `commissions.createMany`. */
export interface BatchOptions extends KeyedOptions {
  /** Each commission by itself; without it all or none. */
  readonly partial?: boolean | undefined;
}

/** Every operation of the API, by the noun it is about. What each one does in full is told in the description. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, an operation a line
export function resourcesOf({ method, send }: Calls) {
  return {
    me: {
      /** Who asks: the key, token or session of this client, and what it may do. */
      get: method('getMe'),
    },
    system: {
      /** The state of the installation: told to the account that was made first. */
      get: method('getSystem'),
    },
    /** The account of the API key. */
    account: {
      /** The account and its settings. */
      get: method('getAccount'),
      /** Changes settings: the hold, the minimums, the currency. */
      change: method('changeAccount'),
    },
    /** Who gets how much, and who was paid. */
    payouts: {
      list: method('listPayouts'),
      /** Takes all that is owed and matches. Refused with `current_payout_exists` while another one is unpaid. */
      create: method('createPayout'),
      /** What `create` would make now, without making it. */
      preview: method('previewPayout'),
      /** Who `create` would pay, a page at a time: the selection first, the page second. */
      previewAffiliates: method('previewPayoutAffiliates'),
      /** Who `create` would leave out, and what would let them in. */
      previewExcluded: method('previewPayoutExclusions'),
      /** The unpaid payout; refused with `no_current_payout` when there is none. */
      current: method('getCurrentPayout'),
      /** A payout; the id may be `current`, here and in what reads a payout below. */
      get: method('getPayout'),
      /**
       * Says who was paid: paid for ever; who is listed as not paid, or not listed, is owed again. Give
       * `require_all: true` and `{ ifMatch: payout.revision }` so that nobody is forgotten and nothing has changed since.
       */
      complete: method('completePayout'),
      /** Deletes an unpaid payout; its commissions are owed again. */
      delete: method('deletePayout'),
      /** The commissions as CSV: of an unpaid payout all, of a paid one those that were paid. */
      download: method('downloadPayout'),
      /** The lines: one for each affiliate. */
      affiliates: method('listPayoutAffiliates'),
      commissions: method('listPayoutCommissions'),
      /** Who was left out, and why. */
      excluded: method('listPayoutExclusions'),
      /** Which payment files it needs, whom each leaves out and why, and who downloaded it. */
      paymentFiles: method('getPaymentFiles'),
      /** A file for whoever moves the money: `summary`, `paypal`, `wise`. */
      paymentFile: method('downloadPaymentFile'),
      /** Books money that came back, all or a part: the affiliate is owed it again. */
      returned: method('returnPayoutLine'),
      /** What came back of the lines of an affiliate. */
      returns: method('listPayoutReturns'),
      /** Takes a return back that was booked by mistake, while its money was not paid again. */
      undoReturn: method('undoPayoutReturn'),
    },
    /** Who is paid. */
    affiliates: {
      /** With their balances; `{ sort: '-unpaid' }` begins with whom most is owed. */
      list: method('listAffiliates'),
      /** What all are owed, by currency and state. */
      balances: method('getBalances'),
      create: method('createAffiliate'),
      /** Creates and updates affiliates from a CSV file, in one transaction. */
      import: method('importAffiliates'),
      /** An affiliate with its balance. */
      get: method('getAffiliate'),
      change: method('changeAffiliate'),
      /** An affiliate with its balance, by your own id. */
      getByExternalId: method('getAffiliateByExternalId'),
      /** Makes the affiliate with this id of yours, or changes what is named where there is one. */
      putByExternalId: method('putAffiliateByExternalId'),
      /** Credits or debits an affiliate. */
      adjust: method('createAdjustment'),
    },
    /** Sums over time, for charts. */
    analytics: {
      /** What was earned, refunded, paid, … by day, week or month of the account's zone. */
      commissions: method('getCommissionAnalytics'),
      /** How deliveries to webhook endpoints went, by minute, hour or day, with how long receivers took. */
      deliveries: method('getDeliveryAnalytics'),
    },
    /** Programs: holds and minimums of their own. */
    programs: {
      list: method('listPrograms'),
      create: method('createProgram'),
      get: method('getProgram'),
      change: method('changeProgram'),
    },
    /** What is owed. */
    commissions: {
      list: method('listCommissions'),
      /** Takes a commission in; the same again under its `external_id` gives the one that is stored. */
      create: method('createCommission'),
      /** Takes up to 1,000 in, all or none; with `partial` each by itself, and the answer says what became of it. */
      createMany: operation(
        'createCommissionBatch',
        (commissions: readonly CommissionInput[], { partial, ...options }: BatchOptions = {}) =>
          send('createCommissionBatch', {
            path: [],
            json: JSON.stringify({ commissions, partial }),
            options,
          }),
      ),
      /** Takes commissions in from a CSV file of any size, in one transaction. */
      import: method('importCommissions'),
      get: method('getCommission'),
      /** Takes commission back; of a paid one the next payout takes it. */
      refund: method('refundCommission'),
      /** Voids one that is not paid. */
      void: method('voidCommission'),
      /** Holds one for review, until `unhold`. */
      hold: method('holdCommission'),
      unhold: method('unholdCommission'),
    },
    /** Files of any shape, and what came of them. */
    imports: {
      /** How a file would be read, what must be asked, and what importing it would do; nothing is changed. */
      preview: method('previewImport'),
      /** Imports a file; guesses are taken with `accept_guesses` only. */
      create: method('createImport'),
      /** The bad lines of a file as CSV, with what is wrong with them. */
      badLines: method('downloadBadLines'),
      list: method('listImports'),
      get: method('getImport'),
      /** Takes an import back whole, while nothing of it is in use. */
      undo: method('undoImport'),
      /** Mappings that were saved. */
      mappings: method('listImportMappings'),
    },
    /** Refunds as a shop knows them. */
    refunds: {
      list: method('listRefunds'),
      /** Refunds an order, a product in it, its one sale in part, or the lines that are named. */
      create: method('refundOrder'),
      get: method('getRefund'),
      /** Undoes a refund that was a mistake, while no payout was paid less because of it. */
      reverse: method('reverseRefund'),
    },
    reports: {
      /** What was paid in a year, or from one day to another, as CSV. */
      paid: method('downloadPaidReport'),
      /** The same rows as JSON, a page at a time. */
      paidRows: method('listPaidReport'),
    },
    /** Where events are sent, and the log of what was sent there. */
    webhookEndpoints: {
      list: method('listWebhookEndpoints'),
      /** Makes an endpoint: events that happen from now on are sent there. The answer shows its secret. */
      create: method('createWebhookEndpoint'),
      get: method('getWebhookEndpoint'),
      /** Changes what is named. Enabled again, an endpoint gets all that was held for it. */
      change: method('changeWebhookEndpoint'),
      delete: method('deleteWebhookEndpoint'),
      /** The secret that signs what is sent. */
      secret: method('getWebhookEndpointSecret'),
      /** Makes a new secret; the old one signs too for a day, or as long as `overlap_seconds` says. */
      rotateSecret: method('rotateWebhookEndpointSecret'),
      /** Sends a test event to this endpoint only. */
      test: method('testWebhookEndpoint'),
      /** Tries a filter, by default that of the endpoint, on a payload. */
      testFilter: method('testWebhookEndpointFilter'),
      /** The delivery log of an endpoint, of a deleted one too. */
      events: method('listEventsOfWebhookEndpoint'),
      /** One record of the log, with its payload and its attempts. */
      event: method('getEventOfWebhookEndpoint'),
      /** Sends an event again now, with the same `webhook-id`. */
      retry: method('retryEventOfWebhookEndpoint'),
      /** Sends events of a span of time again, by a job that goes on by itself; an endpoint has one at a time. */
      recover: method('recoverWebhookEndpoint'),
      recoveries: method('listRecoveriesOfWebhookEndpoint'),
      /** A recovery: how far it is, and what it has put into work. */
      recovery: method('getRecoveryOfWebhookEndpoint'),
      /** Ends a recovery; what it has put into work is sent. */
      cancelRecovery: method('cancelRecoveryOfWebhookEndpoint'),
    },
    webhookEvents: {
      /** The delivery log of the account: an event has a record for each endpoint. */
      list: method('listWebhookEvents'),
    },
    events: {
      /** What was published, and how many deliveries of it have which status. */
      list: method('listEvents'),
      /** An event, what became of it at each endpoint, and why it did not go to the others. */
      get: method('getEvent'),
      /** Publishes an event of your own; the same again under its `external_id` gives the one that is stored. */
      publish: operation('publishEvent', (event: PublishEventBody | EventText, options?: KeyedOptions) =>
        send('publishEvent', { path: [], json: eventJson(event), options }),
      ),
      /** The types Payhook publishes, each with its JSON schema and an example. */
      types: method('listEventTypes'),
    },
    apiKeys: {
      list: method('listApiKeys'),
      /** Makes a key; its secret is in this answer only. */
      create: method('createApiKey'),
      revoke: method('revokeApiKey'),
    },
    /** People who sign in. */
    users: {
      list: method('listUsers'),
      /** Invites a user; hand over the link in the answer. */
      create: method('createUser'),
      get: method('getUser'),
      change: method('changeUser'),
      /** Removes a user: sessions and links end at once. */
      delete: method('removeUser'),
      /** Makes a link where the user chooses a new password. */
      resetPassword: method('resetUserPassword'),
    },
    /** Who is signed in. */
    sessions: {
      list: method('listSessions'),
      end: method('endSession'),
    },
    auditLog: {
      /** What was done, by whom. */
      list: method('listAuditLog'),
    },
    oauthApplications: {
      list: method('listOAuthApplications'),
      /** Registers an application; its secret is in this answer only. */
      create: method('createOAuthApplication'),
      get: method('getOAuthApplication'),
      change: method('changeOAuthApplication'),
      /** Deletes an application: all that was granted to it ends. */
      delete: method('deleteOAuthApplication'),
      /** Makes a new secret; the old one stops at once. */
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

/** A function of its own for an operation. */
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
