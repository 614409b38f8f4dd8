import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

/**
 * `kind` is the kind of file to import; the others are for the list below it, and `import` is the one in the drawer.
 */
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
