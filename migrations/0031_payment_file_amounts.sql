-- What a payment file pays whom, so that one can tell how the payout differs from a file that was downloaded before. Null for
-- files downloaded before this, and for those with several currencies.
alter table payment_file_downloads
  add column affiliate_ids bigint[],
  add column amounts       bigint[];  -- minor units, of the affiliate at the same place
