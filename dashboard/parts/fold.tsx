import { type ReactNode, useState } from 'react';
import { common } from '../texts/common.ts';
import { Icon } from './icon.tsx';

/**
 * The filters of a list. On phones they collapse behind a button with the number of active ones; `first` stays visible.
 */
export function FoldedFilters({
  first,
  set,
  children,
}: {
  first: ReactNode;
  /** The number of active filters among the collapsed ones. */
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

/** The number of search parameters that are set. */
export const setIn = (search: object): number =>
  Object.values(search).filter((value) => value !== undefined).length;
