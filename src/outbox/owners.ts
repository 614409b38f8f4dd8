import sql, { empty, type Sql } from 'sql-template-tag';
import type { EndpointId } from '../kernel/ids.ts';

/** The parts of the publishing statement that say whom an event is for. */
export interface Addressing {
  /** A condition on a record `r` and its account `a`: the event is refused, because the account requires an owner. */
  readonly isRefused: Sql;
  /** The endpoints `e` that an event `v` may be for, to join with it. Types and filters are checked afterwards. */
  readonly endpoints: Sql;
  /** CTEs over `event`, each followed by a comma. */
  readonly ctes: Sql;
}

const ALL = sql`join webhook_endpoints e on e.account_id = v.account_id and e.deleted_at is null`;

/** Payhook's own events and test events: they have no owner, and need none. */
export const OUR_OWN: Addressing = { isRefused: sql`false`, endpoints: ALL, ctes: empty };

/** An endpoint that an event is about, and its owner. */
export interface Subject {
  readonly endpoint: EndpointId;
  readonly owner: string | null;
}

/**
 * An event about an endpoint is for the others that belong to nobody or to the same owner (docs/decisions/0143). `outbox/missing`
 * has the same rule.
 */
export const aboutEndpoint = ({ endpoint, owner }: Subject): Addressing => ({
  ...OUR_OWN,
  endpoints: sql`${ALL} and e.id <> ${endpoint} and (e.owner is null or e.owner = ${owner}::text)`,
});

/** Events of platforms, none of which has an owner. */
export const NO_OWNER: Addressing = { ...OUR_OWN, isRefused: sql`a.event_owner = 'required'` };

/**
 * Some events have an `owner`, a column of the records. Only the endpoints of that owner get them, which an index finds;
 * the others are for every endpoint.
 */
export const BY_OWNER: Addressing = {
  isRefused: sql`a.event_owner = 'required' and r.owner is null`,
  endpoints: sql`
          cross join lateral (
            select * from webhook_endpoints a where a.account_id = v.account_id and v.owner is null and a.deleted_at is null
            union all
            select * from webhook_endpoints o where o.account_id = v.account_id and o.owner = v.owner and o.deleted_at is null) e`,
  ctes: sql`
        owned as (
          insert into event_owners (account_id, event_id, owner)
          select account_id, id, owner from event where owner is not null),`,
};
