import './style.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { loadMe } from './data/me.ts';
import { followTheme } from './data/preferences.ts';
import { queries } from './data/queries.ts';
import { router } from './router.ts';

/** The shell appears at the latest after this time, so that it can say what the user waits for. */
const PATIENCE_MS = 3000;

followTheme();
// the server was upgraded, so the files of the old page no longer exist
window.addEventListener('vite:preloadError', () => window.location.reload());

// until then the page shows the title that the server drew; the shell shows an error
const isReady = Promise.all([router.load(), loadMe()]).catch(() => undefined);
await Promise.race([isReady, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
