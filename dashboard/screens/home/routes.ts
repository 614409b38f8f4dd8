import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { searchOf, text } from '../../app/search.ts';

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  // the currency of the chart
  validateSearch: searchOf({ currency: text }),
  component: lazyRouteComponent(() => import('./home.tsx'), 'Home'),
});

export const homeRoutes = [home] as const;
