import { createSignal, type Signal } from './signal.ts';

// a browser that keeps nothing for frames throws instead
function stored(key: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A preference of this browser, kept for the next visit where the browser allows it. */
function kept<Value extends string>(name: string, values: readonly [Value, ...Value[]]): Signal<Value> {
  const key = `payhook.${name}`;
  const before = stored(key);
  const signal = createSignal<Value>(values.find((value) => value === before) ?? values[0]);
  return {
    ...signal,
    set(value) {
      stored(key, value);
      signal.set(value);
    },
  };
}

export const theme = kept('theme', ['system', 'light', 'dark']);
export const clock = kept('clock', ['local', 'utc']);
/** Whether logs update live. */
export const live = kept('live', ['on', 'off']);
export const pageSize = kept('page-size', ['25', '50', '100']);

/** Whether the first steps of a new account are shown. */
export const firstSteps = kept('first-steps', ['shown', 'hidden']);

/** Applies the theme to the document, now and whenever it changes. */
export function followTheme(): void {
  const apply = (value: string) => {
    if (value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  };
  apply(theme.get());
  theme.listen(() => apply(theme.get()));
}
