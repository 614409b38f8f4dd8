-- What systems of tracing noted beside the `traceparent` of an event (tracestate of W3C Trace Context). null = nothing.
alter table events add column tracestate text;
