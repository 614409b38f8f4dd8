import { type QueryFilters, useIsFetching, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

/** A page is shown at the latest after this time, with what it has. */
const PATIENCE_MS = 5_000;
const FIRST_READS: QueryFilters = { predicate: ({ state }) => state.status === 'pending' };

/**
 * Whether everything that the page reads first has arrived, once. Until then the page hides its content, so that nothing
 * moves while its parts arrive one after the other.
 */
export function useIsSettled(): boolean {
  const client = useQueryClient();
  const isReading = useIsFetching(FIRST_READS) > 0;
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    if (isSettled) return;
    const wait = isReading ? PATIENCE_MS : 0;
    // a read that has arrived may start another one in the same moment
    const timer = setTimeout(() => setSettled(isReading || client.isFetching(FIRST_READS) === 0), wait);
    return () => clearTimeout(timer);
  }, [client, isSettled, isReading]);
  return isSettled;
}
