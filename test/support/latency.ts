import { connect, createServer, type Socket } from 'node:net';

export interface LatencyProxy {
  readonly port: number;
  /** Milliseconds each message to PostgreSQL waits; may be changed while it runs. */
  latencyMs: number;
  /**
   * Called with each message to PostgreSQL and its connection before the message is forwarded; its result is awaited.
   */
  before: ((message: Buffer, connection: object) => Promise<void> | undefined) | undefined;
  /** While true, new connections are closed at once: PostgreSQL is unreachable. */
  refusing: boolean;
  /** Number of refused connections. */
  refusals: number;
  /** While true, nothing is forwarded and nothing is closed, as behind a firewall that drops all packets. */
  silent: boolean;
  /** Silences the open connections from now on; new ones work. */
  silence(): void;
  /** While true, messages reach PostgreSQL and its responses are dropped, until the next cut. */
  deaf: boolean;
  /** Cuts all connections, as a failing network would. */
  cut(): void;
  /** Behaves as at the start: cuts the connections that were silenced, and forwards again. */
  restore(): void;
  close(): Promise<void>;
}

/**
 * A TCP proxy in front of PostgreSQL that delays its input: without latency two requests rarely overlap and a race test
 * proves nothing.
 */
export async function latencyProxy(
  target: { host: string; port: number },
  latencyMs: number,
): Promise<LatencyProxy> {
  const sockets = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  const upstream = () =>
    target.host.startsWith('/')
      ? connect(`${target.host}/.s.PGSQL.${target.port}`)
      : connect(target.port, target.host);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (proxy.refusing) {
      proxy.refusals += 1;
      return void client.destroy();
    }
    const backend = upstream();
    let line = Promise.resolve();
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    const isSilent = () => proxy.silent || silenced.has(client);
    client.on('end', () => {
      if (!isSilent()) client.end();
    });
    client.on('data', (chunk) => {
      if (isSilent()) return;
      const due = performance.now() + proxy.latencyMs;
      line = line.then(async () => {
        const rest = due - performance.now();
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
        await proxy.before?.(chunk, client);
        if (backend.writable) backend.write(chunk);
      });
    });
    backend.on('data', (chunk) => {
      if (proxy.deaf || isSilent() || client.write(chunk)) return;
      backend.pause();
      client.once('drain', () => backend.resume());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    proxy.deaf = false;
    for (const socket of sockets) socket.destroy();
  };
  const proxy: LatencyProxy = {
    port: (server.address() as { port: number }).port,
    latencyMs,
    before: undefined,
    refusing: false,
    deaf: false,
    refusals: 0,
    silent: false,
    silence() {
      for (const socket of sockets) silenced.add(socket);
    },
    cut,
    restore() {
      if (proxy.silent || proxy.deaf) cut();
      for (const socket of sockets) if (silenced.has(socket)) socket.destroy();
      Object.assign(proxy, { latencyMs, before: undefined, refusing: false, refusals: 0, silent: false });
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
