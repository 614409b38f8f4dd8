import sql, { join, raw, type Sql } from 'sql-template-tag';
import {
  counting,
  exactly,
  type Filter,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  opaqueId,
  type Page,
  type PageSource,
  spanOf,
} from '../../contract/lists.ts';
import { offsetOf } from '../../contract/page-cuts.ts';
import { type Reader, rows } from '../../db/database.ts';
import { type AccountId, type EndpointId, uuidOf } from '../../kernel/ids.ts';
import { countedPage, type Endpoints, type Kind, ofEndpoints } from '../../outbox/counts.ts';
import { isKept } from '../../outbox/queue.ts';
import { answeredSo, byAnswer, byExternalId, byTag, byType, WALKED } from './filters.ts';
import { endpointJoin, record, type WebhookEvent } from './record.ts';

const filters: Readonly<Record<string, Filter>> = {
  // a status is not a condition on rows: each has its own query
  status: oneOf(['pending', 'delivered', 'failed', 'cancelled', 'held'], () => sql`true`),
  type: byType('d.type'),
  event_id: opaqueId('evt', 'd.event_id'),
  external_id: byExternalId('d.event_id'),
  ...byAnswer,
  ...idInstants('created_at', 'd.event_id'),
};

const sort = { id: 'd.event_id', created_at: 'd.event_id' };

/** The log of one endpoint. */
export const endpointEventList: ListDefinition = { id: 'd.event_id', sort, filters, mayStopCounting: true };

/** The log of the account: an event has a row for each endpoint. */
export const webhookEventList: ListDefinition = {
  id: 'd.endpoint_id',
  sort,
  mayStopCounting: true,
  filters: {
    ...filters,
    webhook_endpoint_id: opaqueId('we', 'd.endpoint_id'),
    // not of the log of an endpoint: a portal reads that, and could guess tags
    tag: byTag('d.event_id'),
    // no condition on rows: it says which endpoints to read
    owner: { ...exactly('e.owner'), condition: (value) => (value === '' ? null : sql`true`) },
  },
};

/** Which log to read, by UUIDs. */
export interface Scope {
  readonly account: AccountId;
  readonly endpoint: Endpoints;
}

type Paths = Pick<PageSource<WebhookEvent>, 'ctes' | 'total' | 'find'>;

/** One page of the log of an account, or of one endpoint (UUID). */
export async function listDeliveries(
  db: Reader,
  account: AccountId,
  list: ListQuery,
  endpoint?: EndpointId,
): Promise<Page<WebhookEvent>> {
  const filtered = uuidOf('we', list.given.get('webhook_endpoint_id') ?? '') ?? undefined;
  const owner = list.given.get('owner');
  const endpoints =
    owner === undefined ? (endpoint ?? filtered) : await endpointsOf(db, account, { owner, only: filtered });
  const status = list.given.get('status');
  return listPage(db, {
    list,
    name: `${endpoint === undefined ? 'webhook_events' : 'endpoint_events'}_${status ?? 'all'}`,
    isPrepared: list.given.size === (status === undefined ? 0 : 1),
    table: 'deliveries',
    alias: 'd',
    where: sql`true`,
    record,
    join: endpointJoin,
    ...pathsOf({ account, endpoint: endpoints }, list),
  });
}

/** The endpoints (UUIDs) that an owner has or had; of these only one, if it is given. */
export async function endpointsOf(
  db: Reader,
  account: AccountId,
  { owner, only }: { readonly owner: string; readonly only?: EndpointId | undefined },
): Promise<EndpointId[]> {
  const found = await rows<{ id: EndpointId }>(
    db,
    sql`select id from webhook_endpoints
        where account_id = ${account} and owner = ${owner} and id = coalesce(${only ?? null}::uuid, id)`,
  );
  return found.map(({ id }) => id);
}

function pathsOf(scope: Scope, list: ListQuery): Paths {
  const status = list.given.get('status');
  if (status === 'pending' || status === 'held') return waiting(scope, status, list);
  const kind = status === 'delivered' || status === 'failed' || status === 'cancelled' ? status : 'total';
  return WALKED.some((name) => list.given.has(name)) ? walked(scope, kind, list) : counted(scope, kind, list);
}

/** Uses the sums of minutes, hours and weeks: any page, and the total, costs as much as the first page. */
function counted(scope: Scope, kind: Kind, list: ListQuery): Paths {
  const isFailed = kind === 'failed';
  const { ctes, total, rows } = countedPage(
    {
      ...scope,
      kind,
      ...spanOf('created_at', list),
      uncounted: isFailed ? sql`select event_id from over` : null,
      between: (first, end) => rowsOf(scope, kind, sql`d.event_id >= ${first} and d.event_id < ${end}`),
      order: { asc: sql`d.event_id, d.endpoint_id`, desc: sql`d.event_id desc, d.endpoint_id desc` },
    },
    {
      isDescending: list.sort.startsWith('-'),
      offset: offsetOf(list),
      // one more row shows whether there is a next page
      limit: list.perPage + 1,
      after: placeOf(list),
    },
  );
  return { ctes: isFailed ? sql`${over(scope)}, ${ctes}` : ctes, total, find: () => rows };
}

