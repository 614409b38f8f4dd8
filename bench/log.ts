import {
  alone,
  count,
  duration,
  type Group,
  interleaved,
  median,
  megabytes,
  noGoal,
  type Result,
  type Sizes,
  seconds,
} from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { seedAccount } from './seed.ts';
import { logBytes, makePastWeeks, seedLog, settleLog } from './seed-log.ts';

const GOAL = 2;
/** A minute of the smallest log has at most one attempt, each minute of the largest about thirty codes. */
const SERIES_GOAL = 8;
const PAGE = 100;
const ROUNDS = 15;
/** Slow queries are sent fewer times: at most this many seconds in total. */
const ROUNDS_SECONDS = 10;
const HOUR_MS = 3_600_000;
const DAYS = 90;
const SPAN_MS = DAYS * 24 * HOUR_MS;
const TENANT_ROWS = 200;

/** An account with a log of `rows` rows. */
interface Owner {
  readonly account: string;
  /** The UUID of one of its endpoints. */
  readonly endpoint: string;
  readonly rows: number;
  /** Milliseconds since 1970, inside the log and not on a full minute. */
  readonly ragged: number;
}

/** A page of the log, filtered and sorted. */
interface Question {
  readonly what: string;
  /** Query parameters, and the equivalent SQL condition over `d`. */
  readonly filter?: (owner: Owner) => readonly [parameters: string, condition: string];
  /** The position among the full pages: 0 = the first, 1 = the last. Default 0. */
  readonly depth?: number;
  readonly oldestFirst?: true;
}

/** A question for an account, after its answer was found correct. */
interface PreparedQuery {
  readonly owner: Owner;
  readonly path: string;
}

const failed = () => ['status=failed', 'd.is_failed'] as const;
const typed = (type: string) => () => [`type=${type}`, `d.type = '${type}'`] as const;
const ofEndpoint = ({ endpoint }: Owner) =>
  [`webhook_endpoint_id=we_${endpoint.replaceAll('-', '')}`, `d.endpoint_id = '${endpoint}'`] as const;
const untilRagged = ({ ragged }: Owner) => {
  const at = new Date(ragged).toISOString();
  return [`created_at[lt]=${at}`, `d.event_id < id_floor('${at}')`] as const;
};

const FIRST: Question = { what: 'page 1' };

/** The questions for logs of all sizes, in groups whose pages should cost the same. */
const GROWING: readonly { questions: readonly Question[]; goal: number | null }[] = [
  {
    goal: GOAL,
    questions: [
      FIRST,
      { what: 'last page', depth: 1 },
      { what: 'oldest first, middle page', depth: 0.5, oldestFirst: true },
      { what: 'oldest first, last page', depth: 1, oldestFirst: true },
    ],
  },
  {
    goal: GOAL,
    questions: [
      { what: 'failed, page 1', filter: failed },
      { what: 'failed, last page', filter: failed, depth: 1 },
    ],
  },
  {
    goal: GOAL,
    questions: [
      { what: 'of one endpoint, page 1', filter: ofEndpoint },
      { what: 'of one endpoint, last page', filter: ofEndpoint, depth: 1 },
    ],
  },
  {
    goal: null,
    questions: [
      { what: 'before an instant, page 1', filter: untilRagged },
      { what: 'before an instant, last page', filter: untilRagged, depth: 1 },
    ],
  },
  { goal: null, questions: [{ what: 'a type of one row in a thousand', filter: typed('payout.paid') }] },
  { goal: null, questions: [{ what: 'a type of nearly all, page 1', filter: typed('order.created') }] },
];

