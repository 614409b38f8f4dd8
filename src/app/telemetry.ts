import { startMetrics } from './metrics.ts';
import type { Platform } from './platform.ts';
import { startTraces } from './traces.ts';

/** What a process tells of itself to other programs. */
export interface Telemetry {
  /** Where its metrics are, for example http://127.0.0.1:9090/metrics; null = nowhere. */
  readonly metricsAddress: string | null;
  /** Sends the last traces, and ends it. */
  close(): Promise<void>;
}

/** Starts the metrics and traces that the settings ask for. Throws what `listen` throws. */
export async function startTelemetry(platform: Platform): Promise<Telemetry> {
  const metrics = await startMetrics(platform);
  const endTraces = await startTraces(platform);
  return {
    metricsAddress: metrics?.address ?? null,
    async close() {
      await Promise.all([metrics?.close(), endTraces?.()]);
    },
  };
}
