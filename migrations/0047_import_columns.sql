-- What an import set beside the records of affiliates, so that it can be undone.

-- The destinations that it put in force, and those that they replaced (null = there was none).
create table import_destinations (
  account_id     uuid not null,
  import_id      uuid not null,
  affiliate_id   bigint not null,
  destination_id uuid not null,
  replaced_id    uuid,
  primary key (account_id, import_id, affiliate_id),
  foreign key (account_id, import_id) references imports,
  foreign key (account_id, affiliate_id) references affiliates on delete cascade
);
create index import_destinations_affiliate on import_destinations (account_id, affiliate_id);

-- The tax profiles that it wrote, and the rows that they were before (null = there was none), tax ids sealed.
create table import_tax_profiles (
  account_id   uuid not null,
  import_id    uuid not null,
  affiliate_id bigint not null,
  before       json,
  changed_at   timestamptz(3) not null default now(),
  primary key (account_id, import_id, affiliate_id),
  foreign key (account_id, import_id) references imports,
  foreign key (account_id, affiliate_id) references affiliates on delete cascade
);
create index import_tax_profiles_affiliate on import_tax_profiles (account_id, affiliate_id);

-- When an undone import put a destination in force again.
alter table affiliate_destinations add column restored_at timestamptz(3);
