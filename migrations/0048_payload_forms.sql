-- The form that an endpoint gets payloads in: null = as they are stored (src/webhooks/forms).
alter table webhook_endpoints
  add column payload_form text check (payload_form in ('thin', 'cloudevents'));
