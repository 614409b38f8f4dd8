import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { useMe } from '../data/me.ts';
import { session } from '../data/session.ts';
import { Empty, Problem, Skeleton } from '../parts/feedback.tsx';
import { Icon, Logo } from '../parts/icon.tsx';
import { Page } from '../parts/page.tsx';
import { Toasts } from '../parts/toast.tsx';
import { common } from '../texts/common.ts';
import { Commands } from './commands.tsx';
import { Connection } from './connection.tsx';
import { Shortcuts } from './help.tsx';
import { useKeys } from './keys.ts';
import { ENTRIES } from './navigation.ts';
import { SignInAgain } from './sign-in-again.tsx';
import { UserMenu } from './user-menu.tsx';

/** The layout around every screen: navigation, user menu, and messages that belong to no single screen. */
export function Shell() {
  const me = useMe();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'commands' | 'help' | null>(null);
  const goTo = useCallback((to: (typeof ENTRIES)[number]['to']) => void navigate({ to }), [navigate]);
  const openCommands = useCallback(() => setOpen('commands'), []);
  const openHelp = useCallback(() => setOpen('help'), []);
  const close = useCallback(() => setOpen(null), []);
  useKeys({ goTo, openCommands, openHelp });
  const isEnded = session.useIsEnded();
  useEffect(keepPage, []);
  return (
    <>
      <a className="skip" href="#content">
        {common.skip}
      </a>
      <div className="shell">
        <Side onSearch={openCommands}>{me.data && <UserMenu me={me.data} onHelp={openHelp} />}</Side>
        <main id="content" tabIndex={-1}>
          <Connection />
          {me.data ? (
            <Outlet />
          ) : me.error ? (
            <Problem error={me.error} onRetry={() => void me.refetch()} />
          ) : (
            <Skeleton lines={6} />
          )}
        </main>
      </div>
      {open === 'commands' && <Commands onClose={close} onHelp={openHelp} />}
      {open === 'help' && <Shortcuts onClose={close} />}
      {isEnded && <SignInAgain email={me.data?.email ?? ''} />}
      <Toasts />
    </>
  );
}

/** Ignores files dropped where no screen accepts them, which would replace the page and its input. Returns a cleanup. */
function keepPage(): () => void {
  const end = new AbortController();
  for (const name of ['dragover', 'drop'] as const) {
    window.addEventListener(name, (event) => event.preventDefault(), { signal: end.signal });
  }
  return () => end.abort();
}

function Side({ onSearch, children }: { onSearch: () => void; children: React.ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const at = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [at]);
  return (
    <header className={isOpen ? 'side open' : 'side'}>
      <div className="side-top">
        <a className="brand" href="/">
          <Logo />
          {common.product}
        </a>
        <button
          type="button"
          className="icon-button side-toggle"
          aria-label={common.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'cross' : 'menu'} />
        </button>
      </div>
      <div className="side-body">
        <button type="button" className="side-search" onClick={onSearch}>
          <Icon name="search" />
          <span>{common.search}</span>
          <kbd>⌘K</kbd>
        </button>
        <nav aria-label={common.navigation}>
          <ul>
            {ENTRIES.map(({ to, title, icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="side-link"
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                >
                  <Icon name={icon} />
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="side-foot">{children}</div>
      </div>
    </header>
  );
}

/** Shown at unknown addresses of the dashboard. */
export function NotFound() {
  return (
    <Page title={common.notFound.title}>
      <Empty
        icon="search"
        title={common.notFound.title}
        actions={
          <a className="button plain" href="/">
            {common.notFound.action}
          </a>
        }
      >
        {common.notFound.lead}
      </Empty>
    </Page>
  );
}
