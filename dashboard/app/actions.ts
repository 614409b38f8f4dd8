import type { Me } from '../../src/client/api.ts';
import { leave } from '../data/leave.ts';
import { clock, theme } from '../data/preferences.ts';
import { common } from '../texts/common.ts';
import type { Found } from './found.ts';

const texts = common.commands.actions;

/** The actions of the command menu on the current screen; add new ones here. */
export function actionsAt(path: string, me: Me | undefined, openHelp: () => void): readonly Found[] {
  const mayWrite = me?.capabilities.includes('write') === true;
  const mayDownload = me?.capabilities.includes('files') === true;
  const ofAffiliate: readonly Found[] = [
    { key: 'edit', title: texts.edit, icon: 'affiliates', to: `${path}?open=edit` },
    { key: 'adjust', title: texts.adjust, icon: 'affiliates', to: `${path}?open=adjust` },
    { key: 'pause', title: texts.pause, icon: 'pause', to: `${path}?open=switch` },
  ];
  const isPayout = /^\/payouts\/po_\w+$/.test(path);
  const files = { key: 'files', title: texts.files, icon: 'file', to: `${path}?step=files` } as const;
  const ofPayout: readonly Found[] = [
    { key: 'complete', title: texts.complete, icon: 'check', to: `${path}?step=complete` },
  ];
  const writes: readonly Found[] = [
    ...(/^\/affiliates\/\d+$/.test(path) ? ofAffiliate : []),
    ...(isPayout ? ofPayout : []),
    { key: 'new', title: texts.payout, icon: 'plus', to: '/payouts/new' },
  ];
  const others = me?.accounts.filter((account) => !account.is_current) ?? [];
  return [
    ...(isPayout && mayDownload ? [files] : []),
    ...(mayWrite ? writes : []),
    ...(['system', 'light', 'dark'] as const).map((value): Found => {
      const title = texts.theme(common.user.themes[value]);
      return { key: value, title, icon: 'settings', run: () => theme.set(value) };
    }),
    ...(['local', 'utc'] as const).map((value): Found => {
      const title = texts.clock(common.user.clocks[value]);
      return { key: value, title, icon: 'clock', run: () => clock.set(value) };
    }),
    { key: 'help', title: common.user.shortcuts, icon: 'info', run: openHelp },
    ...others.map(({ id, name }): Found => {
      const run = () => leave('/account/switch', { account: id, next: '/' });
      return { key: id, title: texts.account(name), icon: 'settings', run };
    }),
    { key: 'out', title: common.user.signOut, icon: 'right', run: () => leave('/sign-out') },
  ];
}
