import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readArchive } from '../../src/app/backup/archive.ts';
import { decompressor } from '../../src/app/backup/compression.ts';
import { saveBackup } from '../../src/app/backup/save.ts';
import type { World } from '../support/world.ts';

/** Everything a server sends to a trace collector, as JSON. */
export interface Collector {
  readonly url: string;
  readonly received: string[];
  close(): void;
}

/** Starts a collector for OTLP over HTTP. Close it after the server. */
export async function startCollector(): Promise<Collector> {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    received.push((await buffer(request)).toString());
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, close: () => void server.close() };
}

/** The parts of a backup of a world by name, uncompressed. */
export async function backupOf({ db }: World): Promise<Map<string, Buffer>> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-secrets-'));
  try {
    const file = join(folder, 'all.payhook');
    const { manifest } = await saveBackup({ db, target: file, lock: {} });
    const parts = new Map<string, Buffer>();
    await readArchive(file, {}, async (name, content) => {
      const isPart = name.startsWith('tables/');
      parts.set(name, await buffer(isPart ? content.pipe(decompressor(manifest.compression)) : content));
    });
    return parts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
