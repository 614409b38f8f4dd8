-- How requests to an endpoint are signed: null = Standard Webhooks, else the name of a scheme as a JSON string, or an
-- object for a scheme of the merchant's own. `previous_secret` and what says how it signs are the second signature.
alter table webhook_endpoints
  add column signing json check (json_typeof(signing) in ('string', 'object')),
  add column previous_signing json check (json_typeof(previous_signing) in ('string', 'object')),
  add check (previous_signing is null or previous_secret is not null);
