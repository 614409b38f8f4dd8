import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { putDataFolder } from '../support/data-folder.ts';
import { isLong, rounds } from '../support/depth.ts';
import {
  type Block,
  blocksOf,
  freePorts,
  isAsShown,
  newcomer,
  QUICK_NPX,
  type Running,
  startShell,
  typeBlocks,
} from './support.ts';

// The package of `npm pack`, installed in an empty folder: it must contain all that runs, and no development files.
const SECTION = 'The first payout';
// readme.test.ts types the whole section, with the same program and examples: a short run types how it begins
const BLOCKS = blocksOf('README.md')
  .filter(({ heading }) => heading === SECTION)
  .slice(0, rounds(2, 100));

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const { scripts } = json(join(ROOT, 'package.json'));

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
  execFileSync('sh', ['-c', scripts.prepack], options);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [made] = JSON.parse(execFileSync('npm', pack, options)) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = made.files;
  install(join(folder, made.filename));
  cpSync(join(folder, 'node_modules/payhook/examples'), join(folder, 'examples'), { recursive: true });
  port = (await freePorts([8080])).get(8080);
  // readme.test.ts starts a server without data
  if (!isLong) await putDataFolder(join(folder, 'data'));
});

/** Installs the file of the package. A short run links the packages that npm would install with it to those of this repository. */
function install(file: string): void {
  if (isLong) {
    const args = ['install', '--no-audit', '--no-fund', '--silent', file];
    execFileSync('npm', args, { cwd: folder, env: newcomer({}) });
    return;
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'payhook'), { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', join(modules, 'payhook'), '--strip-components=1']);
  const { packages } = json(join(ROOT, 'package-lock.json'));
  for (const [path, { dev, link }] of Object.entries<{ dev?: true; link?: true }>(packages)) {
    const isNeeded = !dev && !link && /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path);
    if (!isNeeded || !existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  mkdirSync(join(modules, '.bin'));
  for (const [name, path] of Object.entries<string>(json(join(modules, 'payhook/package.json')).bin))
    symlinkSync(join('../payhook', path), join(modules, '.bin', name));
}

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
  const migrations = packed.flatMap(({ path }) => (path.startsWith('migrations/') ? [path.slice(11)] : []));
  expect(migrations.toSorted()).toEqual(readdirSync(join(ROOT, 'migrations')).toSorted());
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

test(`"${SECTION}" of the README works with it as written`, async () => {
  const env = newcomer({ PORT: String(port) });
  server = startShell('exec npx payhook serve', folder, env);
  await server.until(/Ctrl-C stops it/);
  const [first, ...rest] = BLOCKS as [Block, ...Block[]];
  const quick = { ...first, commands: QUICK_NPX + first.commands };
  const typed = await typeBlocks(isLong ? BLOCKS : [quick, ...rest], folder, newcomer({}));
  expect(BLOCKS.length).toBeGreaterThan(rounds(1, 3));
  for (const [index, { output: shown }] of BLOCKS.entries()) {
    const { output, code } = typed[index] ?? { output: '', code: -1 };
    expect(code, output).toBe(0);
    if (shown !== undefined && !isAsShown(output, shown)) expect(output).toBe(shown);
  }
});
