import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A client that never closes: it keeps its half of the connection open after the server has ended its own. */
export interface Stubborn {
  readonly socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** Whether the server has released the connection: it ended its half, or reset the connection. */
  isLeft(): boolean;
  /**
   * Waits until the server has destroyed the socket. The server ends its half first; from then on the client sends a
   * byte now and then. A server that still has the socket accepts it; one that has destroyed it answers with a reset.
   */
  freed(): Promise<void>;
}

/** Opens a connection of a client that never closes, from an address of this machine, and sends these bytes. */
export async function openStubborn(url: string, bytes: string, from = '127.0.0.1'): Promise<Stubborn> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), localAddress: from, allowHalfOpen: true });
  let received = '';
  let ended = false;
  socket.on('data', (part) => {
    received += part.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.once('end', () => {
    ended = true;
  });
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes, 'latin1');
  return {
    socket,
    received: () => received,
    isLeft: () => ended || socket.closed,
    async freed() {
      if (!ended && !socket.closed) {
        await Promise.race(
          ['end', 'close'].map((name) => new Promise((resolve) => socket.once(name, resolve))),
        );
      }
      while (!socket.closed) {
        socket.write('x');
        await delay(50);
      }
    },
  };
}
