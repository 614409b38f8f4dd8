import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { certificateFor } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/wire.ts';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const SECRET = 'phl_a-secret-of-a-link';

const shipped = readFileSync(join(ROOT, 'operations/compose/nginx.conf'), 'utf8');
const guide = readFileSync(join(ROOT, 'docs/production.md'), 'utf8');
const described =
  [...guide.matchAll(/```nginx\n([\s\S]*?)```/g)]
    .map(([, text = '']) => text)
    .find((text) => text.includes('listen 443')) ?? '';

/** Requests a path and returns the status, whatever the certificate. */
const ask = (port: number, path: string, referer?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = referer === undefined ? {} : { referer };
    get({ port, path, headers, rejectUnauthorized: false, host: '127.0.0.1' }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });

describe.skipIf(!hasNginx)('the logs of nginx (needs nginx)', () => {
  test.each([
    ['as it ships with compose', shipped],
    ['as docs/production.md has it', described],
  ])('%s, have no secret of a link, also when a request fails', async (_, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'payhook-nginx-'));
    const port = await freePort();
    const closed = await freePort();
    const { key, cert } = certificateFor('pay.example.com');
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'tls.crt'), cert);
    const server = text
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace(/(ssl_certificate\s+)\S+;/, `$1${folder}/tls.crt;`)
      .replace(/(ssl_certificate_key\s+)\S+;/, `$1${folder}/tls.key;`)
      .replace(/access_log \S+/, `access_log ${folder}/access.log`)
      .replaceAll(/http:\/\/(payhook|127\.0\.0\.1):8080/g, `http://127.0.0.1:${closed}`);
    const conf = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp {\n${server}\n}\n`;
    writeFileSync(join(folder, 'nginx.conf'), conf);
    const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
      stdio: 'ignore',
    });
    try {
      await until('nginx listens', () => ask(port, '/').catch(() => null));
      for (const page of ['password', 'set-up']) {
        expect(await ask(port, `/${page}?token=${SECRET}`)).toBe(502);
      }
      expect(await ask(port, `/anything?page=1`)).toBe(502);
      const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
      const written = logs.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
      expect(written).toContain('GET /anything?page=1');
      expect(written).toContain('GET /password" 502');
      expect(written).not.toContain(SECRET);
    } finally {
      nginx.kill('SIGQUIT');
      await once(nginx, 'close');
      rmSync(folder, { recursive: true });
    }
  });
});
