-- All files that pay a payout in one format and currency by one choice. The same content is the same set.
create table payment_file_sets (
  account_id      uuid not null,
  payout_id       uuid not null,
  id              uuid not null default new_id(),
  format          text not null,
  currency        text not null,
  revision        int not null,     -- of the payout when it was downloaded first
  choices         jsonb not null,   -- what the request chose beside currency, part and day
  content         text,             -- digest, hexadecimal, of all that its files depend on but the day; null = not known
  execution_date  date,             -- null = the format has none
  code            text not null,    -- in the ids of its files
  replaces        uuid,             -- the set that was downloaded before it
  is_current      boolean not null, -- no other set of this format and currency was downloaded since
  primary key (account_id, payout_id, id),
  unique (account_id, payout_id, code),
  foreign key (account_id, payout_id) references payouts on delete cascade,
  foreign key (account_id, payout_id, replaces) references payment_file_sets
);

-- A file of a set that was downloaded. Its id has the time at which it was made, for the file says so.
create table payment_files (
  account_id   uuid not null,
  payout_id    uuid not null,
  set_id       uuid not null,
  part         int not null,
  id           uuid not null default new_id(),
  local_time   text not null,       -- when it was made in the time zone of the account, YYMMDDHHMM
  modifier     int,                 -- NACHA: which file of the originator on that day, from 1
  first_trace  int,                 -- NACHA: the number of its first entry on that day, from 1
  primary key (account_id, payout_id, set_id, part),
  foreign key (account_id, payout_id, set_id) references payment_file_sets on delete cascade
);

-- Whom the files of a set pay that were downloaded.
create table payment_file_payees (
  account_id    uuid not null,
  payout_id     uuid not null,
  affiliate_id  bigint not null,
  currency      text not null,
  set_id        uuid not null,
  part          int not null,
  primary key (account_id, payout_id, affiliate_id, currency, set_id),
  foreign key (account_id, payout_id) references payouts on delete cascade
);

-- How many NACHA files and entries an originator made on a day.
create table nacha_days (
  account_id             uuid not null references accounts,
  immediate_destination  text not null,
  immediate_origin       text not null,
  day                    text not null,  -- YYMMDD in the time zone of the account
  files                  int not null,
  entries                int not null,
  primary key (account_id, immediate_destination, immediate_origin, day)
);

alter table payment_file_downloads
  add column set_id      uuid,
  add column message_id  text;  -- the id in a SEPA file; null = P<number>-R<revision>-F<part>

-- Notes the set and the payees of a download that has none: those before this, and those of servers of the version before.
create function payment_file_set_of(w payment_file_downloads) returns uuid language plpgsql as $$
declare
  legacy  text := concat_ws('-', 'R' || w.revision, w.format, w.currency);
  current uuid;
  found   uuid;
begin
  if w.set_id is not null or w.currency is null or w.affiliate_ids is null then return w.set_id; end if;
  select id into current from payment_file_sets s
  where s.account_id = w.account_id and s.payout_id = w.payout_id and s.format = w.format and s.currency = w.currency and s.is_current;
  select id into found from payment_file_sets s
  where s.account_id = w.account_id and s.payout_id = w.payout_id and s.code = legacy;
  if found is null then
    insert into payment_file_sets (account_id, payout_id, format, currency, revision, choices, code, replaces, is_current)
    values (w.account_id, w.payout_id, w.format, w.currency, w.revision, '{}', legacy, current, true)
    on conflict (account_id, payout_id, code) do update set is_current = true returning id into found;
  end if;
  update payment_file_sets s set is_current = (s.id = found)
  where s.account_id = w.account_id and s.payout_id = w.payout_id and s.format = w.format and s.currency = w.currency
    and s.is_current <> (s.id = found);
  insert into payment_file_payees (account_id, payout_id, affiliate_id, currency, set_id, part)
  select w.account_id, w.payout_id, affiliate_id, w.currency, found, coalesce(w.part, 1)
  from unnest(w.affiliate_ids) as f (affiliate_id)
  join payouts p on p.account_id = w.account_id and p.id = w.payout_id and p.status = 'unpaid'
  on conflict do nothing;
  return found;
end $$;

do $$
declare
  w payment_file_downloads;
begin
  for w in select * from payment_file_downloads where affiliate_ids is not null order by account_id, payout_id, id loop
    update payment_file_downloads d set set_id = payment_file_set_of(w)
    where d.account_id = w.account_id and d.payout_id = w.payout_id and d.id = w.id;
  end loop;
end $$;

create function note_payment_file_set() returns trigger language plpgsql as $$
begin
  new.set_id := payment_file_set_of(new);
  return new;
end $$;
create trigger payment_file_downloads_note_their_set before insert on payment_file_downloads
  for each row when (new.set_id is null and new.affiliate_ids is not null) execute function note_payment_file_set();
