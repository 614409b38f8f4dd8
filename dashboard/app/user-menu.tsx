import { useNavigate } from '@tanstack/react-router';
import type { Me } from '../../src/client/api.ts';
import { roleLabel } from '../../src/contract/roles.ts';
import { leave } from '../data/leave.ts';
import { clock, theme } from '../data/preferences.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { common } from '../texts/common.ts';

/** The user and the current account: other accounts, theme, time display, and sign-out. */
export function UserMenu({ me, onHelp }: { me: Me; onHelp: () => void }) {
  const texts = common.user;
  const navigate = useNavigate();
  const [chosenTheme, chosenClock] = [theme.use(), clock.use()];
  const name = me.name ?? me.email ?? '';
  return (
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
                  onPress: () => leave('/account/switch', { account: account.id, next: '/' }),
                })),
        },
        {
          items: me.has_several_cells
            ? [{ label: texts.another, onPress: () => window.location.assign('/sign-in?another') }]
            : [],
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
            { label: texts.own, icon: 'settings', onPress: () => void navigate({ to: '/settings/profile' }) },
            { label: texts.reference, icon: 'external', onPress: () => window.location.assign('/docs') },
            { label: texts.shortcuts, icon: 'info', onPress: onHelp },
            { label: texts.signOut, icon: 'right', onPress: () => leave('/sign-out') },
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
          {name} · {roleLabel(me.role)}
        </span>
      </span>
      <span className="hidden-text">, {texts.label}</span>
      <Icon name="up" />
    </Menu>
  );
}
