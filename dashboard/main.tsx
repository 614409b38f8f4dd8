import './style.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { loadMe } from './data/me.ts';
import { followTheme } from './data/preferences.ts';
import { queries } from './data/queries.ts';
import { router } from './router.ts';

followTheme();
// while the files of the screen load; the shell shows an error
void loadMe().catch(() => undefined);
// the server was upgraded, so the files of the old page no longer exist
window.addEventListener('vite:preloadError', () => window.location.reload());

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
