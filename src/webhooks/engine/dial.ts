import { type LookupAddress, Resolver, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector as Connector } from 'undici';
import type { AddressRules } from '../../kernel/addresses.ts';
import type { HttpProxy } from '../../kernel/proxies.ts';
import type { ClientCertificateInput } from '../egress/record.ts';
import { buildConnector, type Dial } from './client.ts';
import { AddressBlocked } from './outcome.ts';
import { tunnelConnector } from './tunnel.ts';

/** All addresses of a host name, as returned by `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface DialOptions {
  readonly addresses: AddressRules;
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve;
  /** PEM certificate authorities to trust instead of Node's. */
  readonly authorities?: string;
}

/** How connections of one kind are made. */
export interface Dialing extends DialOptions {
  readonly resolve: Resolve;
  /** Sent to a receiver that requests one. */
  readonly certificate?: ClientCertificateInput | undefined;
  /** The proxy to connect through, and the addresses where it may be. */
  readonly through?:
    | { readonly proxy: HttpProxy; readonly addresses: AddressRules; readonly limitMs: number }
    | undefined;
}

/**
 * Connects if the rules allow it, directly or through a proxy. The rules are checked for every connection, on its actual
 * addresses.
 */
export function guardedConnector(dialing: Dialing): Dial {
  const { addresses, resolve, authorities, through } = dialing;
  if (through === undefined) return directConnector(dialing);
  const find = allowedAddresses(dialing);
  return tunnelConnector({
    ...through,
    dialProxy: directConnector({
      addresses: through.addresses,
      resolve,
      ...(authorities === undefined ? {} : { authorities }),
    }),
    secure: connectorOf(dialing),
    addressOf(hostname, done) {
      if (isIP(hostname) !== 0)
        return done(addresses.allows(hostname) ? null : new AddressBlocked(), hostname);
      find(hostname, (error, found) => {
        // not every proxy supports IPv6
        const [first] = found.toSorted((one, other) => one.family - other.family);
        done(error, first?.address ?? '');
      });
    },
  });
}

function directConnector(dialing: Dialing): Dial {
  const { addresses } = dialing;
  const find = allowedAddresses(dialing);
  const connector = connectorOf(dialing, (hostname, { all }, done) => {
    find(hostname, (error, found) => {
      const [first] = found;
      if (error || !first) done(error, []);
      else if (all) done(null, [...found]);
      else done(null, first.address, first.family);
    });
  });
  return (target, done, adopt) => {
    // A literal address needs no lookup.
    if (isIP(target.hostname) === 0 || addresses.allows(target.hostname)) adopt(connector(target, done));
    else queueMicrotask(() => done(new AddressBlocked(), null));
  };
}

/** Finds the addresses of a name that the rules allow, or fails. */
function allowedAddresses({ addresses, resolve }: Pick<Dialing, 'addresses' | 'resolve'>): Resolve {
  return (hostname, done) => {
    resolve(hostname, (error, found) => {
      if (error) return done(error, []);
      if (found.length === 0) return done(Object.assign(new Error('no address'), { code: 'ENODATA' }), []);
      const allowed = found.filter(({ address }) => addresses.allows(address));
      done(allowed.length === 0 ? new AddressBlocked() : null, allowed);
    });
  };
}

/** undici's connector. Its type does not say that the socket is returned before it is connected. */
function connectorOf({ authorities, certificate }: Dialing, lookup?: LookupFunction) {
  return buildConnector({
    timeout: 0,
    autoSelectFamily: true,
    ...(lookup === undefined ? {} : { lookup }),
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
  }) as (options: Connector.Options, done: Connector.Callback) => Socket;
}

const ASK_MS = 1500;
const ASK_TIMES = 3;

/**
 * Resolves names with `resolve`, or the name servers of this machine: one lookup for concurrent requests of the same
 * name.
 */
export function sharedResolver(resolve?: Resolve): Resolve {
  return shared(resolve ?? resolveThrough(new Resolver({ timeout: ASK_MS, tries: ASK_TIMES })));
}

/**
 * Queries the name servers without a thread. The system's lookup has four threads for the whole process, so names whose
 * servers are down would hold up all other deliveries. The system is asked only for what it alone may know (its hosts
 * file, search domains): names without a dot, and names unknown to the name servers.
 */
export function resolveThrough(network: Resolver): Resolve {
  return (hostname, done) => {
    if (!hostname.includes('.')) return resolveBySystem(hostname, done);
    const found: LookupAddress[] = [];
    const errors: NodeJS.ErrnoException[] = [];
    let open = 2;
    const answer = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[]) => {
      if (error) errors.push(error);
      else found.push(...addresses.map((address) => ({ address, family })));
      open -= 1;
      if (open > 0) return;
      const unanswered = errors.find(({ code }) => !UNKNOWN_THERE.has(code ?? ''));
      if (found.length > 0) done(null, found);
      else if (unanswered) done(unanswered, []);
      else resolveBySystem(hostname, done);
    };
    network.resolve4(hostname, answer(4));
    network.resolve6(hostname, answer(6));
  };
}

// ECONNREFUSED: this machine has no name server.
const UNKNOWN_THERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED']);

const resolveBySystem: Resolve = (hostname, done) => systemLookup(hostname, { all: true }, done);

/**
 * Shares one lookup among concurrent requests of the same name: many deliveries to one host begin together. Nothing is
 * cached.
 */
function shared(resolve: Resolve): Resolve {
  const asked = new Map<string, Parameters<Resolve>[1][]>();
  return (hostname, done) => {
    const others = asked.get(hostname);
    if (others) {
      others.push(done);
      return;
    }
    const all = [done];
    asked.set(hostname, all);
    const answer: typeof done = (error, addresses) => {
      asked.delete(hostname);
      for (const each of all) each(error, addresses);
    };
    try {
      resolve(hostname, answer);
    } catch (error) {
      process.nextTick(answer, error as Error, []);
    }
  };
}
