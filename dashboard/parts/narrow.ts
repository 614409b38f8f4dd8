import { useSyncExternalStore } from 'react';

/** As in style/small.css. */
const narrow = window.matchMedia('(max-width: 640px)');

const follow = (onChange: () => void) => {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
};

/** Whether the screen is a phone's. */
export const useIsNarrow = (): boolean => useSyncExternalStore(follow, () => narrow.matches);
