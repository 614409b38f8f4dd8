import './style.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { PortalClosed } from './app/portal.tsx';
import { openPortal } from './data/portal.ts';
import { followTheme } from './data/preferences.ts';
import { queries } from './data/queries.ts';
import { portalRouter } from './portal-router.ts';

followTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
const opened = await openPortal();
createRoot(root).render(
  typeof opened === 'string' ? (
    <PortalClosed why={opened} />
  ) : (
    <QueryClientProvider client={queries}>
      <RouterProvider router={portalRouter(opened)} />
    </QueryClientProvider>
  ),
);
