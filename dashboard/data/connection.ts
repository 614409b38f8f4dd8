import { createSignal } from './signal.ts';

const ASK_EVERY_MS = 2000;
/** Reasons why a server is not ready, although it answers requests. */
const STILL_ANSWERS: readonly unknown[] = ['partitions', 'delivery'];

/** Whether the server responds. Pending requests continue once it does. */
const isThere = createSignal(true);
let timer: ReturnType<typeof setTimeout> | undefined;

async function ask(): Promise<void> {
  const answer = await fetch('/readyz', { cache: 'no-store' }).catch(() => null);
  const body = (await answer?.json().catch(() => null)) as { readonly reason?: unknown } | null;
  if (answer?.ok || STILL_ANSWERS.includes(body?.reason)) connection.found();
  else timer = setTimeout(() => void ask(), ASK_EVERY_MS);
}

export const connection = {
  /** A hook: whether the server responds. */
  useIsThere: isThere.use,
  found(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isThere.get()) isThere.set(true);
  },
  /** Resolves when the server responds again. */
  async wait(signal?: AbortSignal): Promise<void> {
    const answered = isThere.get() ? undefined : isThere.until(true, signal);
    if (answered === undefined) isThere.set(false);
    timer ??= setTimeout(() => void ask(), ASK_EVERY_MS / 4);
    await (answered ?? isThere.until(true, signal));
  },
};