/** A cursor's position in the log; without an endpoint if the log is that of one endpoint. */
function placeOf({ after }: ListQuery): { event: string; endpoint: string | null } | null {
  const [event, endpoint = null] = after?.key ?? [];
  return event === undefined ? null : { event: event ?? '', endpoint };
}

/** Scans the rows of a type, of an event, or of those whose last attempt failed: linear in their number. */
function walked(scope: Scope, kind: Kind, list: ListQuery): Paths {
  const { condition, showsEnded } = answeredSo(list);
  const always = join([...list.conditions, isKept(sql`d.event_id`)], ' and ');
  const wanted = condition === null ? always : sql`${always} and ${condition}`;
  // rows that wait at a deleted endpoint show an error that is not written yet
  const [ended, ctes] = showsEnded
    ? [kind === 'delivered' || kind === 'cancelled' ? sql`false` : always, { ctes: over(scope) }]
    : [wanted, kind === 'failed' ? { ctes: over(scope) } : {}];
  const rows =
    showsEnded && kind === 'total'
      ? sql`${rowsOf(scope, kind, wanted)} union all select d.* from over d where ${ended}`
      : rowsOf(scope, kind, wanted, ended);
  return {
    ...ctes,
    total: counting(list, sql`select from (${rows}) d`),
    find: ({ page, after }) => sql`select d.* from (${rows}) d where ${after} ${page}`,
  };
}

const ofScope = ({ account, endpoint }: Scope) =>
  sql`d.account_id = ${account} ${ofEndpoints(sql`d.endpoint_id`, endpoint)}`;

// Statuses are literals, because parameters could not use the indexes of rare ones.
function rowsOf(scope: Scope, kind: Kind, condition: Sql, ended = condition): Sql {
  const rows = sql`select d.* from deliveries d where ${ofScope(scope)} and ${condition}`;
  if (kind === 'delivered' || kind === 'cancelled') return sql`${rows} and d.status = '${raw(kind)}'`;
  return kind === 'failed'
    ? sql`${rows} and d.is_failed union all select d.* from over d where ${ended}`
    : rows;
}

/** Deliveries that waited at deleted endpoints have failed, although workers write that later. */
const over = ({ account, endpoint }: Scope) => sql`
  over as materialized (
    select d.* from webhook_endpoints e
    cross join lateral (
      select * from queue q where q.account_id = e.account_id and q.endpoint_id = e.id offset 0) q
    cross join lateral (${logOf(sql`q`)}) d
    where e.account_id = ${account} ${ofEndpoints(sql`e.id`, endpoint)}
      and e.deleted_at is not null and d.status = 'pending')`;

/** A query of their `event_id`. */
export const failedAtDeleted = (scope: Scope): Sql => sql`with ${over(scope)} select event_id from over`;

/** The log row of a queue row. The limit keeps the planner from joining the whole log. */
const logOf = (queued: Sql) => sql`
  select * from deliveries l
  where l.account_id = ${queued}.account_id and l.endpoint_id = ${queued}.endpoint_id
    and l.event_id = ${queued}.event_id limit 1`;

/**
 * Reads the queue, which is small compared to the log. A delivery queued by hand may have been delivered or failed
 * before.
 */
function waiting(scope: Scope, status: 'pending' | 'held', list: ListQuery): Paths {
  const { condition } = answeredSo(list);
  const queued = WALKED.some((name) => list.given.has(name))
    ? sql`(select q.*, l.type, l.status, l.attempt_count, l.last_response_status, l.last_error_code
           from queue q cross join lateral (${logOf(sql`q`)}) l)`
    : sql`queue`;
  const conditions = [ofScope(scope), ...list.conditions, ...(condition === null ? [] : [condition])];
  const keys = sql`from ${queued} d join webhook_endpoints e on e.account_id = d.account_id and e.id = d.endpoint_id
    where ${join(conditions, ' and ')} and e.deleted_at is null
      and e.disabled_at ${status === 'held' ? sql`is not null` : sql`is null`}
      and (d.trigger = 'scheduled' or (select l.status from (${logOf(sql`d`)}) l) = 'pending')`;
  return {
    total: counting(list, sql`select ${keys}`),
    find: ({ page, after }) => sql`
      select d.* from (select d.account_id, d.endpoint_id, d.event_id ${keys} and ${after} ${page}) k
      cross join lateral (${logOf(sql`k`)}) d`,
  };
}
