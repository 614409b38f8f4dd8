-- The notes that can bring a balance near 2^53 - 1 minor units (src/money/ledger/limit.ts): hardly ever one, so whoever writes
-- a commission finds them without reading the notes of its affiliate.
create index affiliate_balance_notes_large on affiliate_balance_notes (account_id, affiliate_id, currency)
  where greatest(abs(owed), abs(paid)) >= 4294967296;
