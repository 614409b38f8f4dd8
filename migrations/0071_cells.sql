-- Cells (docs/decisions/0097): other schemas, on this server or another, that hold some of the accounts. Cell 0 is this database;
-- only its rows here are used.
-- Locks: none on existing tables.
-- Time: milliseconds.

create table cells (
  number int primary key check (number between 1 and 9999),
  -- the PostgreSQL that holds it: a URL, sealed; null: that of cell 0
  url bytea,
  -- null: the schema of the login
  schema text,
  -- draining: takes no new accounts; closed: removed, and its number is never used again
  state text not null default 'open' check (state in ('open', 'draining', 'closed')),
  created_at timestamptz(3) not null default now());

-- The cell of each account outside cell 0. The primary key prevents an account in two cells.
create table account_cells (
  account_id uuid primary key,
  cell int not null references cells);
create index account_cells_by_cell on account_cells (cell);

-- The cells outside cell 0 where an e-mail address has a user, by a keyed hash of the address.
create table person_cells (
  email_mark bytea,
  cell int references cells,
  primary key (email_mark, cell));
