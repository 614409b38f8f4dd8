import type pg from 'pg';

/** The addresses of one database. Where there are several, one at a time takes writes: the others are its replicas. */
export interface Hosts {
  readonly count: number;
  /** The address for new connections. */
  current(): pg.ClientConfig;
  /** The next address is tried, unless another connection has moved on from this one already. */
  moveOn(from: pg.ClientConfig): void;
}

export function hostsOf(addresses: readonly pg.ClientConfig[]): Hosts {
  let index = 0;
  const current = () => addresses[index] ?? {};
  return {
    count: addresses.length,
    current,
    moveOn(from) {
      if (from === current()) index = (index + 1) % addresses.length;
    },
  };
}
