import { expect, test } from 'vitest';
import { capabilitiesOf, ROLE_NAMES, type Role } from '../../src/contract/roles.ts';
import { ROUTES } from '../../src/http/routes.ts';
import {
  completePayout,
  ENDPOINTS,
  makeAffiliate,
  makeCommission,
  makePayout,
  unique,
} from '../api/fixtures.ts';
import { signedIn } from '../people/support.ts';
import { SCREENS } from '../screenshots/screens.ts';
import { isLong } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { goTo, hasScreen } from './dashboard-support.ts';
import { inChromium, type Page, takeSession } from './support.ts';

/** What a user presses, and the operation that it sends, or leads to. The server says what that needs. */
const OPERATION_OF: Readonly<Record<string, string>> = {
  'Add a channel': 'createAlertChannel',
  'Add a currency': 'changeAccount',
  'Add a header': 'changeWebhookEndpoint',
  'Add a rule': 'changeAccount',
  'Add an endpoint': 'createWebhookEndpoint',
  'Adjust balance': 'createAdjustment',
  'All as PDF': 'downloadInvoicesOfPayout',
  'All as Peppol files': 'downloadInvoicesOfPayout',
  'All as XML': 'downloadInvoicesOfPayout',
  Approve: 'approvePayout',
  Change: 'changePayoutSchedule',
  'Change how it signs': 'changeWebhookEndpoint',
  'Change the client certificate': 'changeWebhookEndpoint',
  'Change the client credentials': 'changeWebhookEndpoint',
  'Change the password': 'listOwnSessions',
  'Change the proxy': 'changeWebhookEndpoint',
  'Choose a file': 'createImport',
  'Create a key': 'createApiKey',
  'Create a new secret': 'rotateWebhookEndpointSecret',
  'Create a portal link': 'createPortalLink',
  'Create payout': 'createPayout',
  'Change tax profile': 'putAffiliateTaxProfile',
  Delete: 'deletePayoutSchedule',
  'Delete payout': 'deletePayout',
  'Delete the endpoint': 'deleteWebhookEndpoint',
  'Describe a type': 'putEventType',
  Disable: 'changeWebhookEndpoint',
  Edit: 'changeAffiliate',
  'File with tax ids': 'exportUsTaxReport',
  'Hold for review': 'holdCommission',
  'Import a file': 'createImport',
  'Invite somebody': 'createUser',
  'Issue invoices': 'issueInvoices',
  'New schedule': 'createPayoutSchedule',
  Pause: 'changePayoutSchedule',
  'Pause payouts': 'changeAffiliate',
  'Publish an event': 'publishEvent',
  'Read returned money from a file': 'takePayoutResult',
  Refund: 'refundCommission',
  'Register an application': 'createOAuthApplication',
  Reject: 'rejectPayout',
  Remove: 'deleteAffiliateDestination',
  'Remove EUR': 'changeAccount',
  'Remove GBP': 'changeAccount',
  'Remove USD': 'changeAccount',
  'Remove rule 1': 'changeAccount',
  'Remove tax profile': 'deleteAffiliateTaxProfile',
  'Review and pay': 'completePayout',
  Revoke: 'deletePortalLink',
  'Save alerts': 'setAlertSettings',
  'Save contact e-mails': 'changeAccount',
  'Save e-mails': 'changeAccount',
  'Save endpoint': 'changeWebhookEndpoint',
  'Save settings': 'changeAccount',
  'Save the filter': 'changeWebhookEndpoint',
  'Send a test event': 'testWebhookEndpoint',
  'Send what it never got': 'recoverWebhookEndpoint',
  'Set destination': 'putAffiliateDestination',
  'Show the secret': 'getWebhookEndpointSecret',
  Void: 'voidCommission',
  XML: 'downloadInvoice',
  Peppol: 'downloadInvoice',
  // the only step that is left for the account of the test
  'Hide this list': 'createUser',
  'Invite a colleague': 'createUser',
  'Copy npx payhook users invite grace@example.com --name Grace --role finance': 'createUser',
  // the same words mean something else on other screens
  'payout-invoices: PDF': 'downloadInvoice',
  'webhook-portals: Copy as curl': 'listPortalLinks',
};

/** Replaces "Review and pay" for those who cannot pay. */
const INSTEAD = ['Review'];