/** Gets the total and the ids of the page by plain SQL, and checks the program's response against them. */
async function prepare(bench: Bench, owner: Owner, question: Question): Promise<PreparedQuery> {
  const [parameters, condition] = question.filter?.(owner) ?? ['', 'true'];
  const where = `from deliveries d where d.account_id = $1 and ${condition}`;
  const counted = await bench.pg.query<{ n: number }>(`select count(*)::int as n ${where}`, [owner.account]);
  const total = counted.rows[0]?.n ?? 0;
  const fullPages = Math.floor(total / PAGE);
  const page = Math.max(1, Math.round(fullPages * (question.depth ?? 0)));
  const sort = question.oldestFirst ? 'sort=id' : '';
  const query = [`per_page=${PAGE}`, parameters, sort, page === 1 ? '' : `page=${page}`].filter(Boolean);
  const path = `/v2/webhook-events?${query.join('&')}`;
  // Fetched from the nearer end: skipping ten million rows takes seconds.
  const offset = (page - 1) * PAGE;
  const size = Math.min(PAGE, total - offset);
  const isNear = offset <= total >> 1;
  const direction = isNear === (question.oldestFirst === true) ? 'asc' : 'desc';
  const found = await bench.pg.query<{ id: string }>(
    `select public_id('evt', d.event_id) as id ${where}
     order by d.event_id ${direction}, d.endpoint_id ${direction} offset $2 limit $3`,
    [owner.account, isNear ? offset : total - offset - size, size],
  );
  const ids = found.rows.map(({ id }) => id);
  const expected = isNear ? ids : ids.toReversed();
  await bench.actAs(owner.account);
  const answer = JSON.parse(await bench.send('GET', path)) as Answer;
  const returned = answer.data.map(({ id }) => id);
  if (answer.pagination.total !== total || returned.join() !== expected.join()) {
    throw new Error(
      `${path} of ${total} rows: ${answer.pagination.total} were returned, or other rows than expected`,
    );
  }
  return { owner, path };
}

interface Answer {
  readonly data: readonly { id: string }[];
  readonly pagination: { readonly total: number };
}

async function ask(bench: Bench, { owner, path }: PreparedQuery): Promise<number> {
  await bench.actAs(owner.account);
  return seconds(() => bench.send('GET', path));
}

/** Asks all questions in turn, for fewer rounds when they are slow; returns their samples in the same order. */
async function askAll(bench: Bench, prepared: readonly PreparedQuery[]): Promise<number[][]> {
  let once = 0;
  for (const each of prepared) once += await ask(bench, each);
  const rounds = Math.max(3, Math.min(ROUNDS, Math.floor(ROUNDS_SECONDS / once)));
  const tasks = prepared.map((each, index) => [String(index), () => ask(bench, each)] as const);
  const samples = await interleaved<string>(rounds, Object.fromEntries(tasks));
  return prepared.map((_, index) => samples[index] ?? []);
}

/** Each question for logs of every size; the ratio is the slowest to the quickest of its group. */
async function* growing(bench: Bench, owners: readonly Owner[]): AsyncGenerator<Result> {
  const names = owners.map(({ rows }) => count(rows));
  for (const { questions, goal } of GROWING) {
    const prepared: PreparedQuery[] = [];
    for (const question of questions) {
      for (const owner of owners) prepared.push(await prepare(bench, owner, question));
    }
    const samples = await askAll(bench, prepared);
    const least = Math.min(...samples.map(median));
    for (const [index, { what }] of questions.entries()) {
      const own = samples.slice(index * owners.length, (index + 1) * owners.length);
      yield sizesOf(what, { names, own, least, goal });
    }
  }
}

/** A row of the table: the time of a question at each size. */
function sizesOf(
  measure: string,
  {
    names,
    own,
    least,
    goal,
  }: { names: readonly string[]; own: readonly number[][]; least: number; goal: number | null },
): Result {
  const figures = own.map((values, size) => `${names[size]} ${duration(median(values))}`).toReversed();
  const ratio = Math.max(...own.map(median)) / least;
  return {
    measure,
    figure: figures[0] ?? '–',
    against: figures.slice(1).join(', '),
    ratio,
    ...(goal === null ? noGoal : { goal: `≤ ${goal} ×`, met: ratio <= goal }),
    samples: Object.fromEntries(own.map((values, size) => [names[size], values])),
  };
}

