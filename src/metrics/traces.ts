import type { TraceContext } from '../kernel/trace.ts';

/** What a span may say about itself. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A piece of work in a trace. */
export interface Span {
  /** What goes on with the trace has this span as its parent. */
  readonly trace: TraceContext;
  /** Ends the span, once; `isFailed` when the work did not succeed. */
  end(attributes?: Attributes, isFailed?: boolean): void;
}

/** What a span is: work for a caller, work within, an event for others, or a request to another program. */
export type SpanKind = 'server' | 'internal' | 'producer' | 'client';

/** What a span begins with. */
export interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  /** What it continues; null = it begins a trace. */
  readonly parent: TraceContext | null;
  readonly attributes?: Attributes;
}

/** Where a process tells its spans. */
export interface Tracer {
  start(span: SpanStart): Span;
}

const traced = new WeakMap<object, Tracer>();

/** From now on, spans of what this process does with the database go to `tracer`. Returns what ends it. */
export function traceWith(db: { readonly scopeKey: object }, tracer: Tracer): () => void {
  traced.set(db.scopeKey, tracer);
  return () => void traced.delete(db.scopeKey);
}

/** The tracer of a database or transaction; undefined while nothing is traced. */
export function tracerOf({ scopeKey }: { readonly scopeKey: object }): Tracer | undefined {
  return traced.get(scopeKey);
}

/**
 * Does something in a span, and tells it the trace to go on with: without a tracer that of the caller, so that a trace
 * passes through.
 */
export async function inSpan<Result>(
  db: { readonly scopeKey: object },
  start: SpanStart,
  work: (trace: TraceContext | null) => Promise<Result>,
): Promise<Result> {
  const span = tracerOf(db)?.start(start);
  if (span === undefined) return work(start.parent);
  let isFailed = true;
  try {
    const result = await work(span.trace);
    isFailed = false;
    return result;
  } finally {
    span.end({}, isFailed);
  }
}
