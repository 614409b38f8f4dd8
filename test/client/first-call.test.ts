import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { longRun } from '../support/depth.ts';
import { hasGo, withoutGo } from '../support/go.ts';
import { python, withoutPython } from '../support/python.ts';
import { useWorld } from '../support/world.ts';
import { makeConsumer } from './consumer.ts';

// The first call of each language: the commands at the top of each example, as typed in a checkout with the first key of a server.
const PATIENCE_MS = 300_000;
const world = useWorld();
const checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
beforeAll(async () => {
  for (const folder of ['package.json', 'packages/python', 'packages/go', 'examples'])
    cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'data'));
  writeFileSync(join(checkout, 'data/first-api-key'), `${world.api.key}\n`);
  await world.api.post('/v2/affiliates', { email: 'ada@example.com' });
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

/** The commands in the first comment of an example. */
function commandsOf(example: string): string {
  const [comment = ''] = readFileSync(join(ROOT, example), 'utf8').split(/^"""$|^import |^package /m);
  const lines = [...comment.matchAll(/^(?:\/\/)?(?: {4,}|\t)(.+)$/gm)].map(([, line = '']) => line);
  expect(lines.length).toBeGreaterThan(0);
  return lines.join('\n');
}

/** Runs commands in the checkout; returns what they printed. */
async function typed(commands: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { ...process.env, PAYHOOK_URL: world.url, ...environment };
  return (await promisify(execFile)('sh', ['-ec', commands], { cwd: checkout, env })).stdout;
}

const PRINTED = /^Default pays in usd\n\d+ ada@example\.com\n$/;

test('TypeScript: the example prints the account and its affiliates, and has strict types', {
  timeout: PATIENCE_MS,
}, async () => {
  const example = 'examples/typescript/first-call.ts';
  expect(await typed(commandsOf(example))).toMatch(PRINTED);
  const code = readFileSync(join(ROOT, example), 'utf8');
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  const consumer = await makeConsumer([['first-call.ts', code]], compilerOptions);
  try {
    expect(consumer.compile()).toBe('');
  } finally {
    consumer.remove();
  }
});

longRun.test.skipIf(!hasGo)(
  `Go: the example prints the account and its affiliates${withoutGo}`,
  { timeout: PATIENCE_MS },
  async () => {
    expect(await typed(commandsOf('examples/go/main.go'), { GOPROXY: 'off' })).toMatch(PRINTED);
  },
);

const withoutPip = process.env.TEST_LONG ? withoutPython : ' (skipped: pip downloads packages; TEST_LONG=1)';

test.skipIf(!python || withoutPip !== '')(
  `Python: the package installs, and the example prints the account and its affiliates${withoutPip}`,
  { timeout: PATIENCE_MS },
  async () => {
    const environment = join(checkout, 'venv');
    expect(spawnSync(python ?? '', ['-m', 'venv', environment]).status).toBe(0);
    const PATH = `${join(environment, 'bin')}:${process.env.PATH}`;
    const printed = await typed(commandsOf('examples/python/first_call.py'), { PATH, PIP_QUIET: '1' });
    expect(printed).toMatch(PRINTED);
  },
);
