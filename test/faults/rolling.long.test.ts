import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/wire.ts';
import { dataFolder, listens } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const ROUNDS = 10;
const CALLERS = 6;

/** nginx in front of servers on these ports, configured as in docs/scaling.md. */
async function startNginx(ports: readonly number[]) {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-nginx-'));
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const configure = (down?: number) =>
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid nginx.pid; error_log stderr error;
     events {}
     http {
       access_log off;
       ${paths.map((name) => `${name}_temp_path ${name};`).join(' ')}
       upstream payhook {
         ${ports.map((each) => `server 127.0.0.1:${each} ${each === down ? 'down' : ''};`).join(' ')}
         keepalive 16;
       }
       server {
         listen 127.0.0.1:${port};
         location / { proxy_pass http://payhook; proxy_http_version 1.1; proxy_set_header Connection ""; }
       }
     }`,
    );
  configure();
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await until('nginx listens', () => listens(url));
  return {
    url,
    /** Marks the server on this port as down, or none, and reloads: requests in progress are finished. */
    take(down?: number) {
      configure(down);
      child.kill('SIGHUP');
    },
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test.skipIf(!hasNginx)(
  'two servers behind nginx are restarted one after the other, and no request fails (needs nginx)',
  async () => {
    const database = await sharedDatabase();
    const folder = dataFolder({ database, settings: { SHUTDOWN_DELAY_MS: '1500' } });
    const ports = [await freePort(), await freePort()];
    const nginx = await startNginx(ports);
    try {
      const start = (port: number) => folder.start({ PORT: String(port) });
      const servers = await Promise.all(ports.map(start));
      const headers = {
        authorization: `Bearer ${database.apiKey}`,
        'content-type': 'application/json',
        connection: 'close', // a reload ends the connections of callers when they are idle
      };
      const body = JSON.stringify({ type: 'order.created', data: {} });
      const ask = (method: string, path: string) =>
        fetch(nginx.url + path, { method, headers, ...(method === 'POST' ? { body } : {}) }).then(
          async (response) => ({ status: response.status, text: await response.text() }),
          (error: Error) => ({ status: 0, text: error.message }),
        );
      const failures: string[] = [];
      let published = 0;
      let isOver = false;
      const call = async () => {
        while (!isOver) {
          const { status, text } = await ask('POST', '/v2/events');
          if (status === 201) published += 1;
          else failures.push(`POST ${status} ${text}`);
          const read = await ask('GET', '/v2/me');
          if (read.status !== 200) failures.push(`GET ${read.status} ${read.text}`);
        }
      };
      const callers = Array.from({ length: CALLERS }, call);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, port] of ports.entries()) {
          const before = published;
          nginx.take(port);
          expect((await servers[index]?.signal('SIGTERM'))?.code).toBe(0);
          servers[index] = await start(port);
          nginx.take();
          expect(published, 'the other server answered meanwhile').toBeGreaterThan(before);
        }
      }
      isOver = true;
      await Promise.all(callers);
      expect(failures).toEqual([]);
      const stored = await folder.query<{ n: string }>('select count(*) as n from events');
      expect(Number(stored[0]?.n)).toBe(published);
    } finally {
      await folder.remove();
      await nginx.close();
      await database.drop();
    }
  },
);