/** Time series of an account: a day by minute, and a month by hour, in the middle of the log. */
async function* series(bench: Bench, owners: readonly Owner[]): AsyncGenerator<Result> {
  const names = owners.map(({ rows }) => count(rows));
  for (const [what, interval, spanMs] of [
    ['analytics: a day by minute', 'minute', 24 * HOUR_MS],
    ['analytics: 30 days by hour', 'hour', 30 * 24 * HOUR_MS],
  ] as const) {
    const prepared: PreparedQuery[] = [];
    for (const owner of owners) {
      const from = owner.ragged - (owner.ragged % HOUR_MS);
      const [first, last] = [from, from + spanMs - 1].map((ms) => new Date(ms).toISOString());
      const path = `/v2/analytics/deliveries?interval=${interval}&from=${first}&to=${last}`;
      await bench.actAs(owner.account);
      const { totals } = JSON.parse(await bench.send('GET', path)) as Series;
      const { rows } = await bench.pg.query<{ n: number }>(
        `select count(*)::int as n from deliveries where account_id = $1
           and event_id >= id_floor($2) and event_id < id_floor($2::timestamptz + $3 * interval '1 millisecond')`,
        [owner.account, first, spanMs],
      );
      if (totals.published !== rows[0]?.n || totals.attempts !== rows[0].n)
        throw new Error(`${path}: ${totals.published} were returned, expected ${rows[0]?.n}`);
      prepared.push({ owner, path });
    }
    const own = await askAll(bench, prepared);
    yield sizesOf(what, { names, own, least: Math.min(...own.map(median)), goal: SERIES_GOAL });
  }
}

interface Series {
  readonly totals: { readonly published: number; readonly attempts: number };
}

interface Pair {
  readonly measure: string;
  readonly page: readonly [Owner, Question];
  readonly against: readonly [what: string, Owner, Question];
  readonly goal: number | null;
}

async function* compared(bench: Bench, pairs: readonly Pair[]): AsyncGenerator<Result> {
  const prepared: PreparedQuery[] = [];
  for (const { page, against } of pairs) {
    prepared.push(await prepare(bench, ...page), await prepare(bench, against[1], against[2]));
  }
  const samples = await askAll(bench, prepared);
  for (const [index, { measure, against, goal }] of pairs.entries()) {
    const [own = [], other = []] = samples.slice(2 * index, 2 * index + 2);
    const [time, base] = [median(own), median(other)];
    const ratio = Math.max(time / base, base / time);
    yield {
      measure,
      figure: duration(time),
      against: `${against[0]} ${duration(base)}`,
      ratio,
      ...(goal === null ? noGoal : { goal: `≤ ${goal} ×`, met: ratio <= goal }),
      samples: { own, against: other },
    };
  }
}

/** A million rows within one hour: each minute has thousands, so pages start in the middle of one. */
function pairsOfHour(hour: Owner, few: Owner): Pair[] {
  const name = `${count(hour.rows)} of one hour`;
  const against = [`page 1 of ${count(few.rows)}`, few, FIRST] as const;
  const pair = (what: string, question: Omit<Question, 'what'>, goal: number | null = GOAL): Pair => ({
    measure: `${name}, ${what}`,
    page: [hour, { what, ...question }],
    against,
    goal,
  });
  return [
    pair('page 1', {}),
    pair('last page', { depth: 1 }),
    pair('the middle of a minute', { depth: 0.492 }),
    pair('oldest first, the middle of a minute', { depth: 0.492, oldestFirst: true }),
    pair('before an instant, page 1', { filter: untilRagged }, null),
  ];
}

/** One tenant has nearly all rows of the tables; the pages of the small tenants next to it are just as full. */
function pairsOfTenants(huge: Owner, tenant: Owner, tenants: number): Pair[] {
  const large = `${count(huge.rows)} among ${count(tenants)} tenants`;
  const small = `a tenant of ${TENANT_ROWS} next to it`;
  const last: Question = { what: 'last page', depth: 1 };
  return [
    { measure: `${large}, page 1`, page: [huge, FIRST], against: [small, tenant, FIRST], goal: GOAL },
    { measure: `${large}, last page`, page: [huge, last], against: [small, tenant, FIRST], goal: GOAL },
    {
      measure: `${small}, last page`,
      page: [tenant, last],
      against: [`page 1 of ${large}`, huge, FIRST],
      goal: GOAL,
    },
  ];
}

