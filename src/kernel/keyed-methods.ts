const KEYED: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Whether requests of a method honour `Idempotency-Key`: under it they are done once. */
export const isKeyed = (method: string): boolean => KEYED.has(method);
