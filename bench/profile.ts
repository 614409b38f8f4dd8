import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { request, WebSocket } from 'undici';

/** A frame of a profile, with those that it called (https://chromedevtools.github.io/devtools-protocol/v8/Profiler). */
interface Frame {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly Frame[];
  readonly samples: readonly number[];
  /** Microseconds between the samples. */
  readonly timeDeltas: readonly number[];
}

/** How often the profiler looks, in microseconds. */
const INTERVAL = 200;

/** Starts to sample a process that listens for an inspector at the port. Returns the function that ends it with the profile. */
export async function startProfile(port: number): Promise<() => Promise<Profile>> {
  const { body } = await request(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await body.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const answers = new Map<number, (result: { profile: Profile }) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data) as { id: number; result: { profile: Profile } };
    answers.get(id)?.(result);
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const ask = (method: string, params = {}) =>
    new Promise<{ profile: Profile }>((resolve) => {
      const id = answers.size + 1;
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask('Profiler.enable');
  await ask('Profiler.setSamplingInterval', { interval: INTERVAL });
  await ask('Profiler.start');
  return async () => {
    const { profile } = await ask('Profiler.stop');
    socket.close();
    return profile;
  };
}

/** The file that a frame comes from: of the source, as its map says, else the URL itself. */
function sourceFinder(): (frame: Frame['callFrame']) => string {
  const maps = new Map<string, SourceMap | null>();
  const mapOf = (url: string) => {
    if (!maps.has(url)) {
      const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
      const map = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
      maps.set(url, map && new SourceMap(map));
    }
    return maps.get(url);
  };
  return ({ url, lineNumber, columnNumber }) => {
    const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
    return entry && 'originalSource' in entry ? String(entry.originalSource) : url;
  };
}

/**
 * The processor time of each step in microseconds: a sample counts for the first frame, from the innermost one outwards, whose
 * source file or function name (`(garbage collector)`) has a step.
 */
export function timeOfSteps(
  { nodes, samples, timeDeltas }: Profile,
  stepOf: (source: string) => string | null,
): Map<string, number> {
  const sourceOf = sourceFinder();
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map((frame) => [frame.id, frame.callFrame]));
  const steps = new Map<number, string>();
  const find = (id: number | undefined): string => {
    if (id === undefined) return 'the rest';
    const known = steps.get(id);
    if (known !== undefined) return known;
    const frame = frames.get(id) as Frame['callFrame'];
    const step = stepOf(sourceOf(frame)) ?? stepOf(frame.functionName) ?? find(parents.get(id));
    steps.set(id, step);
    return step;
  };
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const step = find(id);
    // the delta of the next sample is the time of this one
    times.set(step, (times.get(step) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  return times;
}