/** Screens that are open to some roles only, with the operation that fills them. */
const SCREEN_OF: Readonly<Record<string, string>> = {
  'settings-people': 'listUsers',
  'settings-keys': 'listApiKeys',
  'settings-applications': 'listOAuthApplications',
  'settings-audit': 'listAuditLog',
};

/** The others are dialogs, steps and views with the same actions, or portals, which have no roles. */
const NAMES =
  'home payouts schedules schedule payout-new payout-invoices payout-approval affiliates affiliate-bank commissions commission ' +
  'refunds us-tax import webhooks webhook-log webhook-portals webhook-recoveries webhook-settings events event event-types settings-profile ' +
  'settings-account settings-people settings-alerts settings-notices settings-keys settings-applications settings-audit settings-system';
const PLAIN = SCREENS.filter(({ name }) => NAMES.split(' ').includes(name));

function may(role: Role, operation: string): boolean {
  const route = ROUTES.find((each) => each.operation === operation);
  if (route === undefined) throw new Error(`there is no operation ${operation}`);
  return capabilitiesOf(role).includes(route.needs);
}

inChromium('the actions of the dashboard', (chromium) => {
  const world = useWorld();

  test('are shown to the roles that the server lets do them, and no menu is empty', async () => {
    const { api } = world;
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    await completePayout(api, await makePayout(api));
    const { id: commission } = await makeCommission(api, id);
    await api.post(`/v2/affiliates/commissions/${commission}/refund`, {
      external_id: unique('refund'),
      amount: 1,
    });
    await makePayout(api);
    await api.post(ENDPOINTS, { url: 'https://shop.example.com/hooks', owner: 'customer 7' });
    const screens = new Map<string, string>();
    for (const { name, path } of PLAIN) screens.set(name, await path(api));
    const seen = {} as Record<Role, Map<string, string[]>>;
    const visitor = await chromium.visitor({ scripts: true });
    const others = ROLE_NAMES.filter((role) => role !== 'owner');
    for (const [at, role] of ['owner' as const, ...others].entries()) {
      // in a short run a screen is seen by an owner and one of the other roles
      const isSeen = (index: number) => isLong || at === 0 || index % others.length === at - 1;
      const { browser } = await signedIn(world, role);
      await visitor.context.clearCookies();
      await takeSession(visitor, world.url, browser.cookie() ?? '');
      seen[role] = new Map();
      await visitor.page.goto(world.url);
      await hasScreen(visitor.page);
      for (const [name, path] of [...screens].filter((_, index) => isSeen(index))) {
        await goTo(visitor.page, path);
        await visitor.page.locator('.skeleton').first().waitFor({ state: 'detached' });
        seen[role].set(name, await actionsOn(visitor.page));
      }
    }
    const wrong = ROLE_NAMES.flatMap((role) =>
      [...seen[role]].flatMap(([name, shown]) => {
        const isOpen = may(role, SCREEN_OF[name] ?? 'getMe');
        const all = isOpen ? (seen.owner.get(name) ?? []) : [];
        const expected = all.filter((action) =>
          may(role, OPERATION_OF[`${name}: ${action}`] ?? OPERATION_OF[action] ?? 'getMe'),
        );
        const hidden = expected.filter((action) => !shown.includes(action));
        const refused = shown.filter((action) => !expected.includes(action) && !INSTEAD.includes(action));
        return hidden.length + refused.length === 0 ? [] : [{ role, name, hidden, refused }];
      }),
    );
    expect(wrong).toEqual([]);
    // every row is of an action that is there
    const everything = new Set(
      [...seen.owner].flatMap(([name, actions]) => actions.flatMap((each) => [each, `${name}: ${each}`])),
    );
    expect(Object.keys(OPERATION_OF).filter((action) => !everything.has(action))).toEqual([]);
  });
});

/** The names of the buttons of a page and of the items of its menus. Fails for an empty menu. */
async function actionsOn(page: Page): Promise<string[]> {
  const names = (selector: string): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
      .filter((each) => each.checkVisibility())
      .map((each) => (each.getAttribute('aria-label') ?? each.innerText).trim())`);
  const found = await names(
    ':is(main, dialog) :is(button, a.button):not(thead *, .pager *, [aria-haspopup=menu])',
  );
  for (const menu of await page.locator('main [aria-haspopup=menu]').all()) {
    // even behind a dialog
    await menu.dispatchEvent('click');
    const items = await names('[role=menu] button');
    expect(items, page.url()).not.toEqual([]);
    found.push(...items);
    await menu.dispatchEvent('click');
  }
  return [...new Set(found)];
}
