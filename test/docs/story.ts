import type { Receiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import type { Recorder } from './recorder.ts';

/** The payments of the payout to its affiliates. */
const AMOUNTS = ['90.00', '165.50'];

/** The setting of the story: a world that delivers, with a receiver. */
export interface Scene {
  readonly world: World;
  readonly receiver: Receiver;
  /** Does something while no worker runs. */
  unworked<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** The payout of September and its affiliates. */
interface Frozen {
  readonly id: string;
  readonly affiliates: readonly number[];
}

/** The first day: the account, a key for the shop's program, the affiliate program, and its affiliates. */
export async function settingUp({ show, refuse, chapter, day }: Recorder, { world }: Scene): Promise<void> {
  chapter('2026-07-01T09:00:00.000Z');
  await show('changeAccount', {
    body: {
      name: 'Difference Engines',
      default_currency: 'usd',
      minimum_payout: { usd: 5000, eur: 5000 },
      debtor: { name: 'Difference Engines Ltd', iban: 'DE02 1203 0000 0000 2020 51' },
      originator: {
        immediate_destination: '021000021',
        immediate_destination_name: 'JPMorgan Chase',
        immediate_origin: '1234567890',
        immediate_origin_name: 'Difference Engines Ltd',
        company_name: 'Difference Eng',
        company_id: '1234567890',
      },
      tax_profile: {
        legal_name: 'Difference Engines Ltd',
        country: 'DE',
        address: { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' },
        vat_id: 'DE136695976',
      },
      invoicing: {
        rules: [
          { country: 'DE', has_vat_id: true, category: 'S', rate: 1900 },
          { country: 'US', category: 'O', exemption: 'Not subject to VAT' },
        ],
      },
    },
  });
  await show('getAccount');
  await refuse('getAccount', 'missing_credentials', { headers: { authorization: 'Bearer' } });
  const old = await world.api.post('/v2/api-keys', { name: 'trial' });
  await show('createApiKey', { headers: { 'Idempotency-Key': 'shop-key' }, body: { name: 'shop' } });
  await show('listApiKeys', { query: { status: 'active', sort: 'name' } });
  await show('deleteApiKey', { path: { key_id: old.body.id } });
  const program = await show('createProgram', { body: { name: 'Partners', hold_days: 14 } });
  await show('changeProgram', { path: { program_id: program.id }, body: { name: 'Partners 2026' } });
  await show('getProgram', { path: { program_id: program.id } });
  await show('listPrograms', { query: { sort: 'name' } });

  chapter('2026-07-02T09:00:00.000Z');
  const ada = await show('createAffiliate', {
    headers: { 'Idempotency-Key': 'partner-7' },
    body: {
      external_id: 'partner-7',
      email: 'ada@example.com',
      name_first: 'Ada',
      name_last: 'Lovelace',
      slug: 'ada',
      minimum_payout: { usd: 2500 },
      metadata: { crm: 'lead-311' },
    },
  });
  await show('getAffiliateByExternalId', { path: { external_id: 'partner-7' } });
  await show('putAffiliateByExternalId', {
    path: { external_id: 'partner-7' },
    body: { email: 'ada@example.com', name_first: 'Ada', metadata: { crm: 'lead-312' } },
  });
  await show('changeAffiliate', {
    path: { affiliate_id: ada.id },
    body: { paypal_email: 'ada.lovelace@example.com', payout_method: 'paypal' },
  });
  await show('putAffiliateDestination', {
    path: { affiliate_id: ada.id },
    body: {
      type: 'sepa',
      currency: 'eur',
      account_holder: 'Ada Lovelace',
      iban: 'DE89 3704 0044 0532 0130 00',
    },
  });
  // as if a bank had answered
  await world.query(`insert into payee_verifications (account_id, destination_id, affiliate_id, result, bank_name, payment_file,
      verified_at)
    select account_id, id, affiliate_id, 'close_match', 'Ada King Lovelace', 'P1-R1-F1-7K2MQ9XD', '2026-07-01T09:00:00Z'
    from affiliate_destinations`);
  await show('getAffiliateDestinations', { path: { affiliate_id: ada.id } });
  await show('useVerifiedName', {
    path: { affiliate_id: ada.id },
    body: { name: 'Ada King Lovelace', currency: 'eur' },
  });
  // as if a bank had sent a notification of change
  const corrections = await world.query<{ id: string }>(
    `insert into destination_corrections (account_id, destination_id, affiliate_id, payout_id, code,
      account_holder, received_on, due_on)
    select account_id, id, affiliate_id, '0192f8e5-c7a7-7b3e-9d01-92f8e5c7a7b3', code, name, $1, $2
    from affiliate_destinations x, (values ('C04', 'Ada K Lovelace'), ('C01', 'Ada Lovelace')) c (code, name)
    where replaced_at is null returning public_id('cor', id) as id`,
    [day('2026-07-01'), day('2026-07-10')],
  );
  await show('listDestinationCorrections', { query: { status: 'open' } });
  const [correct, wrong] = corrections.map(({ id }) => id);
  await show('dismissDestinationCorrection', { path: { correction_id: wrong ?? '' } });
  await show('acceptDestinationCorrection', { path: { correction_id: correct ?? '' } });
  await show('deleteAffiliateDestination', {
    path: { affiliate_id: ada.id },
    query: { currency: 'eur' },
  });
  await show('putAffiliateTaxProfile', {
    path: { affiliate_id: ada.id },
    body: {
      legal_type: 'person',
      legal_name: 'Ada Lovelace',
      country: 'US',
      address: { line1: '12 Analytical Way', city: 'Boston', region: 'MA', postal_code: '02108' },
      tax_id: { type: 'us_ssn', number: '536-90-4399' },
      form: { type: 'w9', signed_on: day('2026-01-15'), document: 'forms/ada.pdf' },
      self_billing: null,
    },
  });
  await show('getAffiliateTaxProfile', { path: { affiliate_id: ada.id } });
  await show('listAffiliateTaxProfiles', { query: { form_status: 'valid' } });
  await show('deleteAffiliateTaxProfile', { path: { affiliate_id: ada.id } });
  // as if a payout had paid while the server sent e-mail
  await world.query(`insert into notices (account_id, kind, subject, data, is_alone, affiliate_id, due_at, tries, sent_at)
    select account_id, 'paid', 'po_0192f8e5c7a77b3e9d0192f8e5c7a7b3', '{}', true, id, now_ms(), 1, now_ms()
    from affiliates where email = 'ada@example.com'`);
  await show('listAffiliateNotices', { query: { status: 'sent' } });
  await show('previewAffiliateNotice', { query: { kind: 'paid', language: 'de' } });
  await show('importAffiliates', {
    query: { dry_run: false },
    body:
      'external_id,email,name_first,name_last,paypal_email,payout_method\r\n' +
      'partner-8,charles@example.com,Charles,Babbage,charles@example.com,paypal\r\n' +
      'partner-9,grace@example.com,Grace,Hopper,,wise\r\n',
  });
  const file =
    'Partner ID;E-Mail;Name;Notes\r\n' + 'partner-10;mary@example.com;Mary Somerville;met at the fair\r\n';
  const from = { kind: 'affiliates', file_name: 'partners.csv' };
  await show('previewImport', { query: from, body: file });
  await refuse('createImport', 'import_not_confirmed', { query: from, body: file });
  const taken = await show('createImport', {
    query: { ...from, accept_guesses: true, save_as: 'partners' },
    body: file,
  });
  await show('listImportMappings', { query: { kind: 'affiliates' } });
  await show('getImport', { path: { import_id: taken.import_id } });
  await show('listImports', { query: { kind: 'affiliates', status: 'completed' } });
  await show('downloadBadLines', {
    query: { kind: 'affiliates', values: '{"country":{"Atlantis":"refuse"}}' },
    body: 'email,country\r\nada.example.com,Atlantis\r\n',
  });
  await show('undoImport', { path: { import_id: taken.import_id } });
  await refuse('undoImport', 'import_is_undone', { path: { import_id: taken.import_id } });
  await refuse('createAffiliate', 'duplicate_email', { body: { email: 'Ada@example.com' } });
  await show('getImportProgress', { query: { key: 'september-affiliates' } });
}

/** August: commissions are created one by one, in a batch and from a file; some are held or refunded. */
export async function earning({ show, refuse, chapter, at, day }: Recorder, { world }: Scene): Promise<void> {
  const { data: affiliates } = (await world.api.get('/v2/affiliates?sort=created_at')).body;
  const [ada] = affiliates.map(({ id }: { id: number }) => id);
  const [program] = (await world.api.get('/v2/affiliates/programs')).body.data;
  chapter('2026-08-25T09:00:00.000Z');
  const sale = await show('createCommission', {
    headers: { 'Idempotency-Key': 'order-1042' },
    body: {
      external_id: 'order-1042-ada',
      affiliate_external_id: 'partner-7',
      program_id: program.id,
      sale_amount: 50000,
      rate_bps: 2000,
      currency: 'usd',
      order_id: 'order-1042',
      customer_email: 'mary@example.com',
      product_id: 'engine-yearly',
      product_name: 'Analytical Engine, one year',
      occurred_at: at('2026-08-03T14:04:58.000Z'),
      metadata: { campaign: 'newsletter-august' },
    },
  });
  await refuse('createCommission', 'duplicate_external_id', {
    body: { external_id: 'order-1042-ada', affiliate_external_id: 'partner-7', amount: 9900 },
  });
  const batch = await show('createCommissionBatch', {
    body: {
      commissions: [
        {
          external_id: 'order-1051-ada',
          affiliate_id: ada,
          amount: 4000,
          order_id: 'order-1051',
          occurred_at: at('2026-08-04T09:41:15.000Z'),
        },
        {
          external_id: 'order-1058-charles',
          affiliate_email: 'charles@example.com',
          amount: 12550,
          order_id: 'order-1058',
          occurred_at: at('2026-08-05T17:20:00.000Z'),
        },
      ],
    },
  });
  await show('importCommissions', {
    query: { partial: false },
    body:
      'external_id,affiliate_external_id,amount,currency,order_id,occurred_at\r\n' +
      `order-1063-charles,partner-8,40.00,usd,order-1063,${at('2026-08-09T08:12:44.000Z')}\r\n` +
      `order-1064-grace,partner-9,31.90,usd,order-1064,${at('2026-08-09T11:03:21.000Z')}\r\n` +
      `order-1070-grace,partner-9,75.00,eur,order-1070,${at('2026-08-12T19:45:09.000Z')}\r\n`,
  });
  await refuse('importCommissions', 'invalid_lines', {
    body:
      'external_id,affiliate_external_id,amount,currency\r\n' +
      'order-1071-grace,partner-9,75.001,eur\r\norder-1072-ida,partner-10,12.00,usd\r\n',
  });
  const [own, other] = batch.items.map(({ commission }: { commission: { id: string } }) => commission.id);
  await show('holdCommission', { path: { commission_id: other } });
  await show('unholdCommission', { path: { commission_id: other } });
  await show('voidCommission', {
    path: { commission_id: own },
    body: { reason: 'the affiliate ordered for herself' },
  });
  await show('createAdjustment', {
    path: { affiliate_id: ada },
    body: { external_id: 'interview-ada', amount: 1500, currency: 'usd', description: "for Ada's interview" },
  });
  await show('refundCommission', {
    path: { commission_id: sale.id },
    body: { external_id: 'refund-87', sale_amount: 12500, reason: 'a part was sent back' },
  });
  await refuse('refundCommission', 'refund_exceeds_rest', {
    path: { commission_id: sale.id },
    body: { external_id: 'refund-88', amount: 10000 },
  });
  await show('getCommission', { path: { commission_id: sale.id } });
  await show('listCommissions', {
    query: { status: 'unpaid', currency: 'usd', 'occurred_at[gte]': day('2026-08-01'), per_page: 2 },
  });
  await show('getAffiliate', { path: { affiliate_id: ada } });
  await show('listAffiliates', { query: { sort: '-unpaid', per_page: 2 } });
  await show('getBalances');
  await show('getCommissionAnalytics', {
    query: { from: day('2026-08-03'), to: day('2026-08-05'), interval: 'day' },
  });
}

/** An endpoint is created, and tried before anything depends on it. */
export async function listening({ show, refuse, chapter }: Recorder, { receiver }: Scene): Promise<string> {
  chapter('2026-09-01T09:00:00.000Z');
  const { id } = await show('createWebhookEndpoint', {
    body: {
      url: receiver.url,
      description: 'the shop',
      event_types: ['payout.paid', 'order.*'],
      headers: { 'X-Tenant': 'shop-1' },
    },
  });
  await refuse('createWebhookEndpoint', 'invalid_url', { body: { url: 'http://10.0.0.7/hooks' } });
  await show('testWebhookEndpoint', { path: { id } });
  await show('testWebhookEndpointFilter', {
    path: { id },
    body: {
      filter: { 'data.currency': 'usd', 'data.amount': { $gte: 10_000 } },
      payload: { type: 'order.created', data: { currency: 'usd', amount: 900 } },
    },
  });
  await show('getWebhookEndpoint', { path: { id } });
  await show('getWebhookEndpointSecret', { path: { id } });
  await show('putWebhookEndpointByExternalId', {
    path: { external_id: 'warehouse' },
    body: { url: receiver.url, event_types: ['order.shipped'], rate_limit: 20 },
  });
  await show('getWebhookEndpointByExternalId', { path: { external_id: 'warehouse' } });
  await show('listWebhookEndpoints', { query: { status: 'enabled' } });
  await show('listEventTypes', { query: { sort: '-type', per_page: 1 } });
  await describeType({ show, refuse });
  return id;
}

/** The shop describes the events that it publishes. */
async function describeType({ show, refuse }: Pick<Recorder, 'show' | 'refuse'>): Promise<void> {
  const path = { type: 'order.created' };
  const body = {
    description: 'An order was placed.',
    group: 'Orders',
    data_schema: { required: ['order_id'], properties: { order_id: { type: 'string' } } },
    data_example: { order_id: 'order-1042' },
  };
  await show('putEventType', { path, body });
  await refuse('putEventType', 'invalid_schema', {
    path,
    body: { ...body, data_example: { order_id: 1042 } },
  });
  await show('getEventType', { path });
  await show('deleteEventType', { path });
}

/** September: the owed amounts are previewed and frozen, and the file goes to the bank. */
export async function paying({ show, refuse, chapter }: Recorder): Promise<Frozen> {
  chapter('2026-09-15T08:30:00.000Z');
  const selection = { filters: { currency: 'usd' } };
  await show('previewPayout', { body: selection });
  await show('previewPayoutAffiliates', {
    body: selection,
    query: { sort: '-commission_count', per_page: 1 },
  });
  await show('previewPayoutExclusions', { query: { reason: 'on_hold', per_page: 1 } });
  await show('previewPayoutSignals', { body: selection, query: { per_page: 1 } });
  await refuse('getCurrentPayout', 'no_current_payout');
  await refuse('createPayout', 'unknown_filter', { body: { filters: { curency: 'usd' } } });
  const { id, affiliates } = await show('createPayout', {
    headers: { 'Idempotency-Key': 'payout-september' },
    body: selection,
  });
  await refuse('createPayout', 'current_payout_exists', { body: selection });
  await show('getCurrentPayout');
  await show('getPayout', { path: { payout_id: id } });
  await show('listPayoutAffiliates', {
    path: { payout_id: id },
    query: { sort: 'affiliate_id', per_page: 1 },
  });
  await show('listPayoutCommissions', { path: { payout_id: id }, query: { type: 'sale', per_page: 1 } });
  await show('listPayoutExclusions', { path: { payout_id: id } });
  await show('listPayoutVerifications', { path: { payout_id: id } });
  await show('listPayoutSignals', { path: { payout_id: id }, query: { is_ended: false, per_page: 1 } });
  await show('downloadPayoutSignals', { path: { payout_id: id } });
  await show('downloadPayout', { path: { payout_id: id } });
  await show('downloadPaymentFile', { path: { payout_id: id, format: 'paypal' } });
  await show('getPaymentFiles', { path: { payout_id: id } });
  return { id, affiliates: affiliates.map(({ affiliate_id }: { affiliate_id: number }) => affiliate_id) };
}

/** The money has left: the payout is completed, while the shop that should get the event is down. */
export async function completing(
  recorder: Recorder,
  scene: Scene,
  { payout, endpoint }: { payout: Frozen; endpoint: string },
): Promise<void> {
  const { show, chapter, settled } = recorder;
  const { receiver } = scene;
  chapter('2026-09-16T10:05:00.000Z');
  answerWith(receiver, 503, 'down for maintenance\n', { 'retry-after': '300' });
  await show('takePayoutResult', {
    path: { payout_id: payout.id },
    body: `Transaction ID,Unique ID,Amount,Currency,Transaction status\n${payout.affiliates
      .map((affiliate, index) => `TX-${index + 1},P1-A${affiliate},${AMOUNTS[index]},USD,Completed\n`)
      .join('')}`,
  });
  await show('listPayoutResults', { path: { payout_id: payout.id } });
  await show('completePayout', {
    path: { payout_id: payout.id },
    headers: { 'If-Match': '"1"', 'Idempotency-Key': 'complete-september' },
    body: {
      commissions: payout.affiliates.map((affiliate) => ({
        affiliate_id: affiliate,
        is_paid: true,
        payment_reference: `P1-A${affiliate}`,
      })),
      require_all: true,
    },
  });
  await show('listWebhookEvents', { query: { status: 'pending', per_page: 1 } });
  const { data } = await show('listEventsOfWebhookEndpoint', {
    path: { id: endpoint },
    query: { type: 'payout.paid' },
  });
  const one = { id: endpoint, event_id: data[0].id };
  answerWith(receiver, 204, '');
  const before = receiver.received.length;
  await show('retryEventOfWebhookEndpoint', { path: one });
  await receiver.until((all) => all.length > before);
  await settled();
  await show('getEventOfWebhookEndpoint', { path: one });
  // the run has one day, which this one replaces
  const today = recorder.day('2026-09-15');
  await show('getDeliveryAnalytics', {
    query: { from: today, to: today, interval: 'day', webhook_endpoint_id: endpoint },
  });
  await recovering(recorder, scene, endpoint);
  await portalAccess(recorder, endpoint);
  await show('listPayouts', { query: { status: 'paid', per_page: 1 } });
}

/** The shop manages its endpoint itself, by a link that is revoked later. */
async function portalAccess({ show }: Recorder, endpoint: string): Promise<void> {
  const { id } = await show('createPortalLink', {
    path: { id: endpoint },
    body: { read_only: true, event_types: ['payout.*'] },
  });
  await show('listPortalLinks', { query: { status: 'unused', per_page: 1 } });
  await show('deletePortalLink', { path: { link_id: id } });
}

/** The shop has lost received events: they are sent again, and a mistaken recovery is cancelled. */
async function recovering(
  { show, day }: Recorder,
  { world, unworked }: Scene,
  endpoint: string,
): Promise<void> {
  const span = { since: day('2026-09-01'), status: ['failed', 'delivered'], types: ['payout.*'] };
  const { id } = await unworked(() =>
    show('recoverWebhookEndpoint', {
      path: { id: endpoint },
      headers: { 'Idempotency-Key': 'recover-september' },
      body: span,
    }),
  );
  const one = `/v2/webhook-endpoints/${endpoint}/recoveries/${id}`;
  await until('the recovery is over', async () => (await world.api.get(one)).body.status === 'completed');
  await show('getRecoveryOfWebhookEndpoint', { path: { id: endpoint, recovery_id: id } });
  await unworked(async () => {
    const again = await world.api.post(`/v2/webhook-endpoints/${endpoint}/recover`, span);
    const path = { id: endpoint, recovery_id: again.body.id };
    await show('deleteRecoveryOfWebhookEndpoint', { path });
    await show('listRecoveriesOfWebhookEndpoint', { path: { id: endpoint }, query: { per_page: 1 } });
    // nothing waits that old, so the rest of the story is as before
    const waiting = { since: day('2026-09-01'), until: day('2026-09-01'), types: ['payout.*'] };
    await show('previewRecoveryOfWebhookEndpoint', {
      path: { id: endpoint },
      body: { action: 'discard', ...waiting },
    });
    const discard = await show('discardEventsOfWebhookEndpoint', { path: { id: endpoint }, body: waiting });
    await world.api.delete(`/v2/webhook-endpoints/${endpoint}/recoveries/${discard.id}`);
  });
}

/** The invoices of the paid affiliates who agreed to them. */
async function invoicing(
  { show, refuse, day }: Recorder,
  { world }: Scene,
  { id, affiliates }: Frozen,
): Promise<void> {
  const [one = 0] = affiliates;
  const agreed = await world.api.put(`/v2/affiliates/${one}/tax-profile`, {
    legal_type: 'person',
    legal_name: 'Ada Lovelace',
    country: 'US',
    address: { line1: '12 Analytical Way', city: 'Boston', region: 'MA', postal_code: '02108' },
    self_billing: { agreed_on: day('2026-07-02'), agreed_by: 'Ada Lovelace' },
  });
  if (agreed.status !== 200) throw new Error(agreed.text);
  await refuse('issueInvoices', 'current_is_read_only', { path: { payout_id: 'current' } });
  await show('issueInvoices', { path: { payout_id: id } });
  const { data } = await show('listInvoices', { query: { payout_id: id } });
  await show('getInvoice', { path: { invoice_id: data[0].id } });
  await show('downloadInvoice', { path: { invoice_id: data[0].id }, query: { format: 'xml' } });
  await show('downloadInvoicesOfPayout', { path: { payout_id: id }, query: { format: 'xml' } });
}

/** Later: a payment is returned, an order is refunded, a payout is created too early. */
export async function afterwards(
  recorder: Recorder,
  scene: Scene,
  { id, affiliates }: Frozen,
): Promise<void> {
  const { show, refuse, chapter, day } = recorder;
  const { world } = scene;
  chapter('2026-09-21T07:55:00.000Z');
  await invoicing(recorder, scene, { id, affiliates });
  await show('returnPayoutLine', {
    path: { payout_id: id, affiliate_id: affiliates[1] ?? 0 },
    body: { reason: 'the PayPal account is closed', reference: 'bounce-771' },
  });
  const line = { payout_id: id, affiliate_id: affiliates[0] ?? 0 };
  await world.api.post(`/v2/affiliates/payouts/${id}/affiliates/${line.affiliate_id}/returned`, {
    reason: 'booked for the wrong person',
    amount: 1,
  });
  const back = await show('listPayoutReturns', { path: line });
  await show('deletePayoutReturn', { path: { ...line, return_id: back.data[0].id } });
  await show('refundOrder', {
    headers: { 'Idempotency-Key': 'refund-88' },
    body: { order_id: 'order-1042', external_id: 'refund-88', reason: 'sent back within the guarantee' },
  });
  await show('getRefund', { path: { refund_id: 'refund-88' } });
  await show('listRefunds', { query: { order_id: 'order-1042' } });
  const typo = { order_id: 'order-1024', external_id: 'refund-89' };
  const waiting = await world.api.post('/v2/affiliates/refunds', typo);
  if (waiting.status !== 201) throw new Error(waiting.text);
  await show('reverseRefund', { path: { refund_id: 'refund-89' } });
  const { paid_at: paidAt } = (await world.api.get(`/v2/affiliates/payouts/${id}`)).body;
  await show('downloadPaidReport', { query: { year: paidAt.slice(0, 4) } });
  await show('listPaidReport', { query: { year: paidAt.slice(0, 4) } });
  const monthly = await show('createPayoutSchedule', {
    body: { name: 'monthly', every: 'month', day: 1, filters: { currency: 'usd' } },
  });
  const ofMonthly = { path: { schedule_id: monthly.id } };
  await show('getPayoutSchedule', ofMonthly);
  await show('listPayoutSchedules', { query: { sort: 'name' } });
  await show('changePayoutSchedule', { ...ofMonthly, body: { day: 15 } });
  await show('deletePayoutSchedule', ofMonthly);
  const year = { year: paidAt.slice(0, 4) };
  await show('getUsTaxReport', { query: year });
  await show('listUsTaxReport', { query: year });
  await show('exportUsTaxReport', { query: year });
  const period = { from: day('2026-08-01'), to: day('2026-09-30') };
  const statement = { path: { affiliate_id: affiliates[0] ?? 0 }, query: period };
  await show('getAffiliateStatement', statement);
  await show('downloadAffiliateStatement', statement);
  await show('getReportSummary', { query: { ...period, by: 'currency' } });
  await show('downloadReportSummary', { query: { ...period, by: 'currency' } });
  await show('listReportEntries', { query: { ...period, kind: 'paid', per_page: 2 } });
  await refuse('deletePayout', 'payout_is_paid', { path: { payout_id: id } });
  const early = (await world.api.post('/v2/affiliates/payouts')).body;
  const moved = await world.api.patch(`/v2/affiliates/${affiliates[1]}`, { paypal_email: 'cb@example.com' });
  if (moved.status !== 200) throw new Error(moved.text);
  await refuse('completePayout', 'payout_changed', {
    path: { payout_id: early.id },
    headers: { 'If-Match': '"1"' },
    body: { commissions: [{ affiliate_id: affiliates[1], is_paid: true }] },
  });
  await show('deletePayout', { path: { payout_id: early.id }, headers: { 'If-Match': '"2"' } });
}

/** The platform publishes its own events; the endpoint gets more, a new secret, and is deleted. */
export async function publishing({ show, refuse, chapter }: Recorder, id: string): Promise<void> {
  chapter('2026-09-22T07:30:00.000Z');
  await show('publishEvent', {
    headers: { 'Idempotency-Key': 'order-1077-created' },
    body: {
      type: 'order.created',
      data: { order_id: 'order-1077', total: 3190, currency: 'usd' },
      external_id: 'order-1077-created',
    },
  });
  const { data: published } = await show('listEvents', { query: { type: 'order.*' } });
  await show('getEvent', { path: { event_id: published[0].id } });
  const events = [4, 3].map((left) => ({
    type: 'stock.changed',
    data: { sku: 'tent-2', left },
    external_id: `tent-2-left-${left}`,
    ordering_key: 'tent-2',
    tags: ['warehouse 3'],
  }));
  await show('publishEventBatch', { headers: { 'Idempotency-Key': 'stock-tent-2' }, body: { events } });
  await refuse('publishEventBatch', 'duplicate_external_id', {
    body: { events: events.map((one) => ({ ...one, data: {} })) },
  });
  await refuse('publishEvent', 'reserved_event_type', { body: { type: 'payout.paid', data: {} } });
  await show('changeWebhookEndpoint', {
    path: { id },
    body: {
      event_types: ['payout.*', 'order.*'],
      rate_limit: 20,
      payload: 'cloudevents',
      metadata: { team: 'finance' },
    },
  });
  await show('rotateWebhookEndpointSecret', { path: { id }, body: { overlap_seconds: 86_400 } });
  await show('deleteWebhookEndpoint', { path: { id } });
}

/** A warehouse that no request can reach claims its events. */
export async function pulling({ show, chapter }: Recorder, { world }: Scene): Promise<void> {
  chapter('2026-09-22T09:10:00.000Z');
  const fields = { delivery: 'pull', description: 'warehouse', event_types: ['stock.*'] };
  const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', fields);
  const path = { id: endpoint.id };
  await show('createWebhookEndpointToken', { path });
  await world.query(`insert into server_settings (key, value) values ('chore e-mail', now()::text)
    on conflict (key) do update set value = excluded.value`);
  await world.api.patch('/v2/account', {
    contact_notices: { portal_url: 'https://shop.example.com/webhooks' },
  });
  await world.api.patch(`/v2/webhook-endpoints/${endpoint.id}`, { contact_email: 'warehouse@example.com' });
  await show('confirmWebhookEndpointContact', { path });
  await world.api.patch('/v2/account', { contact_notices: null });
  await world.query(`delete from server_settings where key = 'chore e-mail'`);
  await world.query('delete from notices');
  await world.api.post('/v2/events', { type: 'stock.changed', data: { sku: 'tent-2', left: 2 } });
  const { items } = await show('claimWebhookEvents', {
    path,
    body: { limit: 10, lease_seconds: 300, wait_seconds: 20, consumer: 'warehouse' },
  });
  const leases = items.map(({ id, lease_id }: Record<string, string>) => ({ id, lease_id }));
  await show('extendWebhookLeases', { path, body: { items: leases, lease_seconds: 600 } });
  const done = leases.map((lease: object) => ({ ...lease, status: 'delivered' }));
  await show('acknowledgeWebhookEvents', { path, body: { items: done } });
  await world.api.delete(`/v2/webhook-endpoints/${endpoint.id}`);
}

function answerWith(
  receiver: Receiver,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  receiver.respond((_, response) => {
    response.sendDate = false;
    response.shouldKeepAlive = false;
    const length = body === '' ? {} : { 'content-type': 'text/plain', 'content-length': body.length };
    response.writeHead(status, { ...length, ...headers }).end(body);
  });
}
