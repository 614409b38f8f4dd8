import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { isLong, rounds } from '../support/depth.ts';
import { blocksOf, freePorts, isAsShown, newcomer, type Running, startShell, typeBlocks } from './support.ts';

// The package of `npm pack`, in an empty folder: it must contain all that runs, and no development files. A long run
// installs it with npm and types every block; a short one unpacks it next to the dependencies of the repository, and types
// the first.
const SECTION = 'The first payout';
const BLOCKS = blocksOf('README.md').filter(({ heading }) => heading === SECTION);
const TYPED = BLOCKS.slice(0, rounds(1, BLOCKS.length));
const NPX = isLong ? '' : 'npx() { PATH=$PWD/bin:$PATH "$@"; }\n';

let folder: string;
let server: Running | undefined;
let port: number | undefined;
let packed: { path: string }[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'payhook package '));
  // packing writes `bin` into package.json: into that of a copy, because other tests use the one of the repository
  const copy = join(folder, 'copy');
  const isOurs = (path: string) => !/\/(node_modules|\.git|test|data|dashboard|src)$/.test(path);
  cpSync(ROOT, copy, { recursive: true, filter: isOurs });
  const options = { cwd: copy, encoding: 'utf8' } as const;
  execFileSync('npm', ['run', 'prepack', '--silent'], options);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [made] = JSON.parse(execFileSync('npm', pack, options)) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = made.files;
  const file = join(folder, made.filename);
  if (isLong) {
    const install = ['install', '--no-audit', '--no-fund', '--silent', file];
    execFileSync('npm', install, { cwd: folder, env: newcomer({}) });
  } else {
    execFileSync('tar', ['-xzf', file, '-C', folder]);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'bin'));
    chmodSync(join(folder, 'package/dist/cli/main.js'), 0o755);
    symlinkSync('../package/dist/cli/main.js', join(folder, 'bin/payhook'));
  }
  const there = join(folder, isLong ? 'node_modules/payhook' : 'package');
  cpSync(join(there, 'examples'), join(folder, 'examples'), { recursive: true });
  port = (await freePorts([8080])).get(8080);
});
afterAll(async () => {
  await server?.interrupt();
  rmSync(folder, { recursive: true, force: true });
});

test('it has the program, its migrations, documentation and examples, and no sources or tests', () => {
  const folders = new Set(packed.map(({ path }) => path.split('/')[0]));
  expect([...folders].filter((name) => !/\.md$/.test(name ?? '')).toSorted()).toEqual(
    ['LICENSE', 'dist', 'docs', 'examples', 'migrations', 'operations', 'package.json'].toSorted(),
  );
  expect(
    packed.filter(({ path }) =>
      /\.test\.|\.tsx?$(?<!\.d\.ts)|\.tsbuildinfo|^docs\/decisions|^dist\/testing/.test(path),
    ),
  ).toEqual([]);
});

test(`"${SECTION}" of the README works as written`, async () => {
  const env = newcomer({ PORT: String(port) });
  server = startShell(isLong ? 'exec npx payhook serve' : 'exec bin/payhook serve', folder, env);
  await server.until(/Ctrl-C stops it/);
  const here = TYPED.map((block) => ({ ...block, commands: NPX + block.commands }));
  const typed = await typeBlocks(here, folder, newcomer({}));
  expect(BLOCKS.length).toBeGreaterThan(3);
  for (const [index, { output: shown }] of TYPED.entries()) {
    const { output, code } = typed[index] ?? { output: '', code: -1 };
    expect(code, output).toBe(0);
    if (shown !== undefined && !isAsShown(output, shown)) expect(output).toBe(shown);
  }
});
