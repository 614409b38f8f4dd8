import { useRef } from 'react';
import type { Me } from '../../src/client/api.ts';
import { clock, theme } from '../data/preferences.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { common } from '../texts/common.ts';

/** Who is signed in and where: other accounts, theme and times, and the way out. */
export function UserMenu({ me, onHelp }: { me: Me; onHelp: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const texts = common.user;
  const [chosenTheme, chosenClock] = [theme.use(), clock.use()];
  // a form, not a request: the cookie changes, and with it everything that was read
  const post = (action: string, fields: Readonly<Record<string, string>>) => {
    const element = form.current;
    if (element === null) return;
    element.action = action;
    element.replaceChildren(
      ...Object.entries({ ...fields, csrf: me.csrf_token ?? '' }).map(([name, value]) =>
        Object.assign(document.createElement('input'), { type: 'hidden', name, value }),
      ),
    );
    element.submit();
  };
  const name = me.name ?? me.email ?? '';
  return (
    <>
      <form ref={form} method="post" hidden />
      <Menu
        label={texts.label}
        className="user"
        groups={[
          {
            title: texts.switchTo,
            items:
              me.accounts.length < 2
                ? []
                : me.accounts.map((account) => ({
                    label: account.name,
                    isChosen: account.is_current,
                    onPress: () => post('/account/switch', { account: account.id, next: '/' }),
                  })),
          },
          {
            title: texts.theme,
            items: (['system', 'light', 'dark'] as const).map((value) => ({
              label: texts.themes[value],
              isChosen: chosenTheme === value,
              onPress: () => theme.set(value),
            })),
          },
          {
            title: texts.clock,
            items: (['local', 'utc'] as const).map((value) => ({
              label: texts.clocks[value],
              isChosen: chosenClock === value,
              onPress: () => clock.set(value),
            })),
          },
          {
            items: [
              { label: texts.own, icon: 'settings', onPress: () => window.location.assign('/account') },
              { label: texts.reference, icon: 'external', onPress: () => window.location.assign('/docs') },
              { label: texts.shortcuts, icon: 'info', onPress: onHelp },
              { label: texts.signOut, icon: 'right', onPress: () => post('/sign-out', {}) },
            ],
          },
        ]}
      >
        <span className="avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <span className="user-text">
          <b>{me.account.name}</b>
          <span className="soft">
            {name} · {common.roles[me.role]}
          </span>
        </span>
        <span className="hidden-text">, {texts.label}</span>
        <Icon name="up" />
      </Menu>
    </>
  );
}
