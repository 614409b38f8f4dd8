import type { Principal } from '../contract/route.ts';
import { fail } from '../kernel/errors.ts';

/** Requests per minute of an account, and of one key, application, user or portal in it; undefined = no limit. */
export interface RateLimits {
  readonly account: number | undefined;
  readonly key: number | undefined;
}

/** What the limits need to know of a principal. */
export type RatedPrincipal = Pick<Principal, 'kind' | 'account' | 'id'>;

/** Counts a request. Returns the headers with the remaining requests. Throws `rate_limited`. */
export type RateGate = (
  principal: RatedPrincipal,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

interface Bucket {
  /** The remaining requests at time `at`. */
  left: number;
  at: number;
}

const MINUTE_MS = 60_000;
const WINDOW_SECONDS = MINUTE_MS / 1000;

/**
 * Admits a limited number of requests per minute. Each limit is a bucket that holds the requests of a minute and refills
 * steadily. The buckets are local to this process. A request that one bucket refuses is not counted by the others. `now`
 * is a clock in milliseconds.
 */
export function rateGate(
  { account, key }: RateLimits,
  now: () => number = () => performance.now(),
): (principal: RatedPrincipal) => Readonly<Record<string, string>> {
  const limits = [
    { name: 'account', most: account, of: (principal: RatedPrincipal) => principal.account },
    // an application has the same id in every account that authorized it
    { name: 'key', most: key, of: ({ account, id }: RatedPrincipal) => `${account} ${id}` },
  ].flatMap(({ most, ...limit }) =>
    most === undefined ? [] : [{ ...limit, most, buckets: createBuckets(most, now) }],
  );
  return (principal) => {
    if (limits.length === 0 || principal.kind === 'operator') return {};
    const found = limits.map((limit) => ({ ...limit, bucket: limit.buckets(limit.of(principal)) }));
    const policy = found.map(({ name, most }) => `"${name}";q=${most};w=${WINDOW_SECONDS}`).join(', ');
    const empty = found.find(({ bucket }) => bucket.left < 1);
    if (empty === undefined) for (const { bucket } of found) bucket.left -= 1;
    const left = found.map(({ name, most, bucket }) => {
      return `"${name}";r=${Math.floor(bucket.left)};t=${secondsUntil(Math.floor(bucket.left) + 1, bucket, most)}`;
    });
    const headers = { 'ratelimit-policy': policy, ratelimit: left.join(', ') };
    if (empty === undefined) return headers;
    const whose = empty.name === 'account' ? 'the account' : 'this key';
    throw fail(
      'rate_limited',
      `${whose} may send ${empty.most} requests a minute: wait as Retry-After says`,
      {
        ...headers,
        'retry-after': String(secondsUntil(1, empty.bucket, empty.most)),
      },
    );
  };
}

/** Whole seconds until a bucket holds `wanted` requests, at most until it is full. */
function secondsUntil(wanted: number, { left }: Bucket, most: number): number {
  return Math.ceil(((Math.min(wanted, most) - left) * WINDOW_SECONDS) / most);
}

/** The buckets of one limit by owner, refilled up to now. A full one is dropped. */
function createBuckets(most: number, now: () => number): (id: string) => Bucket {
  const buckets = new Map<string, Bucket>();
  let sweptAt = now();
  const fill = (bucket: Bucket, at: number) => {
    bucket.left = Math.min(most, bucket.left + ((at - bucket.at) * most) / MINUTE_MS);
    bucket.at = at;
  };
  return (id) => {
    const at = now();
    if (at - sweptAt > MINUTE_MS) {
      sweptAt = at;
      for (const [each, bucket] of buckets) {
        fill(bucket, at);
        if (bucket.left === most) buckets.delete(each);
      }
    }
    const bucket = buckets.get(id) ?? { left: most, at };
    buckets.set(id, bucket);
    fill(bucket, at);
    return bucket;
  };
}
