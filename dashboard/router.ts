import { createRouter } from '@tanstack/react-router';
import { ScreenProblem } from './app/problem.tsx';
import { rootRoute } from './app/root.tsx';
import { parseSearch, stringifySearch } from './app/search.ts';
import { affiliateRoutes } from './screens/affiliates/routes.ts';
import { commissionRoutes } from './screens/commissions/routes.ts';
import { eventRoutes } from './screens/events/routes.ts';
import { homeRoutes } from './screens/home/routes.ts';
import { importRoutes } from './screens/import/routes.ts';
import { payoutRoutes } from './screens/payouts/routes.ts';
import { reportRoutes } from './screens/reports/routes.ts';
import { settingsRoutes } from './screens/settings/routes.ts';
import { webhookRoutes } from './screens/webhooks/routes.ts';

// a new noun: its routes here, its entry in app/navigation.ts
const routeTree = rootRoute.addChildren([
  ...homeRoutes,
  ...payoutRoutes,
  ...affiliateRoutes,
  ...commissionRoutes,
  ...reportRoutes,
  ...importRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...settingsRoutes,
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenProblem,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
