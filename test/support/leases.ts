/** The length of a lease where DELIVERY_TIMEOUT_MS is `LEASE_TIMEOUT_MS`, in milliseconds. */
export const LEASE_MS = 60_000;
export const LEASE_TIMEOUT_MS = LEASE_MS / 2;

/** Statements that record every lease in a table `leases`, by PostgreSQL's clock, so that a busy machine fails no test. */
export const NOTE_LEASES: readonly string[] = [
  'create table leases (endpoint_id uuid, event_id uuid, given_at timestamptz)',
  `create function note_lease() returns trigger language plpgsql security definer as $$
    begin
      insert into leases values (new.endpoint_id, new.event_id, new.due_at - interval '${LEASE_MS} ms');
      return null;
    end $$`,
  `create trigger note_lease after insert or update of lease_token on queue
    for each row when (new.lease_token is not null) execute function note_lease()`,
];

/** A query for the most leases of an endpoint granted within any second, as `most`. */
export const mostLeasesInASecond = (endpoint: string) => `
  select coalesce(max(count), 0)::int as most from (
    select count(*) over (order by given_at range between current row and interval '999999 microseconds' following) as count
    from leases where endpoint_id = '${endpoint}') each_lease`;
