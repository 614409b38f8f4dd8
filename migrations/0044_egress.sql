-- How requests leave for an endpoint: by which client certificate, proxy and access token.
alter table webhook_endpoints
  add column egress        json,  -- what may be shown
  add column egress_sealed bytea, -- the same with its secrets, as JSON
  add check ((egress is null) = (egress_sealed is null));
