import type { BatchRoute, Reply, Route, SingleRoute, Waiting } from '../contract/route.ts';
import type { Database, Tx } from '../db/database.ts';
import { codeOf, endedForLocks } from '../db/faults.ts';
import { limitLockWaits } from '../db/locks.ts';
import { coalesce } from '../kernel/coalesce.ts';
import { Failure } from '../kernel/errors.ts';
import type { TraceContext } from '../kernel/trace.ts';
import type { Vault } from '../kernel/vault.ts';
import { inSpan } from '../metrics/traces.ts';
import { MAX_PAYLOAD_BYTES } from '../outbox/event.ts';
import { letSendingCatchUp } from '../outbox/hand-over.ts';
import { note } from '../people/audit/service.ts';
import { checkEvents } from '../webhooks/types/validation.ts';
import { filteredPublishing } from './filtered.ts';
import { answerOnce, type IdempotentRequest } from './idempotency.ts';
import { idIn, located } from './located.ts';

/** A checked request, ready for its transaction. */
export interface WriteRequest {
  readonly id: string;
  /** null = no trace. */
  readonly trace: TraceContext | null;
  readonly idempotent: IdempotentRequest | undefined;
  /** Its client has gone, or the server ends. */
  readonly gone: AbortSignal;
  readonly input: Omit<Parameters<SingleRoute['handle']>[0], 'tx'>;
}

/**
 * Responds to the requests of a write route. This is the only place that opens a transaction for a request, which
 * contains its idempotency record, effect, events and audit entry.
 */
export function transactions(
  { db, vault }: { readonly db: Database; readonly vault: Vault },
  route: SingleRoute | BatchRoute,
): (request: WriteRequest) => Promise<Reply> {
  const plain = route.batch ? together(db, vault, route) : alone(db, vault, route);
  const ask = route.publishes ? publishing(db, vault, route, plain) : plain;
  return async (request) => {
    const violation = route.publishes
      ? await checkEvents(
          db,
          request.input.principal,
          route.publishes(request.input.body as never),
          !route.batch,
        )
      : null;
    const span = { kind: 'internal', name: 'transaction', parent: request.trace } as const;
    const answer = await inSpan(db, span, (trace) => ask({ ...request, trace }));
    if (route.publishes) await letSendingCatchUp(db, request.input.account);
    if (answer instanceof Failure) throw answer;
    return violation === null
      ? answer
      : { ...answer, headers: { ...answer.headers, 'payhook-schema-violation': violation } };
  };
}

type Ask = (request: WriteRequest) => Promise<Reply | Failure>;

/**
 * Makes requests of accounts with filters wait for their account's turn. Requests for a batch route that arrive meanwhile
 * share the account's next transaction.
 */
function publishing(db: Database, vault: Vault, route: SingleRoute | BatchRoute, plain: Ask): Ask {
  const filtered = filteredPublishing(db);
  const lanes = new Map<string, { readonly ask: Ask; waiting: number }>();
  return async (request) => {
    const { principal, account, json } = request.input;
    const searches = await filtered.searches(principal);
    if (searches === null) return plain(request);
    const bytes = Buffer.byteLength(json.text);
    // anything larger than an event is whitespace, or refused
    const search = { principal, searches, bytes: route.batch ? Math.min(bytes, MAX_PAYLOAD_BYTES) : bytes };
    return filtered.inTurn(search, async (inTurn) => {
      if (!route.batch) return inTurn(() => plain(request));
      const lane = lanes.get(account) ?? {
        ask: together(db, vault, route, { inFlight: 1, inTurn }),
        waiting: 0,
      };
      lanes.set(account, lane);
      lane.waiting += 1;
      try {
        return await lane.ask(request);
      } finally {
        lane.waiting -= 1;
        if (lane.waiting === 0) lanes.delete(account);
      }
    });
  };
}

function alone(db: Database, vault: Vault, route: SingleRoute): Ask {
  const handle = async (tx: Tx, { id, input }: WriteRequest) => {
    const reply = located(route, input.params, await route.handle({ ...input, tx }));
    // a dry run changes nothing
    const isTrial = (input.query as { dry_run?: boolean }).dry_run === true;
    if (!route.unaudited && !isTrial) {
      const target = targetOf(input.params, reply);
      await note(tx, input.principal, { action: route.operation, target, requestId: id });
    }
    return reply;
  };
  const takesLong = route.takesLong === true || route.upload !== undefined;
  const ask: Ask = async (request) => {
    const [answer] = await db.transaction(
      (tx) =>
        answerOnce(tx, [request], { vault, secretField: fieldOf(route.secret) }, async () => [
          await handle(tx, request),
        ]),
      { trace: request.trace, by: request.input.principal, takesLong },
    );
    return answer as Reply | Failure;
  };
  return route.waits ? waiting(db, route.waits, ask) : ask;
}

