-- Alerts: what people and channels are told, by e-mail, webhook or Slack (src/notices, src/alerts).

-- What somebody wants to be told by e-mail; null = what their role is told by default (src/notices/kinds.ts).
alter table users add column alert_kinds text[];

-- Where an account is told. Whoever knows the URL of a Slack channel may write there, so it is sealed.
create table alert_channels (
  account_id uuid not null references accounts,
  id         uuid not null default new_id(),
  name       text not null,
  format     text not null check (format in ('webhook', 'slack')),
  target     bytea not null,        -- sealed JSON: the URL, and the secret that signs requests of a webhook
  host       text not null,         -- of the URL, to be shown
  kinds      text[] not null,
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, id)
);

-- One row for each recipient of an alert or a letter, written with what it tells of.
create table notices (
  account_id   uuid not null references accounts,
  id           uuid not null default new_id(),
  kind         text not null,
  subject      text,                -- the id of what it is about; rows of one kind and subject are one line of a message
  count        int not null default 1,
  data         json not null,       -- what the words need (src/notices/kinds.ts)
  link         bytea,               -- sealed: the link of an invitation or for a password
  is_alone     boolean not null,    -- a message of its own, which is sent at once and not counted
  user_id      uuid,
  channel_id   uuid,
  recipient    uuid not null generated always as (coalesce(user_id, channel_id)) stored,
  due_at       timestamptz(3) not null,
  tries        int not null default 0,
  lease        uuid,                -- the message that it is being sent in
  leased_until timestamptz(3),
  sent_at      timestamptz(3),
  failed_at    timestamptz(3),      -- it was given up
  error        text,                -- why the last try failed
  primary key (account_id, id),
  foreign key (account_id, user_id) references users (account_id, id),
  foreign key (account_id, channel_id) references alert_channels on delete cascade,
  check (num_nonnulls(user_id, channel_id) = 1),
  check (num_nonnulls(sent_at, failed_at) <= 1)
);
create index notices_open on notices (account_id, recipient, due_at) where sent_at is null and failed_at is null;
create index notices_recipient on notices (account_id, recipient, id);
create index notices_lease on notices (lease) where lease is not null;

-- What was told last: how far an endpoint is on its way to being disabled in percent, 0 = nothing, 1 = nothing since it
-- began to fail again; and which payout waits.
alter table endpoint_state add column told smallint not null default 0, add column told_at timestamptz(3);
alter table payout_books add column told_payout uuid;
