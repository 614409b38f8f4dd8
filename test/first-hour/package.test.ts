import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { blocksOf, freePorts, isAsShown, newcomer, type Running, startShell, typeBlocks } from './support.ts';

// The package of `npm pack`, installed in an empty folder: it must contain all that runs, and no development files.
const SECTION = 'The first payout';
const BLOCKS = blocksOf('README.md').filter(({ heading }) => heading === SECTION);

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
  const file = made.filename;
  const install = ['install', '--no-audit', '--no-fund', '--silent', join(folder, file)];
  execFileSync('npm', install, { cwd: folder, env: newcomer({}) });
  cpSync(join(folder, 'node_modules/payhook/examples'), join(folder, 'examples'), { recursive: true });
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
    packed.filter(({ path }) => /\.test\.|\.tsx?$(?<!\.d\.ts)|\.tsbuildinfo|^dist\/testing/.test(path)),
  ).toEqual([]);
});

test('its documentation has its pictures, and no link in it is broken but those to the sources', () => {
  const paths = new Set(packed.map(({ path }) => path));
  const pages = [...paths].filter((path) => /^(README|docs\/.*)\.md$/.test(path));
  const links = pages.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```.*?^```|`[^`\n]*`/gms, '');
    const found = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)];
    return found.map(([, link, picture]) => ({ page, to: link ?? picture ?? '' }));
  });
  const inside = links.filter(({ to }) => !/^[a-z]+:/.test(to));
  const broken = inside
    .map(({ page, to }) => ({ page, to: join(dirname(page), to) }))
    .filter(({ to }) => !paths.has(to) && ![...paths].some((path) => path.startsWith(`${to}/`)));
  expect(broken.filter(({ to }) => !/^(src|test|dashboard|packages)\/|^CONTRIBUTING\.md$/.test(to))).toEqual(
    [],
  );
  expect(inside.filter(({ to }) => to.endsWith('.webp')).length).toBeGreaterThan(10);
});

test(`"${SECTION}" of the README works as written`, async () => {
  const env = newcomer({ PORT: String(port) });
  server = startShell('exec npx payhook serve', folder, env);
  await server.until(/Ctrl-C stops it/);
  const typed = await typeBlocks(BLOCKS, folder, newcomer({}));
  expect(BLOCKS.length).toBeGreaterThan(3);
  for (const [index, { output: shown }] of BLOCKS.entries()) {
    const { output, code } = typed[index] ?? { output: '', code: -1 };
    expect(code, output).toBe(0);
    if (shown !== undefined && !isAsShown(output, shown)) expect(output).toBe(shown);
  }
});
