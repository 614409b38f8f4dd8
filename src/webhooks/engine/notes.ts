import type { EndpointId } from '../../kernel/ids.ts';
import type { Finished } from './attempt.ts';
import { isOfProxy } from './outcome.ts';
import type { EndpointNote } from './settle.ts';

const QUICK_MS = 1000;
const SLOW_MS = 5000;
const BUSY = new Set([429, 502, 503, 504]);
const LONGEST_SLOW_DOWN = 6; // doublings of one second
const WIDEST = 64;

/** Creates a function that turns results of attempts into notes, one per endpoint. Most results change nothing. */
export function createNotes(): (batch: readonly Finished[]) => EndpointNote[] {
  /** Successes of an endpoint since its lane changed. */
  const good = new Map<string, number>();

  function noteOf(endpoint: EndpointId, ended: readonly Finished[]): EndpointNote | null {
    const [first] = ended;
    if (!first) return null;
    const { account, lane, failures: failuresBefore, successIsOld } = first.delivery;
    const failures = ended.filter(isFailure).length;
    const successes = ended.filter(({ result }) => result.succeeded).length;
    const change = laneChange(endpoint, lane, ended);
    const waitMs = Math.max(0, ...ended.map(slowDown));
    const isNews =
      failures > 0 || change !== 'stay' || (successes > 0 && (successIsOld || failuresBefore > 0));
    return isNews ? { account, endpoint, succeeded: successes > 0, failures, lane: change, waitMs } : null;
  }

  // The lane doubles after as many successes in a row as it is wide, and halves after a failure.
  function laneChange(endpoint: EndpointId, lane: number, ended: readonly Finished[]): EndpointNote['lane'] {
    if (ended.some(isBad)) {
      good.delete(endpoint);
      return lane > 1 ? 'shrink' : 'stay';
    }
    const inRow =
      (good.get(endpoint) ?? 0) +
      ended.filter(({ result, outcome }) => result.succeeded && outcome.durationMs < QUICK_MS).length;
    const grows = inRow >= lane && lane < WIDEST;
    if (grows || lane === WIDEST) good.delete(endpoint);
    else good.set(endpoint, inRow);
    return grows ? 'grow' : 'stay';
  }

  // a request is one attempt, however many deliveries it carried
  return (batch) =>
    [...groupByEndpoint(batch.filter(({ isFurther }) => !isFurther))].flatMap(
      ([endpoint, ended]) => noteOf(endpoint, ended) ?? [],
    );
}

// a proxy's failure is not the endpoint's, and a receiver that gives up an event is well
const isFailure = ({ result, outcome }: Finished) =>
  !result.succeeded && !result.cancelled && !isOfProxy(outcome.errorCode);
const isBad = (finished: Finished) => isFailure(finished) || finished.outcome.durationMs > SLOW_MS;

/** How long a response asks for a pause of its endpoint, in milliseconds. */
function slowDown({ delivery, outcome, result, retryAfterMs }: Finished): number {
  if (result.succeeded) return 0;
  if (retryAfterMs !== null) return retryAfterMs;
  if (!BUSY.has(outcome.responseStatus ?? 0)) return 0;
  return 1000 * 2 ** Math.min(delivery.failures, LONGEST_SLOW_DOWN);
}

/** The attempts of each endpoint. */
export function groupByEndpoint(batch: readonly Finished[]): Map<EndpointId, Finished[]> {
  const groups = new Map<EndpointId, Finished[]>();
  for (const finished of batch) {
    const group = groups.get(finished.delivery.endpoint);
    if (group) group.push(finished);
    else groups.set(finished.delivery.endpoint, [finished]);
  }
  return groups;
}
