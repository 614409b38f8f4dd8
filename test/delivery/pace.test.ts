import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { holdResponses, onStage, type Stage } from './support.ts';

/** More than the number of unwritten results from which on a process counts as busy. */
const ENDPOINTS = 24;
/** An event waits longer than this before it is sent, because the answer of PostgreSQL takes that long. */
const LATENCY = { databaseLatencyMs: 20 };
const LONGEST_MS = 100;

/** Counts the answers that are delayed while `work` runs, by how many milliseconds. */
async function delaysDuring(work: (delays: readonly number[]) => Promise<void>): Promise<readonly number[]> {
  const delays: number[] = [];
  const note = (message: unknown) => void delays.push((message as { count: number }).count);
  subscribe('payhook.delayed', note);
  try {
    await work(delays);
  } finally {
    unsubscribe('payhook.delayed', note);
  }
  return delays;
}

async function untilNothingWaits({ world }: Stage, events: readonly string[]): Promise<void> {
  await expect.poll(() => world.query('select from queue'), { timeout: 60_000 }).toEqual([]);
  const [row] = await world.query<{ delivered: number }>(
    `select count(*)::int as delivered from deliveries where status = 'delivered'`,
  );
  expect(row?.delivered).toBe(events.length * ENDPOINTS);
}

test('answers to publishes are delayed while earlier events wait to be sent, each by 100 ms at most, and all end', () =>
  onStage({ ...LATENCY, own: true }, async (stage) => {
    const receiver = await stage.receiver();
    for (let n = 0; n < ENDPOINTS; n += 1) await stage.endpoint(`${receiver.url}/${n}`);
    const events: string[] = [];
    const { latency } = stage.world;
    if (!latency) throw new Error('the world has latency');
    // results wait to be written, so the process counts as busy
    latency.before = (message) => (message.includes('settle\0') ? delay(300) : undefined);
    const delays = await delaysDuring(async (seen) => {
      while (seen.length === 0) events.push(...(await stage.publishMany(8)));
    });
    latency.before = undefined;
    expect(Math.max(...delays)).toBeLessThanOrEqual(LONGEST_MS);
    expect(Math.min(...delays)).toBeGreaterThan(0);
    await untilNothingWaits(stage, events);
  }));

test('no answer is delayed while receivers hold all requests', () =>
  onStage({ ...LATENCY, own: true }, async (stage) => {
    const receiver = await stage.receiver();
    const hold = holdResponses(receiver);
    for (let n = 0; n < ENDPOINTS; n += 1) await stage.endpoint(`${receiver.url}/${n}`);
    const events: string[] = [];
    const delays = await delaysDuring(async () => {
      events.push(...(await stage.publishMany(4)));
      await hold.until(ENDPOINTS);
      for (let round = 0; round < 2; round += 1) events.push(...(await stage.publishMany(8)));
    });
    expect(delays).toEqual([]);
    hold.release();
    await untilNothingWaits(stage, events);
  }));
