import type { Example, ExampleAnswer } from '../../src/http/examples.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { ReasonName } from '../../src/kernel/errors.ts';
import { type Answer, apiOf } from '../support/api.ts';
import type { World } from '../support/world.ts';
import { normaliser, storyClock } from './normal.ts';

/** What the reference shows of a request: values by name; a text as body is a CSV file. */
interface Call {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A session of a user, where a key is not enough. */
  readonly as?: { readonly cookie: string; readonly csrf: string };
}

/** Runs the story: makes each request and records the request and the response. */
export interface Recorder {
  /** Begins a chapter at this instant, from which its requests are dated. */
  chapter(instant: string): void;
  /** Makes the one request that the reference shows of an operation. Throws when it is refused. */
  show(operation: string, call?: Call): Promise<Answer['body']>;
  /** Makes a request that is refused for this reason, which the reference also shows. Throws when it is not. */
  refuse(operation: string, reason: ReasonName, call?: Call): Promise<void>;
  /** Waits for the effects of a request; called after each. */
  readonly settled: () => Promise<unknown>;
  /** The real instant of an instant of the story. */
  at(instant: string): string;
  /** The real day of a day of the story. */
  day(day: string): string;
  /** Everything shown, by operation, with the differences between runs replaced. */
  examples(): Record<string, Example>;
}

const SHOWN_HEADERS = ['ETag', 'Location', 'Link', 'Content-Disposition', 'Payhook-Skipped-Affiliates'];
const REFUSAL_HEADERS = ['Payhook-Reason', 'Payhook-Request-Id', 'Location'];
const SHOWN_LINES = 6;

/** The values as texts under `name`; nothing when there are none. */
function texts<Name extends string>(name: Name, values: Readonly<Record<string, unknown>> = {}) {
  const entries = Object.entries(values).map(([key, value]) => [key, String(value)]);
  return (entries.length === 0 ? {} : { [name]: Object.fromEntries(entries) }) as {
    readonly [Key in Name]?: Readonly<Record<string, string>>;
  };
}

/** A recorder at a world. `addresses` are URLs and hosts that have other names in the examples. */
export function recorderAt(
  world: World,
  { settled, addresses }: { settled: () => Promise<unknown>; addresses: Readonly<Record<string, string>> },
): Recorder {
  const clock = storyClock();
  const taken = new Map<string, Example>();
  const refused = new Map<string, readonly ExampleAnswer[]>();
  return {
    chapter: clock.chapter,
    at: clock.real,
    day: clock.realDay,
    settled,
    async show(operation, call = {}) {
      if (taken.has(operation)) throw new Error(`${operation} was shown before`);
      await clock.step();
      const { request, answer } = await ask(world, operation, call);
      if (answer.status >= 300) throw new Error(`${operation}: ${answer.status} ${answer.text}`);
      await settled();
      taken.set(operation, { request, response: shownOf(answer, SHOWN_HEADERS) });
      return answer.body;
    },
    async refuse(operation, reason, call = {}) {
      const { answer } = await ask(world, operation, call);
      if (answer.reason !== reason) throw new Error(`${operation}: ${answer.status} ${answer.text}`);
      refused.set(operation, [...(refused.get(operation) ?? []), shownOf(answer, REFUSAL_HEADERS)]);
    },
    examples() {
      const normal = normaliser(clock, { [world.url]: 'https://payhook.example.com', ...addresses });
      return Object.fromEntries(
        [...taken].map(([operation, example]) => {
          const refusals = refused.get(operation);
          return [operation, normal({ ...example, ...(refusals ? { refusals } : {}) }, operation) as Example];
        }),
      );
    },
  };
}

async function ask(world: World, operation: string, { body, as: person, ...call }: Call) {
  const route = ROUTES.find((each) => each.operation === operation);
  if (!route) throw new Error(`there is no operation ${operation}`);
  const request = {
    ...texts('path', call.path),
    ...texts('query', call.query),
    ...texts('headers', call.headers),
    ...(body === undefined ? {} : { body }),
  };
  const upload = route.kind === 'write' ? route.upload : undefined;
  const type = upload === undefined ? {} : { 'content-type': upload };
  const session = person && {
    cookie: `payhook_session=${person.cookie}`,
    'payhook-csrf': person.csrf,
  };
  const caller = person ? apiOf(world.url, '') : world.api;
  const answer = await caller.request(route.method, addressOf(route.path, request), {
    ...(body === undefined ? {} : { body }),
    headers: { ...type, ...request.headers, ...session },
  });
  return { request, answer };
}

/** The address of a request: its path filled in, and its query. */
export function addressOf(pattern: string, { path = {}, query = {} }: Example['request']) {
  const address = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => path[name] ?? '');
  const search = new URLSearchParams(query).toString();
  return search === '' ? address : `${address}?${search}`;
}

/** What a typical installation looks like; the real one differs in each run. */
const SOME_SYSTEM = {
  schema_version: 20,
  database: { version: '18.4', size_bytes: 734_003_200, started_at: '2026-09-01T05:58:12.000Z' },
  backlog: { queued_count: 3, due_count: 0, behind_count: 0, behind_since: null, oldest_due_at: null },
  workers: {
    processes: [{ name: 'payhook-1 4021', started_at: '2026-09-01T05:58:14.000Z' }],
    last_claim_at: '2026-09-23T09:04:31.000Z',
    in_flight_count: 0,
  },
  chores: [
    { name: 'partitions', last_done_at: '2026-09-23T09:04:02.000Z' },
    { name: 'webhook log', last_done_at: '2026-09-23T08:31:40.000Z' },
  ],
  version: '0.1.0',
  disk: { free_bytes: 31_138_512_896, total_bytes: 53_687_091_200 },
};

/** A cursor of the example's own: a real one contains ids, which differ in each run. */
function withoutKeys(body: Answer['body']): Answer['body'] {
  if (body?.object === 'system') return { ...body, ...SOME_SYSTEM };
  if (typeof body?.pagination?.next !== 'string') return body;
  const next = Buffer.from('["an","example"]').toString('base64url');
  return { ...body, pagination: { ...body.pagination, next } };
}

/** How every archive begins; the rest differs in each run. */
const ARCHIVE = 'PK';

function shownOf({ status, headers, body, text }: Answer, names: readonly string[]): ExampleAnswer {
  const shown = names.flatMap((name) => {
    const value = headers.get(name);
    // a Link without another page says nothing, and a digest differs in each run
    const isPlain =
      name === 'Link' ? value?.includes('rel="next"') : name !== 'ETag' || /^"\d+"$/.test(value ?? '');
    return value !== null && isPlain ? [[name, value]] : [];
  });
  const isArchive = headers.get('content-type') === 'application/zip';
  return {
    status,
    ...texts('headers', Object.fromEntries(shown)),
    ...(text === ''
      ? {}
      : {
          body: isArchive
            ? ARCHIVE
            : (withoutKeys(body) ?? text.split('\r\n').slice(0, SHOWN_LINES).join('\r\n')),
        }),
  };
}