async function ownerOf(bench: Bench, account: string, rows: number, ragged: number): Promise<Owner> {
  const found = await bench.pg.query<{ id: string }>(
    'select id from webhook_endpoints where account_id = $1 order by id limit 1',
    [account],
  );
  return { account, endpoint: found.rows[0]?.id ?? '', rows, ragged };
}

/** An account with a log spread evenly over the retention period. */
async function even(bench: Bench, rows: number): Promise<Owner> {
  const account = await seedAccount(bench.pg, `Log of ${rows}`);
  await seedLog(bench, { accounts: [account], count: rows, ageMs: SPAN_MS, spanMs: SPAN_MS });
  return ownerOf(bench, account, rows, Date.now() - SPAN_MS / 2);
}

/** An account whose log lies in the previous hour. */
async function ofOneHour(bench: Bench, rows: number): Promise<Owner> {
  const account = await seedAccount(bench.pg, 'One hour');
  const begin = Date.now() - HOUR_MS - (Date.now() % HOUR_MS);
  await seedLog(bench, { accounts: [account], count: rows, ageMs: Date.now() - begin, spanMs: HOUR_MS });
  // one millisecond before a full minute, so that as much of a minute as possible is cut off
  return ownerOf(bench, account, rows, begin + 30 * 60_000 - 1);
}

async function tenantsBeside(bench: Bench, tenants: number): Promise<Owner> {
  const accounts: string[] = [];
  for (let index = 0; index < tenants; index += 1)
    accounts.push(await seedAccount(bench.pg, `Tenant ${index}`));
  await seedLog(bench, { accounts, count: tenants * TENANT_ROWS, ageMs: SPAN_MS, spanMs: SPAN_MS });
  return ownerOf(bench, accounts[tenants >> 1] ?? '', TENANT_ROWS, Date.now() - SPAN_MS / 2);
}

async function seed(bench: Bench, { logs, logHour, tenants }: Sizes, note: (text: string) => void) {
  await makePastWeeks(bench, Math.ceil(DAYS / 7) + 1);
  const owners: Owner[] = [];
  for (const rows of logs) {
    const time = await seconds(async () => owners.push(await even(bench, rows)));
    note(`seeded ${count(rows)} in ${duration(time)}`);
  }
  const hour = await ofOneHour(bench, logHour);
  const tenant = await tenantsBeside(bench, tenants);
  const time = await seconds(() => settleLog(bench.pg));
  note(`vacuumed in ${duration(time)}`);
  return { owners, hour, tenant };
}

/**
 * Any page of the delivery log and its exact total: even logs of three sizes, one of an hour, one among many tenants.
 */
export const log: Group = {
  name: 'log',
  area: 'Delivery log, a page of 100 and the exact total; ratio: the slowest to the quickest of its kind',
  async *run(sizes, note) {
    // keeps retention from dropping rows meanwhile
    const bench = await startBench({ WEBHOOK_RETENTION_DAYS: 'off' });
    const { owners, hour, tenant } = await seed(bench, sizes, note);
    const [few, huge] = [owners[0] as Owner, owners.at(-1) as Owner];
    note('asking');
    yield* growing(bench, owners);
    yield* series(bench, owners);
    yield* compared(bench, pairsOfHour(hour, few));
    yield* compared(bench, pairsOfTenants(huge, tenant, sizes.tenants));
    const [bytes, rows] = [
      await logBytes(bench.pg),
      sizes.tenants * TENANT_ROWS + sizes.logHour + sizes.logs.reduce((sum, value) => sum + value, 0),
    ];
    yield {
      measure: `its ${count(rows)} rows on disk, indexes and sums`,
      figure: `${megabytes(bytes)}, ${Math.round(bytes / rows)} bytes a row`,
      ...alone,
      ...noGoal,
      samples: { bytes: [bytes] },
    };
    await bench.stop();
  },
};
