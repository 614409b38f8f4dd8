-- Letters to a person are counted, also those to users who were removed.
create index users_ever_of_person on users (person_id);

-- Digests of files get a key: a plain SHA-256 gives away a tax number in a file whose rest is known. Those before are dropped, and
-- what servers of the version before write too. The columns go one release later. The digests of requests (idempotency_keys) are
-- keyed by the servers, which have the key; those before within a minute.
alter table imports
  add column file_digest bytea,                 -- HMAC-SHA-256, after the first 8 bytes of its key's fingerprint; null = dropped
  alter column file_sha256 drop not null;
alter table payout_results
  add column file_digest bytea,
  alter column sha256 drop not null;
alter table payment_file_downloads
  add column file_digest bytea;

update imports set file_sha256 = '';
update payout_results set sha256 = '';
update payment_file_downloads set sha256 = null where sha256 is not null;

create function drop_plain_digest() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'imports' then new.file_sha256 := ''; else new.sha256 := ''; end if;
  return new;
end $$;
create trigger imports_drop_plain_digest before insert or update of file_sha256 on imports
  for each row execute function drop_plain_digest();
create trigger payout_results_drop_plain_digest before insert or update of sha256 on payout_results
  for each row execute function drop_plain_digest();
create trigger payment_file_downloads_drop_plain_digest before update of sha256 on payment_file_downloads
  for each row execute function drop_plain_digest();
