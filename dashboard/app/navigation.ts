import type { IconName } from '../parts/icon.tsx';
import { navigation } from '../texts/navigation.ts';

export interface Entry {
  readonly to:
    | '/'
    | '/payouts'
    | '/affiliates'
    | '/commissions'
    | '/reports'
    | '/import'
    | '/webhooks'
    | '/events'
    | '/settings';
  readonly title: string;
  readonly icon: IconName;
  /** `g` and this letter open it. */
  readonly letter: string;
}

/** The main screens, in order; add new ones here. */
export const ENTRIES: readonly Entry[] = [
  { to: '/', title: navigation.home, icon: 'home', letter: 'h' },
  { to: '/payouts', title: navigation.payouts, icon: 'payouts', letter: 'p' },
  { to: '/affiliates', title: navigation.affiliates, icon: 'affiliates', letter: 'a' },
  { to: '/commissions', title: navigation.commissions, icon: 'commissions', letter: 'c' },
  { to: '/reports', title: navigation.reports, icon: 'file', letter: 'r' },
  { to: '/import', title: navigation.import, icon: 'import', letter: 'i' },
  { to: '/webhooks', title: navigation.webhooks, icon: 'webhooks', letter: 'w' },
  { to: '/events', title: navigation.events, icon: 'events', letter: 'e' },
  { to: '/settings', title: navigation.settings, icon: 'settings', letter: 's' },
];
