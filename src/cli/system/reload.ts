import { setTimeout as delay } from 'node:timers/promises';
import type { Cli } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { readConfigHere, refuseRemote } from '../command/session.ts';

const POLL_MS = 50;

/** `payhook reload`: returns when all processes were replaced. Throws CommandError with the reason if they were not. */
export async function reload({ terminal }: Cli): Promise<undefined> {
  refuseRemote();
  const config = await readConfigHere(terminal, { needsKey: false });
  const { recordedServer } = await import('../../app/address.ts');
  const server = recordedServer(config);
  if (server === null) {
    throw new CommandError(
      `no server of ${config.dataDir} is running on this machine: payhook serve starts it`,
    );
  }
  const before = server.reloads;
  if (before === undefined) {
    throw new CommandError(
      'the server has one process, which cannot be replaced while it serves: restart it, or set PROCESSES to 2 or more',
    );
  }
  ask(server.pid);
  for (;;) {
    await delay(POLL_MS);
    const now = recordedServer(config);
    if (now?.pid !== server.pid || now.reloads === undefined) {
      throw new CommandError('the server stopped meanwhile');
    }
    const { done, problem } = now.reloads;
    if (done <= before.begun) continue;
    if (problem !== null) throw new CommandError(`the processes were not replaced: ${problem}`);
    terminal.result({ reloaded: true }, () => 'All processes of the server were replaced.\n');
    return;
  }
}

function ask(pid: number): void {
  try {
    process.kill(pid, 'SIGUSR2');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    throw new CommandError('the server belongs to another user: run payhook reload as that user');
  }
}
