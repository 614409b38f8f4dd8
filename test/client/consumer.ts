import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../cli/support.ts';
import { plainEnvironment } from '../support/environment.ts';
import { onceInRun } from '../support/once-in-run.ts';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Someone else's project with the client package installed from the output of `npm pack`. */
export interface Consumer {
  readonly folder: string;
  /** Compiles its programs; returns the output of the compiler. */
  compile(): string;
  /** Starts a compiled program. */
  start(program: string, args: readonly string[], env: Environment): ChildProcess;
  /** Runs a compiled program to its end. */
  run(program: string, args: readonly string[], env: Environment): Promise<Ran>;
  remove(): void;
}

/** What `npm install` of the package's file does, as it has no dependencies: a folder with the content of the file, and the file. */
async function install(folder: string): Promise<void> {
  const packed = await onceInRun('client-package', async (made) => {
    const options = { cwd: ROOT, encoding: 'utf8' } as const;
    const pack = ['pack', '--workspace', 'payhook-client', '--ignore-scripts', '--silent'];
    const file = execFileSync('npm', [...pack, '--pack-destination', made], options).trim();
    execFileSync('tar', ['-xzf', join(made, file), '-C', made, '--strip-components=1'], options);
  });
  cpSync(packed, folder, { recursive: true });
}

/** Creates a project of these programs, file name to code. */
export async function makeConsumer(
  programs: Iterable<readonly [string, string]>,
  compilerOptions: object,
): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-consumer-'));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  await install(join(folder, 'node_modules/payhook-client'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  write('package.json', '{"type": "module"}');
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { ...compilerOptions, outDir: 'out' }, include: ['*.ts', '*.cts'] }),
  );
  for (const [name, code] of programs) write(name, code);
  const start: Consumer['start'] = (program, args, env) =>
    spawn(process.execPath, [join('out', program.replace(/ts$/, 'js')), ...args], {
      cwd: folder,
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    folder,
    start,
    compile() {
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
    },
    async run(program, args, env) {
      const child = start(program, args, env);
      const output = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name]?.setEncoding('utf8').on('data', (text: string) => {
          output[name] += text;
        });
      }
      const [code] = await once(child, 'close');
      return { code, ...output };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
