import { setTimeout as delay } from 'node:timers/promises';
import { makeEndpoint, publishAtRate, waitsAt } from './latency.ts';
import { type Group, median, noGoal, type Result, alone as withoutOther } from './measure.ts';
import { startProfile, timeOfSteps } from './profile.ts';
import { freePort, postgresSeconds, processorSeconds, startBench } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';

const RATE = 100;
const TYPE = 'alone.happened';
/** Microseconds for an event, of the server and of PostgreSQL. */
const GOAL = 600;

/** The steps of an event, by the files they are in; the first that fits counts. */
const STEPS: readonly (readonly [string, RegExp])[] = [
  ['waiting', /^\(idle\)$/],
  ['garbage collection', /^\(garbage collector\)$/],
  ['system calls and start of tasks', /^\(program\)$/],
  ['authentication', /src\/(people|oauth|access)\/|src\/http\/(auth|admission|capacity|rate-limits)/],
  ['validation', /src\/http\/(check|query|openapi|json-body)|ajv|typebox|src\/contract\//],
  [
    'publish',
    /src\/webhooks\/(events|filters|types|forms)\/|src\/outbox\/(queue|keys|subscriptions|searches|event-types)/,
  ],
  [
    'hand-over',
    /src\/outbox\/|src\/webhooks\/engine\/(worker|pump|claim|leas|gather|idle|wake|position|registry)/,
  ],
  ['settle', /src\/webhooks\/engine\/(settle|write|outcome|schedule|notes)/],
  [
    'request out',
    /src\/webhooks\/(engine|signing|egress|endpoints)\/|node_modules\/undici\/|_http_client|^node:(dns|tls)/,
  ],
  ['statements', /src\/db\/|node_modules\/pg/],
  [
    'HTTP in and answer',
    /src\/http\/|fastify|find-my-way|avvio|light-my-request|^node:_http|^node:internal\/http/,
  ],
  ['sockets and timers', /^node:/],
];

const stepOf = (source: string) => STEPS.find(([, pattern]) => pattern.test(source))?.[0] ?? null;

/** The processor time of an event that comes alone, by step. The profiler adds to the steps, not to the totals. */
export const alone: Group = {
  name: 'alone',
  area: `An event alone: ${RATE} a second, one endpoint`,
  async *run({ latencySeconds: seconds, dearRounds }, note) {
    const port = await freePort();
    const bench = await startBench({ ...LOOPBACK, NODE_OPTIONS: `--inspect=127.0.0.1:${port}` });
    const sink = await startReceiver();
    await makeEndpoint(bench, `${sink.url}/alone`, TYPE);
    const run = async (time: number) => {
      await sink.reset();
      await publishAtRate(bench, [TYPE], RATE, time);
      while ((await waitsAt(sink, '/alone')).length < RATE * time) await delay(20);
    };
    note('warming up');
    await run(3);
    const server: number[] = [];
    const postgres: number[] = [];
    for (let round = 0; round < dearRounds; round += 1) {
      note('without the profiler');
      const before = [processorSeconds(bench.pid), postgresSeconds(bench.dataDir)] as const;
      await run(seconds);
      const micros = (from: number, to: number) => ((to - from) * 1e6) / (RATE * seconds);
      server.push(micros(before[0], processorSeconds(bench.pid)));
      postgres.push(micros(before[1], postgresSeconds(bench.dataDir)));
    }
    for (const [measure, samples] of [
      ['server', server],
      ['PostgreSQL', postgres],
    ] as const) {
      yield total(measure, samples);
    }
    note('with the profiler');
    const stop = await startProfile(port);
    await run(seconds);
    const times = timeOfSteps(await stop(), stepOf);
    for (const [step, micros] of [...times].toSorted((a, b) => b[1] - a[1])) {
      if (step === 'waiting') continue;
      const each = micros / (RATE * seconds);
      yield { measure: step, figure: shown(each), ...withoutOther, ...noGoal, samples: { each: [each] } };
    }
    await bench.stop();
  },
};

const shown = (micros: number) => `${micros.toFixed(0)} µs`;

function total(measure: string, samples: readonly number[]): Result {
  const figure = median(samples);
  return {
    measure: `${measure}, processor time of an event`,
    figure: shown(figure),
    ...withoutOther,
    goal: `≤ ${GOAL} µs`,
    met: figure <= GOAL,
    samples: { each: samples },
  };
}
