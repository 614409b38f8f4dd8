import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

/** `kind` is what the file holds that one brings; the others are of the list below, and `import` is open at the side. */
const start = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  validateSearch: searchOf({
    kind: oneOf(['affiliates', 'commissions']),
    page: number,
    sort: text,
    of: oneOf(['affiliates', 'commissions']),
    status: oneOf(['completed', 'undone']),
    import: text,
  }),
  component: lazyRouteComponent(() => import('./import.tsx'), 'ImportScreen'),
});

export const importRoutes = [start] as const;
