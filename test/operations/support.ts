import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { World } from '../support/world.ts';

export const OPERATIONS_FOLDER = fileURLToPath(new URL('../../operations', import.meta.url));

/** Whether promtool is installed, from Debian's prometheus package or elsewhere. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Runs promtool in the folder with the rules; returns its exit code and output. */
export function promtool(args: readonly string[], input?: string): { code: number | null; output: string } {
  const cwd = `${OPERATIONS_FOLDER}/prometheus`;
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' });
  return { code: status, output: `${stdout}${stderr}` };
}

/** The response of a server at /metrics. */
export async function scrape({ metricsUrl }: Pick<World, 'metricsUrl'>): Promise<string> {
  const answer = await fetch(metricsUrl);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.text();
}

/** The values of one series, or of all with this prefix, by their names with labels. */
export function series(text: string, prefix: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(prefix));
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** The value of one series, named with its labels in the order of the program; undefined = it does not exist. */
export const value = (text: string, name: string): number | undefined => series(text, `${name} `)[name];
