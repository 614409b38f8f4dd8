import { createSignal } from '../data/signal.ts';
import { Icon } from './icon.tsx';

const SEEN_MS = 5000;
const toasts = createSignal<readonly { readonly id: number; readonly text: string }[]>([]);
let last = 0;

/** Briefly confirms that something was done. Messages that must not be missed belong next to their content instead. */
export function toast(text: string): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((each) => each.id !== id)), SEEN_MS);
}

/** Where toasts are shown and announced. */
export function Toasts() {
  return (
    <div className="toasts" role="status">
      {toasts.use().map(({ id, text }) => (
        <p key={id} className="toast">
          <Icon name="check" />
          {text}
        </p>
      ))}
    </div>
  );
}
