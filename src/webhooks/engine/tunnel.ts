import { request as httpRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { HttpProxy } from '../../kernel/proxies.ts';
import type { Adopt, Dial } from './client.ts';
import { AddressBlocked, failureOf, ProxyFault } from './outcome.ts';

interface Tunnelling {
  readonly proxy: HttpProxy;
  /** Connects to the proxy. */
  readonly dialProxy: Dial;
  /** Returns an allowed address of the target, or an error. */
  readonly addressOf: (hostname: string, done: (error: Error | null, address: string) => void) => void;
  /** Turns a socket that is connected to the target into one for its requests: TLS for https. */
  readonly secure: (target: buildConnector.Options, done: buildConnector.Callback) => Socket;
  /** Milliseconds from the first packet to the proxy until it has connected. */
  readonly limitMs: number;
}

const HEADERS_CAP = 16_384;
// tinyproxy answers 401 to a wrong password
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 407]);

/**
 * Connects through the CONNECT method of a proxy (RFC 9110 section 9.3.6). The target's address is resolved and checked
 * here, and the proxy gets the address instead of the name, so it cannot be led to another one.
 */
export function tunnelConnector({ proxy, dialProxy, addressOf, secure, limitMs }: Tunnelling): Dial {
  return (target, done, adopt) => {
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    addressOf(target.hostname, (error, address) => {
      if (error) return done(error, null);
      const authority = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
      openTunnel({ proxy, dialProxy, authority, limitMs }, adopt, (fault, socket) => {
        if (!socket) return done(fault ?? new ProxyFault('proxy_unreachable'), null);
        if (target.protocol !== 'https:') return done(null, socket);
        const secured = secure({ ...target, httpSocket: socket }, done);
        secured.once('close', () => socket.destroy());
        adopt(secured);
      });
    });
  };
}

function openTunnel(
  {
    proxy,
    dialProxy,
    authority,
    limitMs,
  }: Pick<Tunnelling, 'proxy' | 'dialProxy' | 'limitMs'> & { readonly authority: string },
  adopt: Adopt,
  done: (error: Error | null, socket: Socket | null) => void,
): void {
  let opened: Socket | null = null;
  let isOver = false;
  const end = (error: Error | null, socket: Socket | null) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (error) opened?.destroy();
    done(error, socket);
  };
  const timer = setTimeout(() => end(new ProxyFault('proxy_timeout'), null), limitMs).unref();
  const keep: Adopt = (socket) => {
    opened = socket;
    adopt(socket);
  };
  const { hostname, protocol, port } = proxy;
  // undici does not send a server name unless it is given one
  const servername = isIP(hostname) === 0 ? hostname : '';
  dialProxy(
    { hostname, protocol, port, servername } as buildConnector.Options,
    (error, socket) => {
      if (!socket) return end(unreachable(error ?? new Error('no connection')), null);
      const { authorization } = proxy;
      const request = httpRequest({
        method: 'CONNECT',
        path: authority,
        headers: {
          host: authority,
          ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
        },
        createConnection: () => socket,
        maxHeaderSize: HEADERS_CAP,
      });
      request.once('error', (cause) => end(unreachable(cause), null));
      request.once('connect', ({ statusCode = 0 }, _socket, head) => {
        if (head.length > 0) socket.unshift(head);
        if (statusCode >= 200 && statusCode < 300) end(null, socket);
        else end(refused(statusCode), null);
      });
      request.end();
    },
    keep,
  );
}

const refused = (status: number) =>
  UNAUTHORIZED.has(status)
    ? new ProxyFault('proxy_unauthorized', ` (HTTP ${status})`)
    : new ProxyFault('proxy_refused', ` (HTTP ${status})`);

/** A lack of resources is this machine's failure, everything else the proxy's. */
function unreachable(error: Error): Error {
  if (failureOf(error, false).lack !== undefined) return error;
  if (error instanceof AddressBlocked)
    return new ProxyFault('proxy_unreachable', ': its address is not allowed');
  const { code } = error as NodeJS.ErrnoException;
  return new ProxyFault('proxy_unreachable', code === undefined ? '' : ` (${code})`);
}
