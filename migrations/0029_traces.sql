-- The trace that an event belongs to (traceparent of W3C Trace Context): its deliveries carry it on. null = none.
alter table events add column traceparent text;
