#!/usr/bin/env node
import { reportOf, textOf } from './command/errors.ts';
import { cleanUp } from './terminal/interrupt.ts';

// Newer versions of Node have `navigator`. Without it, pg creates a Response to detect its runtime, for which Node loads fetch: 30 ms
// of the start, and 12 MB.
if (!('navigator' in globalThis)) {
  Object.assign(globalThis, { navigator: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` } });
}

const args = process.argv.slice(2);
const json = args.includes('--json');

const exit = (code: number): never => process.exit(code);
process.on('exit', cleanUp);

/** Shows an error on standard error; returns the exit code. */
function report(thrown: unknown): number {
  const report = reportOf(thrown);
  process.stderr.write(textOf(report, thrown, json));
  return report.exitCode;
}

function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      cleanUp();
      process.stderr.write('payhook: interrupted\n');
      exit(1);
    });
  }
}

async function runCommand(): Promise<number> {
  const { createTerminal } = await import('./terminal/terminal.ts');
  const { buildProgram } = await import('./program.ts');
  let exitCode = 0;
  try {
    const program = await buildProgram({
      terminal: createTerminal(json),
      exit,
      finish: (code) => {
        exitCode = code;
      },
      args,
    });
    // these handle signals themselves
    const stopsItself = new Set(['serve', 'worker', 'listen', 'relay', 'tail', 'status', 'demo']);
    program.hook('preAction', (_, command) => void (stopsItself.has(command.name()) || exitOnSignals()));
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    const { code = '', exitCode: helpCode = 1 } = error as { code?: string; exitCode?: number };
    // Help or the version was requested, or help was shown because a command is missing.
    if (code.startsWith('commander.help') || code === 'commander.version') {
      return helpCode === 0 ? 0 : 2;
    }
    throw error;
  }
}

/** The server starts without the table of commands, because every millisecond before its first response counts. */
async function run(): Promise<number> {
  if (args.length !== 1 || args[0] !== 'serve') return runCommand();
  const { serveForever } = await import('./system/serve.ts');
  return serveForever(exit);
}

// A closed pipe (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  exit(error.code === 'EPIPE' ? 1 : report(error)),
);

// CommonJS has no `await` outside of functions
void run()
  .catch(report)
  .then((code) => process.stdout.write('', () => exit(code)));
