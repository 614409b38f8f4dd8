import { createRootRoute, Outlet } from '@tanstack/react-router';
import { type NoPortal, useIsEnded } from '../data/portal.ts';
import { Empty } from '../parts/feedback.tsx';
import { Toasts } from '../parts/toast.tsx';
import { portal as texts } from '../texts/portal.ts';
import { Connection } from './connection.tsx';

/** The shell around the screens of a portal. */
function Shell() {
  if (useIsEnded()) return <PortalClosed why="ended" />;
  return (
    <>
      <main id="content" className="portal" tabIndex={-1}>
        <Connection />
        <Outlet />
      </main>
      <Toasts />
    </>
  );
}

/** Says why there is no portal, and what to do. */
export function PortalClosed({ why }: { why: NoPortal }) {
  return (
    <main className="portal">
      <h1 className="hidden-text">{texts.title}</h1>
      <Empty icon="alert" title={texts.closed[why].title}>
        {texts.closed[why].lead}
      </Empty>
    </main>
  );
}

/** The layout of a portal. */
export const portalRoot = createRootRoute({ component: Shell });
