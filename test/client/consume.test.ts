import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Client, consumeEvents, createClient } from '../../src/client/client.ts';
import { ROOT } from '../cli/support.ts';
import { consumerOf, pullEndpoint } from '../delivery/pull-support.ts';
import { onStage, type Stage } from '../delivery/support.ts';
import { isLong } from '../support/depth.ts';
import { hasGo, runGo, withoutGo } from '../support/go.ts';
import { python, runPython, withoutPython } from '../support/python.ts';

// The loop of the clients over a pull endpoint, with a real server: what is handled is acknowledged, and the rest is not lost.
const PATIENCE_MS = 300_000;
const folder = mkdtempSync(join(tmpdir(), 'consume-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The programs handle three events, of which the second fails, and then end the loop. They print what they were given. */
const PYTHON = `
import os, threading
from payhook import Payhook, consume_events
stop, lock, seen = threading.Event(), threading.Lock(), []
def handle(event, claimed):
    with lock:
        seen.append(event["id"])
        if len(seen) == 3:
            stop.set()
    if event["data"]["number"] == 2:
        raise ValueError("order 2 is unknown")
with Payhook(os.environ["PAYHOOK_URL"], api_key=os.environ["PAYHOOK_API_KEY"]) as payhook:
    consume_events(payhook, os.environ["ENDPOINT"], handle, stop=stop, consumer="three")
print(" ".join(sorted(seen)))
`;
const ASYNC_PYTHON = `
import asyncio, os
from payhook import AsyncPayhook, consume_events_async
seen = []
async def main():
    stop = asyncio.Event()
    async def handle(event, claimed):
        seen.append(event["id"])
        if len(seen) == 3:
            stop.set()
        if event["data"]["number"] == 2:
            raise ValueError("order 2 is unknown")
    async with AsyncPayhook(os.environ["PAYHOOK_URL"], api_key=os.environ["PAYHOOK_API_KEY"]) as payhook:
        await consume_events_async(payhook, os.environ["ENDPOINT"], handle, stop=stop, consumer="three")
asyncio.run(main())
print(" ".join(sorted(seen)))
`;
const GO = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"payhook"
	"slices"
	"strings"
	"sync"
)

func main() {
	client, err := payhook.New(os.Getenv("PAYHOOK_URL"), payhook.Bearer(os.Getenv("PAYHOOK_API_KEY")))
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var mutex sync.Mutex
	var seen []string
	handle := func(ctx context.Context, event *payhook.ReceivedEvent, claimed *payhook.ClaimedEvent) error {
		mutex.Lock()
		defer mutex.Unlock()
		seen = append(seen, event.ID)
		if len(seen) == 3 {
			stop()
		}
		var order struct{ Number int }
		if err := event.Decode(&order); err != nil || order.Number == 2 {
			return errors.Join(errors.New("order 2 is unknown"), err)
		}
		return ctx.Err()
	}
	if err := client.ConsumeEvents(ctx, os.Getenv("ENDPOINT"), handle, payhook.ConsumeOptions{Consumer: "three"}); err != nil {
		panic(err)
	}
	slices.Sort(seen)
	fmt.Println(strings.Join(seen, " "))
}
`;

type Environment = Readonly<Record<string, string>>;

async function inTypeScript({ PAYHOOK_URL: url = '', PAYHOOK_API_KEY, ENDPOINT = '' }: Environment) {
  const stop = new AbortController();
  const seen: string[] = [];
  const payhook = createClient({ url, apiKey: PAYHOOK_API_KEY ?? '' });
  const handle = (event: { id: string; data: { number?: number } }) => {
    if (seen.push(event.id) === 3) stop.abort();
    if (event.data.number === 2) throw new Error('order 2 is unknown');
  };
  await consumeEvents(payhook, ENDPOINT, handle, { signal: stop.signal, consumer: 'three' });
  await payhook.close();
  return { code: 0, output: `${seen.toSorted().join(' ')}\n` };
}

function inPython(program: string, environment: Environment) {
  const file = join(folder, `main-${program.length}.py`);
  writeFileSync(file, program);
  return runPython([file], environment);
}

async function inGo(environment: Environment) {
  writeFileSync(join(folder, 'go.mod'), 'module shop\n\ngo 1.24\n');
  writeFileSync(join(folder, 'main.go'), GO);
  const module = `payhook=${join(ROOT, 'packages/go')}`;
  const edit = ['go', 'mod', 'edit', '-require', 'payhook@v0.0.0', '-replace', module];
  expect(await runGo(edit, folder)).toEqual({ code: 0, output: '' });
  return runGo(['go', 'run', '.'], folder, environment);
}

const LANGUAGES: readonly [string, boolean, (environment: Environment) => ReturnType<typeof runGo>][] = [
  ['TypeScript', true, inTypeScript],
  [`Python${withoutPython}`, python !== undefined, (environment) => inPython(PYTHON, environment)],
  [`asyncio${withoutPython}`, python !== undefined, (environment) => inPython(ASYNC_PYTHON, environment)],
  [`Go${withoutGo}`, hasGo, inGo],
];

// asyncio repeats the promise of Python in another class
for (const [language, isThere, run] of isLong
  ? LANGUAGES
  : LANGUAGES.filter(([name]) => !name.startsWith('asyncio')))
  test.skipIf(!isThere)(
    `${language}: acknowledges what was handled, also while it stops, and reports what failed`,
    { timeout: PATIENCE_MS },
    () =>
      onStage({ settings: { DELIVERY_SCHEDULE: '0s' } }, async (stage) => {
        const endpoint = await pullEndpoint(stage);
        const { key } = await consumerOf(stage.api, endpoint);
        const events: string[] = [];
        for (const number of [1, 2, 3]) {
          const fields = { type: 'order.created', data: { number } };
          events.push((await stage.api.post('/v2/events', fields)).body.id);
        }
        const ran = await run({ PAYHOOK_URL: stage.api.url, PAYHOOK_API_KEY: key, ENDPOINT: endpoint.id });
        expect(ran).toEqual({ code: 0, output: `${events.toSorted().join(' ')}\n` });
        for (const [index, status] of ['delivered', 'failed', 'delivered'].entries()) {
          const { attempts, ...log } = await stage.log(endpoint, events[index] ?? '');
          expect(log).toMatchObject({ status, attempt_count: 1 });
          const message = status === 'failed' ? expect.stringContaining('order 2 is unknown') : null;
          expect(attempts[0]).toMatchObject({ error_message: message, claim: { consumer: 'three' } });
        }
      }),
  );

/** A client with the token of an endpoint; `extendedTwice` ends when the server has extended two leases. */
async function clientOf(stage: Stage, endpoint: Awaited<ReturnType<typeof pullEndpoint>>) {
  const { key } = await consumerOf(stage.api, endpoint);
  let count = 0;
  let extended = () => {};
  const extendedTwice = new Promise<void>((resolve) => {
    extended = resolve;
  });
  const onResponse = ({ path, status }: { path: string; status: number | null }) => {
    if (status === 200 && path.endsWith('/extensions') && ++count === 2) extended();
  };
  return { extendedTwice, payhook: createClient({ url: stage.api.url, apiKey: key, onResponse }) };
}

async function closing(payhook: Client, work: () => Promise<void>): Promise<void> {
  await work();
  await payhook.close();
}

test('extends the lease of an event while its handler works', () =>
  onStage({}, async (stage) => {
    const endpoint = await pullEndpoint(stage);
    const { extendedTwice, payhook } = await clientOf(stage, endpoint);
    const stop = new AbortController();
    const event = await stage.publish();
    const handle = async () => {
      // two extensions later the first lease has ended
      await extendedTwice;
      stop.abort();
    };
    await closing(payhook, () =>
      consumeEvents(payhook, endpoint.id, handle, { signal: stop.signal, leaseSeconds: 1 }),
    );
    expect(await stage.log(endpoint, event)).toMatchObject({ status: 'delivered', attempt_count: 1 });
  }));

test('waits while the server is away or stops, and ends when the API refuses', () =>
  onStage({}, async (stage) => {
    const endpoint = await pullEndpoint(stage);
    const { payhook } = await clientOf(stage, endpoint);
    const stopping = await stage.receiver();
    stopping.respond((_, response) => {
      const headers = { 'content-type': 'application/json', 'payhook-reason': 'shutting_down' };
      response
        .writeHead(500, headers)
        .end('{"error":{"code":"internal_error","message":"the server is stopping"}}');
    });
    for (const [url, expected] of [
      ['http://127.0.0.1:9', { name: 'ConnectionError' }],
      [new URL(stopping.url).origin, { reason: 'shutting_down' }],
    ] as const) {
      const other = createClient({ url, apiKey: 'phw_x' });
      const stop = new AbortController();
      const trouble: unknown[] = [];
      const onTrouble = (error: unknown) => {
        if (trouble.push(error) === 2) stop.abort();
      };
      await closing(other, () =>
        consumeEvents(other, endpoint.id, () => undefined, { signal: stop.signal, onTrouble }),
      );
      expect(trouble).toMatchObject([expected, expected]);
    }
    await stage.change(endpoint, { status: 'disabled' });
    await closing(payhook, async () => {
      const consuming = consumeEvents(payhook, endpoint.id, () => undefined);
      await expect(consuming).rejects.toMatchObject({ name: 'ApiError', reason: 'endpoint_disabled' });
    });
  }));
