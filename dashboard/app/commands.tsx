import { useRouter, useRouterState } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useMe } from '../data/me.ts';
import { Icon } from '../parts/icon.tsx';
import { Dialog } from '../parts/overlay.tsx';
import { Name } from '../parts/values.tsx';
import { common } from '../texts/common.ts';
import { actionsAt } from './actions.ts';
import { findRecords } from './find.ts';
import type { Found } from './found.ts';
import { ENTRIES } from './navigation.ts';

const SCREENS: readonly Found[] = ENTRIES.map(({ to, title, icon }) => ({
  key: to,
  title: common.commands.goTo(title),
  icon,
  to,
}));

const PAUSE_MS = 150;

/** The command menu: goes to any screen or record, and runs actions. */
export function Commands({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [typed, setTyped] = useState('');
  const [records, setRecords] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  const { history } = useRouter();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const me = useMe().data;
  const id = useId();
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      findRecords(typed.trim(), abort.signal).then(
        (found) => setRecords(found),
        () => setRecords([]),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed]);
  const words = typed.trim().toLowerCase();
  const known = [...SCREENS, ...actionsAt(path, me, onHelp)];
  // records arrive later and are added at the end, so that the entries above do not move
  const found = [...known.filter(({ title }) => title.toLowerCase().includes(words)), ...records];
  const chosen = Math.min(at, found.length - 1);
  const open = (entry: Found | undefined) => {
    if (entry === undefined) return;
    onClose();
    if (entry.to !== undefined) history.push(entry.to);
    entry.run?.();
  };
  const press = (event: KeyboardEvent) => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined) setAt((to + found.length) % Math.max(found.length, 1));
    else if (event.key === 'Enter') open(found[chosen]);
    else return;
    event.preventDefault();
  };
  const texts = common.commands;
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <div className="commands">
        <input
          className="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found[chosen] && `${id}-${chosen}`}
          aria-label={texts.title}
          placeholder={texts.placeholder}
          value={typed}
          autoFocus
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <div role="listbox" id={id} aria-label={texts.title} className="command-list">
          {found.map((entry, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
            <div
              key={entry.key}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="command"
              onClick={() => open(entry)}
            >
              <Icon name={entry.icon} />
              <Name>{entry.title}</Name>
              {entry.detail && <span className="soft">{entry.detail}</span>}
            </div>
          ))}
        </div>
        <p className="hint" role="status">
          {found.length === 0 ? texts.nothing : texts.hint}
        </p>
      </div>
    </Dialog>
  );
}
