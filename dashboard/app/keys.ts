import { useEffect } from 'react';
import { ENTRIES } from './navigation.ts';

interface Handlers {
  readonly goTo: (to: (typeof ENTRIES)[number]['to']) => void;
  readonly openCommands: () => void;
  readonly openHelp: () => void;
}

const SECOND_KEY_MS = 1200;

/** The keys of every screen: see `common.shortcuts`. They are ignored while typing or in a dialog. */
export function useKeys({ goTo, openCommands, openHelp }: Handlers): void {
  useEffect(() => {
    let wentAt = 0;
    const press = (event: KeyboardEvent) => {
      const { key } = event;
      const act = (then: () => void) => {
        event.preventDefault();
        then();
      };
      if (key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) return act(openCommands);
      if (event.metaKey || event.ctrlKey || event.altKey || isTaken(event.target as Element)) return;
      const isSecond = event.timeStamp - wentAt < SECOND_KEY_MS;
      const entry = isSecond ? ENTRIES.find(({ letter }) => letter === key) : undefined;
      wentAt = key === 'g' ? event.timeStamp : 0;
      if (entry) return act(() => goTo(entry.to));
      if (key === '/') return act(() => document.querySelector<HTMLElement>('[data-search]')?.focus());
      if (key === '?') return act(openHelp);
      if (key === 'j' || key === 'k') return act(() => step(key === 'j' ? 1 : -1));
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [goTo, openCommands, openHelp]);
}

/** Whether key presses belong to the focused element or to a dialog. */
function isTaken(target: Element): boolean {
  return (
    target.closest('input:not([type=checkbox]),textarea,select,[role=menu]') !== null ||
    document.querySelector('dialog[open]') !== null
  );
}

/** Moves the focus by this many rows. */
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1);
  rows[to]?.focus();
}
