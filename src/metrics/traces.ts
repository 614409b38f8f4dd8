import type { TraceContext } from '../kernel/trace.ts';

/** The attributes of a span. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A piece of work in a trace. */
export interface Span {
  /** The context for what continues the trace, with this span as its parent. */
  readonly trace: TraceContext;
  /** Ends the span, once; `isFailed` when the work did not succeed. */
  end(attributes?: Attributes, isFailed?: boolean): void;
}

/** The kind of a span: work for a caller, internal work, an event for others, or a request to another program. */
export type SpanKind = 'server' | 'internal' | 'producer' | 'client';

/** The initial values of a span. */
export interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  /** The trace it continues; null = it begins one. */
  readonly parent: TraceContext | null;
  readonly attributes?: Attributes;
}

/** Records the spans of a process. */
export interface Tracer {
  start(span: SpanStart): Span;
}

const traced = new WeakMap<object, Tracer>();

/** Sends the spans of this process's work with the database to `tracer` from now on. Returns a function that stops it. */
export function traceWith(db: { readonly scopeKey: object }, tracer: Tracer): () => void {
  traced.set(db.scopeKey, tracer);
  return () => void traced.delete(db.scopeKey);
}

/** The tracer of a database or transaction; undefined if nothing is traced. */
export function tracerOf({ scopeKey }: { readonly scopeKey: object }): Tracer | undefined {
  return traced.get(scopeKey);
}

/** Runs `work` in a span and passes it the trace to continue: that of the caller if there is no tracer. */
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
