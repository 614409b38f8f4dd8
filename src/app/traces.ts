import type { Context, Span as OtelSpan } from '@opentelemetry/api';
import type { TraceContext } from '../kernel/trace.ts';
import { programVersion } from '../kernel/version.ts';
import { type Attributes, type SpanKind, type Tracer, traceWith } from '../metrics/traces.ts';
import type { Platform } from './platform.ts';

/**
 * Sends the spans of this process's work with the database to OTEL_EXPORTER_OTLP_ENDPOINT, over OTLP/HTTP. Undefined
 * without that setting. OpenTelemetry's other variables (headers, sampling, service name) apply too. Returns a function
 * that sends the rest and ends it.
 */
export async function startTraces({
  config,
  db,
  log,
}: Pick<Platform, 'config' | 'db' | 'log'>): Promise<(() => Promise<void>) | undefined> {
  if (config.tracesEndpoint === undefined) return undefined;
  // loaded on demand
  const [api, sdk, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const warn = (message: string) => log.warn({ detail: message.slice(0, 500) }, 'traces could not be sent');
  const ignore = () => undefined;
  api.diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const service = resources.resourceFromAttributes({
    'service.name': 'payhook',
    'service.version': programVersion(),
  });
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const exporter = new OTLPTraceExporter({ url: `${config.tracesEndpoint}/v1/traces` });
  const provider = new sdk.TracerProvider({
    resource: service.merge(given),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const stopTracing = traceWith(db, tracerWith(api, provider.getTracer('payhook', programVersion())));
  return async () => {
    stopTracing();
    await provider.shutdown();
  };
}

type Api = typeof import('@opentelemetry/api');

function tracerWith(api: Api, tracer: import('@opentelemetry/api').Tracer): Tracer {
  const { CLIENT, INTERNAL, PRODUCER, SERVER } = api.SpanKind;
  const kinds: Readonly<Record<SpanKind, number>> = {
    client: CLIENT,
    internal: INTERNAL,
    producer: PRODUCER,
    server: SERVER,
  };
  return {
    start({ kind, name, parent, attributes = {} }) {
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(api, parent));
      return {
        trace: traceOf(span),
        end(added: Attributes = {}, isFailed = false) {
          span.setAttributes(added);
          if (isFailed) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
  };
}

function contextOf({ ROOT_CONTEXT, trace, createTraceState }: Api, context: TraceContext | null): Context {
  if (context === null) return ROOT_CONTEXT;
  const { parent, state } = context;
  const [, traceId = '', spanId = '', flags = ''] = parent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(state === null ? {} : { traceState: createTraceState(state) }),
  });
}

function traceOf(span: OtelSpan): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { parent: `00-${traceId}-${spanId}-${flags}`, state: traceState?.serialize() || null };
}
