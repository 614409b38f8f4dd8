import { readFileSync } from 'node:fs';
import type { Page } from '../browser/support.ts';
import type { Browser } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import { agree, letInvoice, withRate } from '../support/invoicing.ts';

/** A screen of the dashboard for a screenshot. */
export interface Screen {
  readonly name: string;
  /** Its path in an account filled by the demo; called with the page’s client. */
  readonly path: (api: Api) => Promise<string> | string;
  /** The first actions on it. */
  readonly act?: (page: Page) => Promise<void>;
  /** Reverts what other screens would show too, as an owner: a key cannot lower what protects payouts. */
  readonly after?: (owner: Browser) => Promise<{ readonly status: number }>;
}

const unpaid = async (api: Api) => {
  const { body } = await api.get('/v2/affiliates/payouts?status=unpaid');
  const { body: made } = body.data[0] ? { body: body.data[0] } : await api.post('/v2/affiliates/payouts');
  return `/payouts/${made.id ?? 'po_none'}`;
};
/** Without the unpaid payout, which `unpaid` creates again. */
const owed = async (api: Api) => {
  const path = await unpaid(api);
  await api.delete(path.replace('/payouts/', '/v2/affiliates/payouts/'));
  return '/payouts/new';
};
const paid = async (api: Api) => {
  const { body } = await api.get('/v2/affiliates/payouts?status=paid');
  return `/payouts/${body.data[0]?.id ?? 'po_none'}`;
};

const schedule = async (api: Api) => {
  const made = { name: 'monthly, in dollars', every: 'month', day: 31, filters: { currency: 'usd' } };
  const { body } = await api.post('/v2/affiliates/payout-schedules', made);
  return `/payouts/schedules?open=${body.id ?? 'psc_none'}`;
};

const firstAffiliate = async (api: Api) => {
  const { body } = await api.get('/v2/affiliates?sort=id');
  return `/affiliates/${body.data[0]?.id ?? 1}`;
};

const withDestination = async (api: Api) => {
  const path = await firstAffiliate(api);
  const account = { type: 'sepa', account_holder: 'Ada Lovelace', iban: 'DE89370400440532013000' };
  await api.put(`/v2${path}/destination`, account);
  return path;
};

const invoiced = async (api: Api) => {
  const path = await paid(api);
  const payout = path.replace('/payouts/', '/v2/affiliates/payouts/');
  const { paid_at } = (await api.get(payout)).body;
  if (paid_at === undefined) return path;
  await letInvoice(api);
  const { body } = await api.get(`${payout}/affiliates?per_page=3`);
  for (const { affiliate_id } of body.data) await agree(api, affiliate_id);
  await api.post(`${payout}/invoices`, withRate(paid_at));
  return path;
};

const byAch = async (api: Api) => {
  const originator = {
    immediate_destination: '021000021',
    immediate_destination_name: 'JPMorgan Chase',
    immediate_origin: '1234567890',
    immediate_origin_name: 'Difference Engines',
    company_name: 'Difference Engin',
    company_id: '1234567890',
  };
  await api.patch('/v2/account', { originator });
  const account = {
    ...{
      type: 'ach',
      account_holder: 'Ada Lovelace',
      routing_number: '121042882',
      account_number: '000123456789',
    },
    account_type: 'checking',
  };
  const path = await unpaid(api);
  const payout = path.replace('/payouts/', '/v2/affiliates/payouts/');
  const { body } = await api.get(`${payout}/affiliates?per_page=5`);
  for (const { affiliate_id } of body.data ?? [])
    await api.put(`/v2/affiliates/${affiliate_id}/destination`, account);
  return `${path}?step=files`;
};

const line = async (api: Api) => {
  const path = await unpaid(api);
  const { body } = await api.get(
    `${path.replace('/payouts/', '/v2/affiliates/payouts/')}/affiliates?per_page=1`,
  );
  return `${path}?line=${body.data?.[0]?.affiliate_id ?? 1}`;
};

