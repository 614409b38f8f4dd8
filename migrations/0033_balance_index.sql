-- Only a query that says `currency > ''`, which holds for every row, may use this index: the list sorted by what is unpaid.
-- Before there were statistics, the planner also took it to look up single balances, and read the whole account for each.
drop index affiliate_balances_unpaid;
create index affiliate_balances_unpaid on affiliate_balances (account_id, currency, unpaid, affiliate_id)
  where currency > '';
