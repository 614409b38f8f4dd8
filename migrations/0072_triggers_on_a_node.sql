-- Locks: none.
-- Time: none.
--
-- On a node of Citus a trigger runs on a shard, whose name is the table's name and a number.
create or replace function drop_plain_digest() returns trigger language plpgsql as $$
begin
  if starts_with(tg_table_name, 'imports') then new.file_sha256 := ''; else new.sha256 := ''; end if;
  return new;
end $$;
