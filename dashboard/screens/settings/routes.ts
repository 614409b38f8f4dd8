import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

const start = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account' });
  },
});

const account = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/account',
  component: lazyRouteComponent(() => import('./account.tsx'), 'AccountSettings'),
});

/** `password` is the result of changing it, `page` that of the sessions. */
const profile = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/profile',
  validateSearch: searchOf({
    page: number,
    sort: text,
    password: oneOf(['changed', 'wrong', 'weak', 'differs']),
  }),
  component: lazyRouteComponent(() => import('./profile.tsx'), 'Profile'),
});

/** `user` is the user in the drawer, `sessions` the page of the sessions. */
const people = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/people',
  validateSearch: searchOf({
    page: number,
    sort: text,
    status: oneOf(['active', 'invited', 'removed']),
    user: text,
    sessions: number,
  }),
  component: lazyRouteComponent(() => import('./people.tsx'), 'PeopleSettings'),
});

const keys = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/keys',
  validateSearch: searchOf({ page: number, sort: text, status: oneOf(['active', 'revoked']) }),
  component: lazyRouteComponent(() => import('./keys.tsx'), 'KeySettings'),
});

/** `application` is the application in the drawer, `grants` the page of the grants. */
const applications = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/applications',
  validateSearch: searchOf({ page: number, application: text, grants: number }),
  component: lazyRouteComponent(() => import('./applications.tsx'), 'ApplicationSettings'),
});

const alerts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/alerts',
  component: lazyRouteComponent(() => import('./alerts.tsx'), 'AlertsScreen'),
});

/** The notice and the language of the preview. */
const notices = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/notices',
  validateSearch: searchOf({
    kind: oneOf(['paid', 'returned', 'destination_changed', 'form_lapsing', 'agreement_ending']),
    language: oneOf(['en', 'de', 'fr', 'es']),
  }),
  component: lazyRouteComponent(() => import('./notices.tsx'), 'NoticeSettings'),
});

const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/audit',
  validateSearch: searchOf({
    page: number,
    kind: oneOf(['key', 'user', 'application', 'operator', 'portal']),
    actor: text,
    action: text,
    target: text,
    from: text,
    until: text,
  }),
  component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditLog'),
});

const system = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/system',
  component: lazyRouteComponent(() => import('./system.tsx'), 'SystemState'),
});

export const settingsRoutes = [
  start,
  profile,
  account,
  people,
  alerts,
  notices,
  keys,
  applications,
  audit,
  system,
] as const;
