import { createInterface } from 'node:readline';
import { thisHost } from '../../src/db/embedded/host.ts';
import { openEmbeddedOn } from '../../src/db/embedded/open.ts';

/*
 * A process that opens the embedded PostgreSQL, so that a test can kill it. Input: JSON as first argument: the options
 * of openEmbedded and, under `host`, changes to the machine. Output: JSON lines: starting; then opened or failed;
 * closed. Reads the line `close` from its standard input.
 */

const { host, ...options } = JSON.parse(process.argv[2] ?? '{}');

function say(event: string, details: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ event, ...details })}\n`);
}

// Ctrl-C reaches the whole process group; the program continues to drain, and so must PostgreSQL.
process.on('SIGINT', () => say('interrupted'));

say('starting');
try {
  const database = await openEmbeddedOn({ ...thisHost(), ...host }, options);
  say('opened', { launched: database.launched, connection: database.connection });
  for await (const line of createInterface({ input: process.stdin })) if (line === 'close') break;
  await database.close();
  say('closed');
} catch (error) {
  const { name, message } = error as Error;
  say('failed', { name, message });
}
process.stdin.destroy();
