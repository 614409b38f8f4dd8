import { type ServeMetrics, startMetrics } from './metrics.ts';
import type { Platform } from './platform.ts';
import { startTraces } from './traces.ts';

/** The metrics and traces of a process. */
export interface Telemetry {
  /** The address of its metrics, for example http://127.0.0.1:9090/metrics; null = not served. */
  readonly metricsAddress: string | null;
  /** Sends the last traces and ends the telemetry. */
  close(): Promise<void>;
}

/** Starts the metrics and traces that the settings enable. Throws what `listen` throws. */
export async function startTelemetry(platform: Platform, serveMetrics?: ServeMetrics): Promise<Telemetry> {
  const metrics = await startMetrics(platform, serveMetrics);
  const endTraces = await startTraces(platform);
  return {
    metricsAddress: metrics?.address ?? null,
    async close() {
      await Promise.all([metrics?.close(), endTraces?.()]);
    },
  };
}
