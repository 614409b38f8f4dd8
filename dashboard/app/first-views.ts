import { affiliates } from '../texts/affiliates.ts';
import { commissions } from '../texts/commissions.ts';
import { events } from '../texts/events.ts';
import { home } from '../texts/home.ts';
import { imports } from '../texts/imports.ts';
import { payouts } from '../texts/payouts.ts';
import { reports } from '../texts/reports.ts';
import { webhooks } from '../texts/webhooks.ts';

/** What the page of a screen has before its scripts have run. */
interface FirstView {
  readonly title: string;
  readonly lead: string;
  /** The requests of the screen at its address without parameters, which every role may make. */
  readonly reads: readonly string[];
}

/**
 * The first view of the main screens, by path. The build adds them to `screens.json`, and the server draws the title and names the
 * requests, so that they run while the scripts load.
 */
export const FIRST_VIEWS: Readonly<Record<string, FirstView>> = {
  '/': {
    ...home,
    reads: [
      '/v2/affiliates/balances',
      '/v2/analytics/commissions?interval=month',
      '/v2/analytics/deliveries?interval=hour',
      '/v2/affiliates?per_page=1',
      '/v2/affiliates/commissions?per_page=1',
      '/v2/affiliates/payouts?per_page=1',
      '/v2/webhook-endpoints?per_page=100',
      '/v2/webhook-events/?status=failed&per_page=1',
    ],
  },
  '/payouts': {
    ...payouts,
    reads: ['/v2/affiliates/payouts?status=unpaid&per_page=1', '/v2/affiliates/payouts?per_page=25'],
  },
  '/affiliates': { ...affiliates, reads: ['/v2/affiliates?per_page=25'] },
  '/commissions': { ...commissions, reads: ['/v2/affiliates/commissions?per_page=25'] },
  '/reports': { ...reports, reads: [] },
  '/import': { ...imports, reads: [] },
  '/webhooks': { ...webhooks, reads: [] },
  '/webhooks/log': {
    ...webhooks,
    reads: ['/v2/webhook-events/?per_page=25&max_total=1000', '/v2/webhook-endpoints?per_page=100'],
  },
  '/events': { ...events, reads: [] },
};
