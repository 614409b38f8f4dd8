import { type ReactNode, useState } from 'react';
import { common } from '../texts/common.ts';
import { Icon } from './icon.tsx';

/** The filters of a list. On a phone they fold behind a button that says how many are set; `first` stays in sight. */
export function FoldedFilters({
  first,
  set,
  children,
}: {
  first: ReactNode;
  /** How many of the folded ones are set. */
  set: number;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="filters">
      {first}
      <button
        type="button"
        className="button plain fold-toggle"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? 'up' : 'down'} />
        {common.filters(set)}
      </button>
      <div className={isOpen ? 'fold open' : 'fold'}>{children}</div>
    </div>
  );
}

/** How many parameters of a search are set. */
export const setIn = (search: object): number =>
  Object.values(search).filter((value) => value !== undefined).length;