const withheld = async (api: Api) => {
  await api.patch('/v2/account', { approval: 'second_person' });
  return unpaid(api);
};

const refunded = async (api: Api) => {
  const { body } = await api.get('/v2/affiliates/refunds?status=applied');
  return `/commissions?open=${body.data[0]?.refunds[0]?.commission.id ?? 'com_none'}`;
};

const endpoint = async (api: Api) => {
  const { body } = await api.get('/v2/webhook-endpoints?status=enabled');
  return `/webhooks/${body.data[0]?.id ?? 'we_none'}`;
};

const newest = async (api: Api): Promise<{ id: string }> => {
  const { body } = await api.get('/v2/webhook-endpoints');
  return body.data[0] ?? { id: 'we_none' };
};

/** A portal of the newest endpoint, or of all endpoints of its owner. */
const portal = async (api: Api, of: { readonly all_of_owner?: boolean } = {}) => {
  const one = `/v2/webhook-endpoints/${(await newest(api)).id}`;
  await api.patch(one, { owner: 'customer 7' });
  const { body: link } = await api.post(`${one}/portal-link`, of);
  return link.url?.replace(/^\w+:\/\/[^/]+/, '') ?? '/portal';
};

const event = async (api: Api) => {
  const { body } = await api.get('/v2/events');
  return `/events/${body.data[0]?.id ?? 'evt_none'}`;
};

const BANK = readFileSync(new URL('../../examples/imports/bank-and-tax.csv', import.meta.url), 'utf8');

const chooseFile = async (page: Page, name: string, ...lines: string[]) => {
  const buffer = Buffer.from([...lines, ''].join('\n'));
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
  await page.getByText('What each column means').waitFor();
};

/** Reads a result file about the first affiliates of the payout, of whom one was not paid. */
const readAnswer = async (page: Page) => {
  const lines: { affiliate_id: number; is_paid: boolean }[] = await page.evaluate(`(async () => {
    const [{ id }] = (await (await fetch('/v2/affiliates/payouts?status=unpaid')).json()).data;
    const { data } = await (await fetch('/v2/affiliates/payouts/' + id + '/affiliates?per_page=20')).json();
    return data.slice(1).map(({ affiliate_id }, index) => ({ affiliate_id, is_paid: index !== 3 }));
  })()`);
  const rows = lines.map(({ affiliate_id, is_paid }) => `${affiliate_id},${is_paid}`);
  const buffer = Buffer.from(['affiliate_id,is_paid', ...rows, ''].join('\n'));
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'bank-november.csv', mimeType: 'text/csv', buffer });
  await page.getByText('Rejected').waitFor();
};

/** An export of another product about affiliates of the demo, with one line that cannot be imported. */
const chooseMonth = async (page: Page) => {
  const emails: string[] = await page.evaluate(`(async () => {
    const { data } = await (await fetch('/v2/affiliates?per_page=8')).json();
    return data.map(({ email }) => email);
  })()`);
  const lines = emails.map(
    (email, index) => `${2041 + index};${email};${31 + index}.90;EUR;2026-11-${10 + index}`,
  );
  await chooseFile(
    page,
    'november.csv',
    'Order;Partner e-mail;Commission;Currency;Date',
    ...lines,
    '2050;nobody@example.com;12.00;EUR;2026-11-31',
  );
  await page.getByText('cannot be imported').first().waitFor();
};

const firstImport = async (api: Api) => {
  const { body } = await api.get('/v2/imports');
  return `/import?import=${body.data[0]?.id ?? 'imp_none'}`;
};

