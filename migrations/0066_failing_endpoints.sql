-- Endpoints that fail, and those whose failure was reported: they are read every 30 seconds, among very many that do not fail
-- (docs/decisions/0087). Their other updates stay heap-only, because these two columns keep their values.
-- Locks: SHARE on endpoint_state while the index is built.
-- Time: about a second for a million endpoints.

create index endpoint_state_failing on endpoint_state (account_id, endpoint_id) where failing_since is not null or told > 0;
