import { session } from './session.ts';

/** The credential of a page's requests. */
export interface Credential {
  /** Whether requests include the cookies of this browser. */
  readonly cookies: 'same-origin' | 'omit';
  headers(isWrite: boolean): Readonly<Record<string, string>>;
  /** Resolves when a request refused for its credential can be sent again. */
  renew(signal?: AbortSignal): Promise<void>;
}

let current: Credential = session;

/** The credential of this page: the session of the browser, unless `actWith` named another. */
export const credential = (): Credential => current;

/** Uses this credential for requests from now on. */
export function actWith(next: Credential): void {
  current = next;
}
