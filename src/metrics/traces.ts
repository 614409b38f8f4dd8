/** What a span may say about itself. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A piece of work in a trace. */
export interface Span {
  /** What goes on with the trace names this as its parent: a `traceparent` of W3C Trace Context. */
  readonly traceparent: string;
  /** Ends the span, once; `isFailed` when the work did not succeed. */
  end(attributes?: Attributes, isFailed?: boolean): void;
}

/** What a span is: work for a caller, work within, an event for others, or a request to another program. */
export type SpanKind = 'server' | 'internal' | 'producer' | 'client';

/** What a span begins with. */
export interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  /** The `traceparent` that it continues; null = it begins a trace. */
  readonly parent: string | null;
  readonly attributes?: Attributes;
}

/** Where a process tells its spans. */
export interface Tracer {
  start(span: SpanStart): Span;
}

// Version 00 of W3C Trace Context, whose ids are not all zeros.
const WELL_FORMED = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A `traceparent` header if it is well-formed, else null. */
export function traceparentOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : null;
}

const traced = new WeakMap<object, Tracer>();

/** From now on, spans of what this process does with the database go to `tracer`. Returns what ends it. */
export function traceWith(db: { readonly home: object }, tracer: Tracer): () => void {
  traced.set(db.home, tracer);
  return () => void traced.delete(db.home);
}

/** The tracer of a database or transaction; undefined while nothing is traced. */
export function tracerOf({ home }: { readonly home: object }): Tracer | undefined {
  return traced.get(home);
}

/**
 * Does something in a span, and tells it the `traceparent` to go on with: without a tracer that of the caller, so that a
 * trace passes through.
 */
export async function inSpan<Result>(
  db: { readonly home: object },
  start: SpanStart,
  work: (traceparent: string | null) => Promise<Result>,
): Promise<Result> {
  const span = tracerOf(db)?.start(start);
  if (span === undefined) return work(start.parent);
  let isFailed = true;
  try {
    const result = await work(span.traceparent);
    isFailed = false;
    return result;
  } finally {
    span.end({}, isFailed);
  }
}
