import { session } from './session.ts';

/** What the requests of a page are made with. */
export interface Credential {
  /** Whether the cookies of this browser go with them. */
  readonly cookies: 'same-origin' | 'omit';
  headers(isWrite: boolean): Readonly<Record<string, string>>;
  /** Resolves when a request that was refused for its credential can be sent again. */
  renew(signal?: AbortSignal): Promise<void>;
}

let current: Credential = session;

/** The credential of this page: the session of the browser, unless `actWith` named another. */
export const credential = (): Credential => current;

/** From now on requests are made with this one. */
export function actWith(next: Credential): void {
  current = next;
}