/** Every screen; a new one is a line here. */
export const SCREENS: readonly Screen[] = [
  { name: 'home', path: () => '/' },
  { name: 'payouts', path: () => '/payouts' },
  { name: 'schedules', path: () => '/payouts/schedules' },
  { name: 'schedule', path: schedule },
  { name: 'schedule-new', path: () => '/payouts/schedules?open=new' },
  { name: 'payout-new', path: () => '/payouts/new' },
  { name: 'payout-preview', path: owed },
  { name: 'payout-left-out', path: () => '/payouts/new?view=out' },
  { name: 'payout-review', path: unpaid },
  { name: 'payout-line', path: line },
  {
    name: 'payout-files',
    path: async (api) => `${await unpaid(api)}?step=files`,
    act: async (page) => {
      await page
        .getByRole('button', { name: /for PayPal/ })
        .first()
        .click();
      await page
        .getByText(/^Downloaded/)
        .first()
        .waitFor();
    },
  },
  { name: 'payout-nacha', path: byAch },
  { name: 'payout-send', path: async (api) => `${await unpaid(api)}?step=send` },
  {
    name: 'payout-complete',
    path: async (api) => `${await unpaid(api)}?step=complete`,
    act: (page) => page.getByRole('button', { name: 'Tick all' }).click(),
  },
  {
    name: 'payout-results',
    path: async (api) => `${await unpaid(api)}?step=complete`,
    act: readAnswer,
  },
  { name: 'payout-paid', path: paid },
  { name: 'payout-invoices', path: invoiced },
  {
    name: 'payout-approval',
    path: withheld,
    after: (owner) => owner.call('PATCH', '/v2/account', { approval: 'none' }),
  },
  { name: 'affiliates', path: () => '/affiliates' },
  { name: 'affiliate', path: firstAffiliate },
  { name: 'affiliate-adjust', path: async (api) => `${await firstAffiliate(api)}?open=adjust` },
  { name: 'affiliate-bank', path: withDestination },
  { name: 'affiliate-destination', path: async (api) => `${await firstAffiliate(api)}?open=destination` },
  { name: 'affiliate-tax', path: async (api) => `${await firstAffiliate(api)}?open=tax` },
  { name: 'commissions', path: () => '/commissions' },
  {
    name: 'commissions-selected',
    path: () => '/commissions',
    act: async (page) => {
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByRole('button', { name: /^Hold for review/ }).click();
    },
  },
  { name: 'commission', path: refunded },
  { name: 'refunds', path: () => '/commissions/refunds' },
  { name: 'report', path: () => '/reports?period=this_year' },
  { name: 'report-affiliates', path: () => '/reports?period=this_year&by=affiliate' },
  { name: 'report-methods', path: () => '/reports?period=this_year&by=method' },
  { name: 'report-entries', path: () => '/reports/entries?kind=paid' },
  { name: 'us-tax', path: () => '/reports/us-tax' },
  { name: 'tax-forms', path: () => '/reports/tax-forms' },
  { name: 'us-tax-all', path: () => '/reports/us-tax?view=all' },
  { name: 'import', path: () => '/import' },
  {
    name: 'import-file',
    path: () => '/import?kind=commissions',
    act: async (page) => {
      await chooseFile(
        page,
        'export-september.csv',
        'Bestellung;Partner E-Mail;Provision;Umsatz;Währung;Datum;Bemerkung',
        '1042;ada@example.com;31,90;159,50;EUR;13.09.2026;Größe M',
        '1043;nobody@example.com;1.234,56;6.172,80;EUR;14.09.2026;',
        '1044;ada@example.com;viel;5.000,00;EUR;31.09.2026;',
      );
      await page.getByText('lines cannot be imported').waitFor();
    },
  },
  { name: 'import-month', path: () => '/import?kind=commissions', act: chooseMonth },
  {
    name: 'import-bank',
    path: () => '/import',
    act: (page) => chooseFile(page, 'bank-and-tax.csv', BANK.trimEnd()),
  },
  {
    name: 'import-question',
    path: () => '/import?kind=commissions',
    act: (page) =>
      chooseFile(
        page,
        'commissions.csv',
        'id,affiliate_email,amount,date,status',
        '1042,ada@example.com,1.234,01/09/2026,paid',
      ),
  },
  {
    name: 'import-done',
    path: () => '/import',
    act: async (page) => {
      await chooseFile(
        page,
        'partners.csv',
        'email,name',
        `grace.${Date.now()}@example.com,Grace Hopper`,
        'nobody,Nobody',
      );
      await page.getByRole('button', { name: /^Import \d/ }).click();
      await page.getByText('File imported').waitFor();
    },
  },
  { name: 'import-record', path: firstImport },
  { name: 'webhooks', path: () => '/webhooks' },
  { name: 'webhook-log', path: () => '/webhooks/log' },
  { name: 'webhook-log-orders', path: () => '/webhooks/log?type=order.*' },
  { name: 'webhook', path: endpoint },
  {
    name: 'delivery',
    path: () => '/webhooks/log?status=failed',
    act: async (page) => {
      await page.locator('a.rowlink').first().click();
      await page.getByRole('dialog').getByText('Attempt 1').waitFor();
    },
  },
  {
    name: 'webhook-log-filters',
    path: () => '/webhooks/log?code=200',
  },
  {
    name: 'webhook-test',
    path: endpoint,
    act: async (page) => {
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByRole('dialog').getByLabel('Type').selectOption('payout.paid');
    },
  },
  {
    name: 'webhook-signing',
    path: async (api) => `${await endpoint(api)}?view=settings`,
    act: async (page) => {
      await page.getByRole('button', { name: 'Change how it signs' }).click();
      await page.getByRole('dialog').getByLabel('Signed as').selectOption('Custom');
    },
  },
  { name: 'webhook-charts', path: async (api) => `${await endpoint(api)}?view=charts` },
  { name: 'webhook-recoveries', path: async (api) => `${await endpoint(api)}?view=recoveries` },
  {
    name: 'webhook-filter',
    path: async (api) => `${await endpoint(api)}?view=settings`,
    act: async (page) => {
      const filter = {
        'data.currency': { $in: ['usd', 'eur'] },
        'data.amount': { $gte: 10_000 },
        $or: [{ 'data.country': 'DE' }, { 'data.tags': { $contains: 'vip' } }],
      };
      await page.getByLabel(/^Conditions/).fill(JSON.stringify(filter, null, 2));
      await page.getByRole('button', { name: 'Try it on an event' }).click();
      await page.getByRole('button', { name: 'Try the filter' }).click();
      await page.getByText('The filter leaves this event out.').waitFor();
    },
  },
  {
    name: 'webhook-portals',
    path: async (api) => {
      await portal(api);
      await portal(api, { all_of_owner: true });
      return `/webhooks/${(await newest(api)).id}?view=portals`;
    },
  },
  {
    name: 'webhook-portal-make',
    path: async (api) => `/webhooks/${(await newest(api)).id}?view=portals`,
    act: (page) => page.getByRole('button', { name: 'Create a portal link' }).click(),
  },
  { name: 'webhook-settings', path: async (api) => `${await endpoint(api)}?view=settings` },
  { name: 'portal', path: (api) => portal(api, { all_of_owner: true }) },
  { name: 'portal-endpoint', path: portal },
  {
    name: 'portal-settings',
    path: portal,
    act: async (page) => {
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByLabel('URL').waitFor();
    },
  },
  { name: 'portal-closed', path: () => '/portal?link=pl_none' },
  { name: 'events', path: () => '/events' },
  { name: 'event-publish', path: () => '/events?open=publish' },
  { name: 'event-types', path: () => '/events/types' },
  { name: 'event-type', path: () => '/events/types?type=payout.paid' },
  { name: 'event', path: event },
  { name: 'settings-profile', path: () => '/settings/profile' },
  {
    name: 'settings-profile-wrong-password',
    path: () => '/settings/profile?password=wrong',
  },
  { name: 'settings-account', path: () => '/settings/account' },
  { name: 'settings-people', path: () => '/settings/people' },
  { name: 'settings-alerts', path: () => '/settings/alerts' },
  { name: 'settings-notices', path: () => '/settings/notices' },
  { name: 'settings-keys', path: () => '/settings/keys' },
  { name: 'settings-applications', path: () => '/settings/applications' },
  { name: 'settings-audit', path: () => '/settings/audit' },
  { name: 'settings-system', path: () => '/settings/system' },
];
