import 'virtual:tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/page.css';
import './style/button.css';
import './style/field.css';
import './style/feedback.css';
import './style/steps.css';
import './style/record.css';
import './style/table.css';
import './style/values.css';
import './style/overlay.css';
import './style/small.css';
import './style/print.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { followTheme } from './data/preferences.ts';
import { queries } from './data/queries.ts';
import { router } from './router.ts';

followTheme();
// the server was upgraded, and the files of the old page are gone
window.addEventListener('vite:preloadError', () => window.location.reload());

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
