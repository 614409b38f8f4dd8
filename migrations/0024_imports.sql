-- A file that was imported: how it was read, and what became of its lines.
create table imports (
  account_id  uuid not null references accounts,
  id          uuid not null default new_id(),
  kind        text not null check (kind in ('affiliates', 'commissions')),
  status      text not null default 'completed' check (status in ('completed', 'undone')),
  file_name   text,
  file_bytes  bigint not null,
  file_sha256 text not null,
  dialect     json not null,
  mapping     json not null,
  -- what was accepted without having been said
  guessed     json not null default '[]',
  lines       bigint not null default 0,
  created     bigint not null default 0,
  updated     bigint not null default 0,
  unchanged   bigint not null default 0,
  skipped     bigint not null default 0,
  failed      bigint not null default 0,
  -- past payouts that were made of lines paid before
  payouts     bigint not null default 0,
  totals      json not null default '[]',
  created_by  text not null,
  -- an id from after the last line: what came with the import lies between this id and its own
  last_id     uuid,
  undone_by   text,
  undone_at   timestamptz(3),
  primary key (account_id, id),
  check ((status = 'undone') = (undone_at is not null) and (status = 'undone') = (undone_by is not null))
);

-- A mapping that was saved, for files with the same header.
create table import_mappings (
  account_id uuid not null references accounts,
  name       text not null,
  kind       text not null check (kind in ('affiliates', 'commissions')),
  -- the columns in lower case and in the order of the alphabet: what a file is known by
  header     text[] not null,
  mapping    json not null,
  dialect    json not null,
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, name)
);

-- The affiliates an import made (`before` is null) or changed, with what they were.
create table import_affiliates (
  account_id   uuid not null,
  import_id    uuid not null,
  affiliate_id bigint not null,
  before       json,
  changed_at   timestamptz(3) not null default now(),
  primary key (account_id, import_id, affiliate_id),
  foreign key (account_id, import_id) references imports,
  foreign key (account_id, affiliate_id) references affiliates
);
create index import_affiliates_affiliate on import_affiliates (account_id, affiliate_id);

-- Which import a commission came with. No foreign key: imports are never deleted, and a file has millions of lines. No
-- index either: what an import made lies between its id and the first id after it.
alter table commissions add column import_id uuid;
-- Which import a past payout came with.
alter table payouts add column import_id uuid;
create index payouts_import on payouts (account_id, import_id) where import_id is not null;

-- An affiliate that an import made can go again.
create index payout_exclusions_affiliate on payout_exclusions (account_id, affiliate_id);
