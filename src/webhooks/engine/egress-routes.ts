import { createHash, X509Certificate } from 'node:crypto';
import type { AddressRules } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import { type HttpProxy, isBelow, proxyOf } from '../../kernel/proxies.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { ClientCertificateInput, Egress } from '../egress/record.ts';
import { branchOf, type Connections } from './connections.ts';
import type { Dialing } from './dial.ts';
import type { Failure } from './outcome.ts';

/** How requests to an endpoint are sent, if its settings differ from the server's. */
export interface EgressRoute {
  /** Equal for endpoints that may share connections, and only for those. */
  readonly key: string;
  /** The endpoint's own proxy; null = that of the server, if any. */
  readonly proxy: HttpProxy | null;
  readonly certificate: ClientCertificateInput | undefined;
  /** When the certificate expires, in milliseconds since 1970. */
  readonly certificateEndsMs: number | undefined;
}

/** The route of an endpoint, from its unsealed settings; undefined = the server's. */
export function egressRouteOf({ proxy, certificate }: Egress): EgressRoute | undefined {
  if (proxy === undefined && certificate === undefined) return undefined;
  const key = createHash('sha256')
    .update(JSON.stringify([proxy, certificate]))
    .digest('base64');
  return {
    key,
    proxy: proxy === undefined ? null : proxyOf(proxy),
    certificate,
    certificateEndsMs: certificate && Date.parse(new X509Certificate(certificate.certificate).validTo),
  };
}

/**
 * A failure without a response. Mentions an expired client certificate if that may be the cause. `clock` is that of the
 * sender.
 */
export function explained(failure: Failure, route: EgressRoute | undefined, clock?: () => number): Failure {
  const ends = route?.certificateEndsMs;
  const mayBeWhy = ['connection_reset', 'tls_error', 'certificate_refused'].includes(failure.code);
  if (!mayBeWhy || !clock || ends === undefined || ends > clock()) return failure;
  return {
    ...failure,
    message: `${failure.message}; the client certificate expired at ${formatInstant(ends)}`,
  };
}

/** The proxy of the server, and the hosts (with their subdomains) for which it is not used. */
interface ServerProxy {
  readonly proxy: HttpProxy;
  readonly except: readonly string[];
}

/** The proxies of a sender. */
export interface ProxyOptions {
  /** null = none. */
  readonly ofServer: ServerProxy | null;
  /** Where the proxies of endpoints may be. That of the server may be anywhere. */
  readonly addresses: AddressRules;
  /** The time limit for a proxy to connect, in milliseconds. */
  readonly limitMs: number;
}

/** The proxy of the server from its settings; null = none. */
export function serverProxy({ proxyUrl, noProxy }: DeliveryConfig): ServerProxy | null {
  const proxy = proxyUrl === undefined ? null : proxyOf(proxyUrl);
  return proxy && { proxy, except: noProxy };
}

/** Routes kept without an open connection, mostly for their TLS sessions. */
const KEPT = 1000;
const ANYWHERE: AddressRules = { allows: () => true };

/** Finds the connections of a route to a host; undefined = the server's route. */
export type FindConnections = (route: EgressRoute | undefined, hostname: string) => Connections;

/** Creates a `FindConnections` over the connections of one sender. */
export function createEgressRoutes(
  main: Connections,
  dialing: Dialing,
  { ofServer, addresses, limitMs }: ProxyOptions,
): FindConnections {
  const branches = new Map<string, Connections>();

  function proxyFor(route: EgressRoute | undefined, hostname: string): Dialing['through'] {
    if (route?.proxy) return { proxy: route.proxy, addresses, limitMs };
    if (ofServer === null || isBelow(hostname, ofServer.except)) return undefined;
    return { proxy: ofServer.proxy, addresses: ANYWHERE, limitMs };
  }

  return (route, hostname) => {
    if (route === undefined && ofServer === null) return main;
    const through = proxyFor(route, hostname);
    if (route === undefined && through === undefined) return main;
    const key = `${route?.key ?? ''} ${through?.addresses === ANYWHERE ? 'by the proxy of the server' : ''}`;
    const known = branches.get(key);
    if (known) return known;
    if (branches.size >= KEPT) forgetUnused(branches);
    const made = branchOf(main, { ...dialing, certificate: route?.certificate, through });
    branches.set(key, made);
    return made;
  };
}

function forgetUnused(branches: Map<string, Connections>): void {
  for (const [key, { origins }] of branches) if (origins.size === 0) branches.delete(key);
}
