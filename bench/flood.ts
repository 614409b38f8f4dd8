import { load, loadAtRate } from './load.ts';
import { duration, type Group, interleaved, median } from './measure.ts';
import { startBench } from './program.ts';

const FLOOD_CONNECTIONS = 100;
const WRITES_A_SECOND = 10;
const GOAL = 2;
const FORM = new URLSearchParams({ email: 'nobody@example.com', password: 'wrong and wrong' }).toString();

/** How long writes take during a flood of sign-ins, and during one of requests that need no database. */
export const flood: Group = {
  name: 'flood',
  area: `A write during an anonymous flood of ${FLOOD_CONNECTIONS} connections`,
  async *run({ dearRounds, latencySeconds: seconds }, note) {
    const bench = await startBench();
    let written = 0;
    const writing = {
      path: '/v2/affiliates/programs',
      headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
      body: () => {
        written += 1;
        return `{"name":"program ${written}"}`;
      },
    };
    const write = async () => {
      const burst = { perSecond: WRITES_A_SECOND, seconds, connections: WRITES_A_SECOND };
      return (await loadAtRate(bench.url, writing, burst)).answer;
    };
    const during = async (text: string, request: Parameters<typeof load>[1]) => {
      note(text);
      const flooding = load(bench.url, request, { connections: FLOOD_CONNECTIONS, seconds });
      const answer = await write();
      await flooding;
      return answer;
    };
    await write();
    const samples = await interleaved(dearRounds + 1, {
      quiet: write,
      health: () => during('during /healthz', { path: '/healthz', headers: {} }),
      signIn: () =>
        during('during sign-ins', {
          path: '/sign-in',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: () => FORM,
          takesRefusals: true,
        }),
    });
    await bench.stop();
    const [quiet, health, signIn] = [samples.quiet, samples.health, samples.signIn].map(median) as [
      number,
      number,
      number,
    ];
    yield {
      measure: 'a write during sign-ins, median',
      figure: duration(signIn),
      against: `during GET /healthz ${duration(health)}; alone ${duration(quiet)}`,
      ratio: signIn / health,
      goal: `≤ ${GOAL} ×`,
      met: signIn / health <= GOAL,
      samples,
    };
  },
};
