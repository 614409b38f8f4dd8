import { expect, test } from 'vitest';
import { addressRules, isNetwork, namesLoopback, refusalOfUrl, subscriberOf } from './addresses.ts';

const PUBLIC_ONLY = addressRules([]);
const WITH_LOCAL = addressRules(['127.0.0.0/8', '::1/128']);

const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0']
  .concat(['11.0.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '192.0.1.0', '198.17.255.255'])
  .concat([
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2A00:1450:4001:0830::200E',
    '2001:4860::8888',
  ])
  .concat(['168.63.129.15', '168.63.129.17', '161.25.255.255', '166.12.0.0', '199.36.153.3', '199.36.153.12'])
  .concat(['2600:2d00:2:fff::', '2600:2d00:2:1100::', '2600:2d00:2:2100::'])
  .concat([
    '2400:cb00:2048:1::c629:d7a2',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '0:0:0:0:0:ffff:8.8.8.8',
    '3ffe::1',
  ]);

test.each(PUBLIC)('%s is global unicast and may be dialled', (address) => {
  expect(PUBLIC_ONLY.allows(address)).toBe(true);
});

const NOT_PUBLIC: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  'host services of clouds': [
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '161.26.0.10',
    '166.11.255.255',
    '199.36.153.4',
    '199.36.153.11',
    '2600:2d00:2:1000::',
    '2600:2d00:2:20ff:ffff:ffff:ffff:ffff',
  ],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'carrier grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.0.0.0', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '0000::0001'],
  'link-local': ['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf:ffff::1', 'FE80::1'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001::1', '2001:1::1', '2001:1ff:ffff::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'relay, AS112 and AMT': ['192.88.99.1', '192.31.196.1', '192.175.48.1', '192.52.193.1', '2620:4f:8000::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'reserved and broadcast': ['240.0.0.1', '255.255.255.254', '255.255.255.255'],
  'unique local': ['fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  'site-local': ['fec0::1', 'feff::1'],
  '6to4': ['2002::1', '2002:7f00:1::1', '2002:808:808::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ORCHID: ['2001:10::1', '2001:20::1', '2001:30::1'],
  NAT64: [
    '64:ff9b::7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '64:ff9b:1:fffe::10.0.0.1',
  ],
  mapped: [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:10.0.0.1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '::ffff:0.0.0.0',
  ],
  'translated and compatible': [
    '::ffff:0:127.0.0.1',
    '::ffff:0:8.8.8.8',
    '::127.0.0.1',
    '::7f00:1',
    '::8.8.8.8',
  ],
  'outside 2000::/3': [
    '::',
    '::2',
    '100::1',
    '200::1',
    '400::1',
    '1fff::1',
    '4000::1',
    '5f00::1',
    '8000::1',
    'e000::1',
  ],
  'a zone': ['fe80::1%eth0', '2606:4700:4700::1111%1', '::1%lo'],
  'no address': [
    '',
    ' ',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    '1.1.1.1.',
    '[::1]',
  ],
  'nearly an address': [
    '1.1.1.1/32',
    ' 8.8.8.8',
    '8.8.8.8\n',
    '8.8.8',
    '256.1.1.1',
    '01.1.1.1',
    '１.1.1.1',
    '1::2::3',
  ],
};

for (const [kind, addresses] of Object.entries(NOT_PUBLIC)) {
  test.each(addresses)(`%j may not be dialled: ${kind}`, (address) => {
    expect(PUBLIC_ONLY.allows(address)).toBe(false);
  });
}

test('an allowed network holds for each spelling of its addresses and for nothing else', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '0::1', '::ffff:127.0.0.1', '::ffff:7f00:1'])
    expect(WITH_LOCAL.allows(address)).toBe(true);
  for (const address of [
    '10.0.0.1',
    '::2',
    '::127.0.0.1',
    '64:ff9b::127.0.0.1',
    '2002:7f00:1::1',
    '::ffff:10.0.0.1',
  ])
    expect(WITH_LOCAL.allows(address)).toBe(false);
  expect(addressRules(['fd12::/16']).allows('fd12::1')).toBe(true);
  expect(addressRules(['fd12::/16']).allows('fd13::1')).toBe(false);
  expect(addressRules(['64:ff9b::/96']).allows('64:ff9b::8.8.8.8')).toBe(true);
  expect(addressRules(['10.1.2.3/8']).allows('10.200.0.1')).toBe(true);
  expect(addressRules(['::ffff:10.0.0.0/104']).allows('10.200.0.1')).toBe(true);
  expect(addressRules(['::ffff:172.16.0.0/112']).allows('172.17.0.1')).toBe(false);
  expect(addressRules(['::/0']).allows('10.0.0.1')).toBe(false);
});

test.each(['10.0.0.0/8', '0.0.0.0/0', '127.0.0.1/32', '::1/128', '::/0', 'fd00::/8', '::ffff:10.0.0.0/104'])(
  '%s is a network',
  (text) => {
    expect(isNetwork(text)).toBe(true);
  },
);

const NO_NETWORKS = [
  '',
  '/',
  '/8',
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '::1/129',
  '10.0.0.0/-1',
  '10.0.0.0/08',
];

test.each([
  ...NO_NETWORKS,
  '10/8',
  '0x7f.1/8',
  'fe80::%1/10',
  'localhost/8',
  '10.0.0.0/8/8',
  ' 10.0.0.0/8',
  '::/1e1',
])('%j is no network', (text) => {
  expect(isNetwork(text)).toBe(false);
  expect(() => addressRules([text])).toThrow(TypeError);
});

const LOOPBACK_HOSTS = ['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1']
  .concat([
    '017700000001',
    '127.0.0.1.',
    '0x7F.0x0.0x0.0x1',
    '127.0.0.001',
    '%31%32%37.0.0.1',
    '１２７.０.０.１',
  ])
  .concat([
    '127。0。0。1',
    '①②⑦.0.0.1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ])
  .concat([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    'a.b.localhost.',
    'ⓛocalhost',
    '127.0.0.1:8080',
  ]);

test.each(LOOPBACK_HOSTS)('http://%s/ is refused, and taken where loopback is allowed', (host) => {
  expect(refusalOfUrl(`http://${host}/hook`, PUBLIC_ONLY)).toMatch(/^name a public address/);
  expect(refusalOfUrl(`https://${host}`, PUBLIC_ONLY)).toMatch(/^name a public address/);
  expect(refusalOfUrl(`http://${host}/hook`, WITH_LOCAL)).toBeNull();
  expect(namesLoopback(`http://${host}/hook`)).toBe(true);
});

test.each([
  '169.254.169.254',
  '0',
  '0.0.0.0',
  '10.1',
  '3232235777',
  '[fd00::1]',
  '[::]',
  '[::127.0.0.1]',
  '[fe80::1]',
])('http://%s/ is refused', (host) => {
  expect(refusalOfUrl(`http://${host}/`, WITH_LOCAL)).toMatch(/^name a public address/);
  expect(namesLoopback(`http://${host}/`)).toBe(false);
});

test.each([
  'https://example.com',
  'HTTP://Example.com:8080/a?b=c',
  'https://1.1.1.1/',
  'https://xn--bcher-kva.example/',
])('%s may be a target', (url) => {
  expect(refusalOfUrl(url, PUBLIC_ONLY)).toBeNull();
});

test.each([
  'https://localhost.example.com/',
  'https://mylocalhost/',
  'https://[2606:4700:4700::1111]:8443/',
  'https://a@',
])('%s is judged by its host', (url) => {
  expect(refusalOfUrl(url, PUBLIC_ONLY)).toBe(url.endsWith('@') ? 'be a valid URL' : null);
  expect(namesLoopback(url)).toBe(false);
});

test.each([
  ['', 'begin with http:// or https://'],
  ['example.com', 'begin with http:// or https://'],
  ['ftp://example.com/', 'begin with http:// or https://'],
  ['http:example.com', 'begin with http:// or https://'],
  ['http:\\\\127.0.0.1', 'begin with http:// or https://'],
  ['javascript://example.com/', 'begin with http:// or https://'],
  [' https://example.com/', 'not contain spaces or control characters'],
  ['https://exa\tmple.com/', 'not contain spaces or control characters'],
  ['https://example.com/\n', 'not contain spaces or control characters'],
  ['https://example.com/\0', 'not contain spaces or control characters'],
  ['https://example.com/\u{a0}', 'not contain spaces or control characters'],
  ['https://user:word@example.com/', 'not contain a user name or password'],
  ['https://user@example.com/', 'not contain a user name or password'],
  ['https://example.com@127.0.0.1/', 'not contain a user name or password'],
  ['https://example.com/#part', 'not have a fragment'],
  ['https://example.com/#', 'not have a fragment'],
  ['https://', 'be a valid URL'],
  ['https:///', 'be a valid URL'],
  ['https://example.com:99999/', 'be a valid URL'],
  ['https://exa mple.com/', 'not contain spaces or control characters'],
  ['https://1.2.3.4.5/', 'be a valid URL'],
  ['https://[fe80::1%25eth0]/', 'be a valid URL'],
  ['https://example.com/\ud800', 'be a valid URL'],
  ['https://./', 'name a host'],
  [`https://example.com/${'a'.repeat(2029)}`, 'be at most 2048 characters long'],
])('%j is refused: %s', (url, refusal) => {
  expect(refusalOfUrl(url, PUBLIC_ONLY)).toBe(refusal);
  expect(namesLoopback(url)).toBe(false);
});

test('a URL of 2048 characters may be a target', () => {
  expect(refusalOfUrl(`https://example.com/${'a'.repeat(2028)}`, PUBLIC_ONLY)).toBeNull();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['a socket', 'a socket'],
])('%s is counted as %s', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber);
});
