const KEYED: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Whether requests with this method honour `Idempotency-Key`. */
export const isKeyed = (method: string): boolean => KEYED.has(method);