/** Asks again whenever there may be another answer, until one is not empty, the time is over, or the client has gone. */
function waiting(db: Database, { seconds, isEmpty, news }: Waiting, ask: Ask): Ask {
  return async (request) => {
    const { body, account, params } = request.input;
    if (seconds(body) === 0) return ask(request);
    const isOver = AbortSignal.any([AbortSignal.timeout(seconds(body) * 1000), request.gone]);
    for (;;) {
      const answer = await ask(request);
      if (answer instanceof Failure || !isEmpty(answer) || isOver.aborted) return answer;
      await news(db, { account, params }, isOver);
      if (request.gone.aborted) return answer;
    }
  };
}

/** The field of an answer that is a secret. */
const fieldOf = (secret: Route['secret']) => (typeof secret === 'string' ? secret : undefined);

/** The target of a request: the ids in its path, or the id of the record it created. */
function targetOf(params: Readonly<Record<string, string>>, reply: Reply): string | null {
  const ids = Object.values(params);
  if (ids.length > 0) return ids.join('/').slice(0, 200);
  return idIn(reply);
}

/** How the transactions of a batch route run: how many at once, and in which turn. */
interface Lane {
  readonly inFlight: number;
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** How long a batch waits for locks. After that each of its requests waits in a transaction of its own. */
const LOCK_WAIT_MS = 100;
/** The maximum total size of the bodies in a batch. */
const BATCH_BYTES = 1 << 21;

/**
 * Requests that arrive while transactions are in progress share the next one. No request is refused because of another:
 * if a batch fails, it is rolled back and each request gets its own transaction.
 */
function together(
  db: Database,
  vault: Vault,
  { batch, secret, creates }: BatchRoute,
  { inFlight, inTurn }: Lane = { inFlight: 2, inTurn: (work) => work() },
): Ask {
  /** The locks that a request holds until its transaction ends. */
  const locksOf = ({ input: { account, body }, idempotent }: WriteRequest) => {
    const own = batch.locks(body);
    return [
      ...(own === null ? [] : [`${account} ${own}`]),
      ...(idempotent ? [`${account} ${idempotent.principal.id} ${idempotent.key}`] : []),
    ];
  };
  const weightOf = ({ input }: WriteRequest) => {
    const bytes = Buffer.byteLength(input.json.text);
    return bytes > batch.aloneAbove ? Number.POSITIVE_INFINITY : bytes;
  };
  return coalesce(
    (requests: readonly WriteRequest[], isAlone) => {
      const mayWait = requests.some(
        (request) => locksOf(request).length > 0 || batch.mayWait(request.input.body),
      );
      const isSingle = !mayWait && requests.every((request) => Number.isFinite(weightOf(request)));
      return inTurn(() =>
        db.transaction(
          async (tx) => {
            if (!isAlone && mayWait) await limitLockWaits(tx, LOCK_WAIT_MS);
            return answerOnce(tx, requests, { vault, secretField: fieldOf(secret) }, async (fresh) => {
              const inputs = fresh.map(({ input, trace }) => ({ ...input, trace }));
              const answers = await batch.handle(tx, inputs);
              return answers.map((answer, index) =>
                answer instanceof Failure
                  ? answer
                  : located({ creates }, inputs[index]?.params ?? {}, answer),
              );
            });
          },
          { single: isSingle },
        ),
      );
    },
    {
      inFlight,
      ownerOf: ({ input }) => input.account,
      weight: { of: weightOf, max: BATCH_BYTES },
      apart: locksOf,
      isOfOneItem: (error, size) => endedForLocks(error) || (size > 1 && isOfOneRequest(error)),
    },
  );
}

/**
 * The transaction was certainly rolled back: a request was refused by throwing, or a statement failed because of a value
 * (class 22) or its size (54).
 */
const isOfOneRequest = (error: unknown) => error instanceof Failure || /^(22|54)/.test(codeOf(error));
