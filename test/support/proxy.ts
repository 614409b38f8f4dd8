import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certificate } from './certificate.ts';
import { freePort } from './free-port.ts';
import { until } from './wire.ts';

export type ProxyName = 'tinyproxy' | 'squid';

/** A proxy packaged by Debian that runs on 127.0.0.1. */
export interface RunningProxy {
  /** `http://127.0.0.1:port`, with user and password where it requires them; with TLS `https://localhost:port`. */
  readonly url: string;
  /** Its log so far: tinyproxy logs the target of each CONNECT. */
  log(): string;
  close(): Promise<void>;
}

/** Whether the program is installed. */
export function hasProxy(name: ProxyName): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface ProxySetup {
  /** The `user:password` that tinyproxy requires; '' = none. */
  readonly login?: string;
  /** Makes squid accept connections by TLS only, with this certificate for `localhost`. */
  readonly tls?: Certificate;
}

const CONFIGS: Readonly<Record<ProxyName, (port: number, setup: ProxySetup) => string>> = {
  tinyproxy: (port, { login = '' }) =>
    `Port ${port}\nListen 127.0.0.1\nTimeout 60\nLogLevel Info\n${login && `BasicAuth ${login.replace(':', ' ')}\n`}`,
  squid: (port, { tls }) =>
    `${tls ? 'https_port' : 'http_port'} 127.0.0.1:${port}${tls ? ' tls-cert=proxy.pem' : ''}\nhttp_access allow all\ncache deny all\npid_filename none\naccess_log none\n` +
    // it allocates as many descriptors as the system allows, which may take minutes
    'cache_log /dev/null\npinger_enable off\nmax_filedescriptors 1024\nshutdown_lifetime 0 seconds\n',
};
const COMMANDS: Readonly<Record<ProxyName, (file: string) => string[]>> = {
  tinyproxy: (file) => ['-d', '-c', file],
  squid: (file) => ['-N', '-f', file],
};

/** Starts one. */
export async function startProxy(name: ProxyName, setup: ProxySetup = {}): Promise<RunningProxy> {
  const { login = '', tls } = setup;
  const folder = mkdtempSync(join(tmpdir(), 'payhook-proxy-'));
  chmodSync(folder, 0o755);
  const file = join(folder, 'proxy.conf');
  const port = await freePort();
  writeFileSync(file, CONFIGS[name](port, setup));
  if (tls) writeFileSync(join(folder, 'proxy.pem'), tls.key + tls.cert);
  const child = spawn(name, COMMANDS[name](file), { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  let noted = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      noted += chunk;
    });
  }
  await until(`${name} to listen`, () => answers(port)).catch((error: Error) => {
    throw new Error(`${error.message}: ${noted}`);
  });
  return {
    url: tls ? `https://localhost:${port}` : `http://${login && `${login}@`}127.0.0.1:${port}`,
    log: () => noted,
    async close() {
      const gone = once(child, 'close');
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
