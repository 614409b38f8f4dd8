-- Processes that deliver. Each holds an advisory lock by its number as long as it lives (src/webhooks/engine/registry.ts), and
-- its leases carry the number: what a worker that died had under way is taken over at once.
create table workers (
  number     int primary key,
  name       text not null, -- machine and process, for people
  started_at timestamptz(3) not null default now()
);
