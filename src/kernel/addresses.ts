import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses deliveries may connect to: global unicast, and the networks that the platform allows. */
export interface AddressRules {
  /**
   * Whether connecting to an IP address is allowed, in any spelling that `net.isIP` accepts. False for anything else,
   * including addresses with a zone (`fe80::1%eth0`).
   */
  allows(address: string): boolean;
}

/** The loopback networks. */
export const LOOPBACK: readonly string[] = ['127.0.0.0/8', '::1/128'];

const LONGEST_URL = 2048;
const ONLY_PUBLIC = 'name a public address (DELIVERY_ALLOW_CIDRS of the server allows others)';
// RFC 4291 section 2.4: the whole range that global unicast addresses have been assigned from.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public addresses at which cloud providers serve their own machines: such requests do not leave for the internet, and
 * the service trusts the machine they come from. Link-local, shared and unique local addresses (169.254.169.254,
 * 100.100.100.200, fd00:ec2::254) are not global unicast anyway.
 */
const HOST_SERVICES = [
  // Azure: platform resources, DNS, health probes (learn.microsoft.com, "What is IP address 168.63.129.16?")
  '168.63.129.16/32',
  // IBM Cloud: its services and cloud service endpoints (cloud.ibm.com/apidocs/vpc, reserved ranges of `client_ip_pool`)
  '161.26.0.0/16',
  '166.8.0.0/14',
  // Google Cloud: restricted and private access to Google's APIs (cloud.google.com/vpc/docs/configure-private-google-access)
  '199.36.153.4/30',
  '199.36.153.8/30',
  '2600:2d00:2:1000::/56',
  '2600:2d00:2:2000::/56',
].map((network) => ipaddr.parseCIDR(network));

const isHostService = (address: Address) =>
  HOST_SERVICES.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));

/**
 * The rules that allow global unicast, without the IANA special-purpose ranges, and the networks `allowed`, each in
 * CIDR notation (see `isNetwork`). Throws when one is malformed.
 */
export function addressRules(allowed: readonly string[]): AddressRules {
  const isAllowed = networkTest(allowed);
  return {
    allows(text) {
      const address = addressOf(text);
      return address !== null && (isGlobalUnicast(address) || isAllowed(text));
    },
  };
}

/**
 * A test whether an IP address is in one of the networks, each in CIDR notation (see `isNetwork`). False for what is no
 * address. Throws when a network is malformed.
 */
export function networkTest(named: readonly string[]): (address: string) => boolean {
  const networks = named.map(networkOf);
  return (text) => {
    const address = addressOf(text);
    return (
      address !== null &&
      networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
    );
  };
}

/** Whether the text is a network in CIDR notation: an IPv4 or IPv6 address without a zone, `/`, and a prefix length. */
export function isNetwork(text: string): boolean {
  const slash = text.indexOf('/');
  const version = text.includes('%') ? 0 : isIP(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return (
    slash > 0 && version > 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
  );
}

/**
 * Why a URL cannot be the target of deliveries, worded to follow "url must"; null when it can. Names are not resolved:
 * their addresses are checked when the connection is made.
 */
export function refusalOfUrl(url: string, rules: AddressRules): string | null {
  if (url.length > LONGEST_URL) return `be at most ${LONGEST_URL} characters long`;
  // The URL parser would silently remove some of these.
  if (/[\s\p{Cc}]/u.test(url)) return 'not contain spaces or control characters';
  if (!/^https?:\/\//i.test(url)) return 'begin with http:// or https://';
  if (!url.isWellFormed() || !URL.canParse(url)) return 'be a valid URL';
  const { hostname, username, password, port } = new URL(url);
  if (username !== '' || password !== '') return 'not contain a user name or password';
  if (url.includes('#')) return 'not have a fragment';
  const host = hostname.replace(/^\[|\]$|(?<!\.)\.+$/g, '');
  // The parser skips extra slashes and accepts empty labels.
  if (host === '' || /^https?:\/\/[/\\]/i.test(url) || host.includes('..')) return 'name a host';
  if (port === '0') return 'not name port 0';
  const isLocalName = host === 'localhost' || host.endsWith('.localhost');
  const address = isLocalName ? '127.0.0.1' : host;
  return isIP(address) === 0 || rules.allows(address) ? null : ONLY_PUBLIC;
}

/** Global unicast alone, whatever the operator allows. */
export const PUBLIC_ONLY: AddressRules = addressRules([]);
const PUBLIC_AND_LOOPBACK = addressRules(LOOPBACK);

/** Whether a valid delivery URL points to the loopback, in any spelling or as `localhost`. */
export function namesLoopback(url: string): boolean {
  return refusalOfUrl(url, PUBLIC_ONLY) !== null && refusalOfUrl(url, PUBLIC_AND_LOOPBACK) === null;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The address a packet would go to: an IPv4-mapped IPv6 address is the IPv4 address. */
function addressOf(text: string): Address | null {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return null;
  if (version === 4) return ipaddr.IPv4.parse(text);
  // ipaddr.js reads `::1.2.3.4` as `::ffff:1.2.3.4`, which is another address; the URL parser spells both in hex.
  const address = ipaddr.IPv6.parse(
    text.includes('.') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text,
  );
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * The key that attempts from a client address are counted under: an IPv4 address, mapped ones included, as it is; an IPv6
 * address as its /64, the smallest network a subscriber is assigned (RFC 6177). Other text is returned unchanged.
 */
export function subscriberOf(text: string): string {
  const address = addressOf(text.split('%', 1)[0] ?? '');
  if (address === null) return text;
  if (address.kind() === 'ipv4') return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}

function isGlobalUnicast(address: Address): boolean {
  if (isHostService(address) || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}

function networkOf(text: string): [Address, number] {
  const [network, bits] = text.split('/');
  const address = isNetwork(text) ? addressOf(network ?? '') : null;
  if (address === null) throw new TypeError(`no network: ${text}`);
  const isMapped = address.kind() === 'ipv4' && network?.includes(':');
  // The prefix of a mapped network includes the 96 bits before the IPv4 address.
  return isMapped ? [address, Number(bits) - 96] : [address, Number(bits)];
}
