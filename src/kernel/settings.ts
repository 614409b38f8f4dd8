import { resolve } from 'node:path';
import { cellNumbers } from './cell-ranges.ts';
import { addressesOf } from './database-url.ts';
import { isSender, mailServerOf } from './mail-server.ts';
import { PROXY_RULE, proxyOf } from './proxies.ts';
import {
  daysFrom,
  hosts,
  integer,
  interval,
  networks,
  origin,
  pauses,
  rootOrigin,
  type Setting,
  type SettingGroup,
  settingsIn,
} from './setting-values.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const anyText = (text: string) => text;
/** The log is dropped in whole weeks. */
const SHORTEST_RETENTION = 7;
/** Migration 63 refuses to delete younger entries of the audit log. */
const SHORTEST_AUDIT = 90;

const KEY_RULE = 'at least 32 characters, for example from `openssl rand -base64 32`';
const readKey = (text: string) => (text.length >= 32 ? text : undefined);

const DATABASE_RULE = 'a URL that begins with postgres:// or postgresql://';
const databaseUrl = (text: string) => (addressesOf(text) === undefined ? undefined : text);

/** Every setting of the server, under its key in Config. The order is that of docs/configuration.md. */
export const SETTINGS = {
  port: {
    name: 'PORT',
    meaning: 'port of the HTTP server; 0 = any free one',
    fallback: '8080',
    read: integer(0, 65_535),
    rule: 'a port, 0 to 65535',
  },
  host: {
    name: 'HOST',
    meaning: 'address the HTTP server listens on',
    fallback: '127.0.0.1',
    read: anyText,
    rule: 'an address',
  },
  processes: {
    name: 'PROCESSES',
    meaning:
      'processes of `serve`; none = one for each core, or for every second one next to the embedded PostgreSQL, at most 8, and 1 on two cores',
    read: integer(1, 64),
    rule: 'a number from 1 to 64',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    meaning:
      'your own PostgreSQL, 15 to 18, or a primary and its replicas: …@a:5432,b:5432/…; none = the embedded one',
    secret: true,
    read: databaseUrl,
    rule: DATABASE_RULE,
  },
  databaseListenUrl: {
    name: 'DATABASE_LISTEN_URL',
    meaning:
      'PostgreSQL itself, when DATABASE_URL is a connection pooler such as PgBouncer; none = DATABASE_URL',
    secret: true,
    read: databaseUrl,
    rule: DATABASE_RULE,
  },
  databaseReplicaUrl: {
    name: 'DATABASE_REPLICA_URL',
    meaning:
      'a streaming replica of DATABASE_URL, for lists, reports and CSV files; none = the primary answers all reads',
    secret: true,
    read: (text) => (addressesOf(text)?.length === 1 ? text : undefined),
    rule: `${DATABASE_RULE} and names one server`,
  },
  cells: {
    name: 'CELLS',
    meaning: 'the cells besides 0 that this server or worker serves, such as 1,4-7; none = all',
    read: cellNumbers,
    rule: 'numbers and ranges of numbers, separated by commas, such as 1,4-7',
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    meaning: 'connections for reading; the same number for writing and for downloads',
    fallback: '10',
    read: integer(1, 1000),
    rule: 'a number from 1 to 1000',
  },
  databaseConnections: {
    name: 'DATABASE_CONNECTIONS',
    meaning:
      'connections to all cells together, besides one of each process to listen at each cell; none = as many as for one cell',
    read: integer(10, 10_000),
    rule: 'a number from 10 to 10000',
  },
  dataDir: {
    name: 'DATA_DIR',
    meaning: 'folder with the embedded PostgreSQL, the first key and the secret key',
    fallback: './data',
    read: (text) => resolve(text),
    rule: 'a folder',
  },
  baseUrl: {
    name: 'BASE_URL',
    meaning: 'public address of the API; none = http://HOST:PORT',
    read: rootOrigin,
    rule: 'an http(s) URL without credentials, path, query and fragment',
  },
  authorizeUrl: {
    name: 'AUTHORIZE_URL',
    meaning: 'public address of the OAuth pages; none = BASE_URL',
    read: rootOrigin,
    rule: 'an http(s) URL without credentials, path, query and fragment',
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    meaning: 'networks of the proxies in front, whose X-Forwarded-For is trusted',
    fallback: '',
    read: networks,
    rule: 'networks in CIDR notation, separated by commas',
  },
  http: {
    requestTimeoutMs: {
      name: 'REQUEST_TIMEOUT_MS',
      meaning: 'time limit for the head of a request, and for a body or an answer that is too slow',
      fallback: '20000',
      read: integer(1000, 600_000),
      rule: 'a number of milliseconds from 1000 to 600000',
    },
    bytesPerSecond: {
      name: 'MIN_BYTES_PER_SECOND',
      meaning: 'bytes per second; a body or an answer slower than this for REQUEST_TIMEOUT_MS is cut off',
      fallback: '4096',
      read: integer(1, 1_000_000),
      rule: 'a number from 1 to 1000000',
    },
    connections: {
      name: 'MAX_CONNECTIONS',
      meaning: 'concurrent connections; none = as many as the limit of open files allows, at most 10000',
      read: integer(1, 1_000_000),
      rule: 'a number from 1 to 1000000',
    },
    perAddress: {
      name: 'MAX_CONNECTIONS_PER_ADDRESS',
      meaning:
        'the same from one address, or one /64 of IPv6; TRUSTED_PROXIES have no limit; none = half of MAX_CONNECTIONS',
      read: integer(1, 1_000_000),
      rule: 'a number from 1 to 1000000',
    },
    uploads: {
      name: 'MAX_UPLOADS',
      meaning: 'concurrent CSV imports, at most half of them for one account',
      fallback: '8',
      read: integer(1, 1000),
      rule: 'a number from 1 to 1000',
    },
    webhookEndpoints: {
      name: 'MAX_WEBHOOK_ENDPOINTS',
      meaning: 'webhook endpoints of an account; publishing an event matches it against each of them',
      fallback: '200',
      read: integer(1, 10_000),
      rule: 'a number from 1 to 10000',
    },
    rates: {
      account: {
        name: 'RATE_LIMIT_ACCOUNT',
        meaning: 'requests per minute of an account to each server; none = no limit',
        read: integer(1, 1_000_000),
        rule: 'a number from 1 to 1000000',
      },
      key: {
        name: 'RATE_LIMIT_KEY',
        meaning: 'the same for each API key, application, portal and signed-in user of an account',
        read: integer(1, 1_000_000),
        rule: 'a number from 1 to 1000000',
      },
    },
  },
  secretKey: {
    name: 'SECRET_KEY',
    meaning: 'encrypts secrets at rest; required with DATABASE_URL, otherwise generated on the first run',
    secret: true,
    read: readKey,
    rule: KEY_RULE,
  },
  secretKeyPrevious: {
    name: 'SECRET_KEY_PREVIOUS',
    meaning: 'the previous key, while SECRET_KEY is being changed: see payhook secret-key rotate',
    secret: true,
    read: readKey,
    rule: KEY_RULE,
  },
  logLevel: {
    name: 'LOG_LEVEL',
    meaning: LEVELS.join(', '),
    fallback: 'info',
    read: (text) => (LEVELS.includes(text) ? text : undefined),
    rule: `one of ${LEVELS.join(', ')}`,
  },
  metrics: {
    port: {
      name: 'METRICS_PORT',
      meaning: 'port of /metrics for Prometheus, on servers and workers; 0 = any free one; none = no metrics',
      read: integer(0, 65_535),
      rule: 'a port, 0 to 65535',
    },
    host: {
      name: 'METRICS_HOST',
      meaning: 'address that /metrics listens on; it requires no credentials',
      fallback: '127.0.0.1',
      read: anyText,
      rule: 'an address',
    },
  },
  tracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning: 'collector that gets traces over OTLP/HTTP, for example http://127.0.0.1:4318; none = no traces',
    read: origin,
    rule: 'an http(s) URL without credentials, query and fragment',
  },
  shutdownDelayMs: {
    name: 'SHUTDOWN_DELAY_MS',
    meaning:
      'how long requests are still accepted after SIGTERM, while /readyz is 503; no delay at a terminal or after Ctrl-C',
    fallback: '5000',
    read: integer(0, 600_000),
    rule: 'a number of milliseconds from 0 to 600000',
  },
  delivery: {
    inServer: {
      name: 'DELIVERY_WORKER',
      meaning: 'on: `serve` delivers webhooks too; off: only `payhook worker` does',
      fallback: 'on',
      read: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
      rule: 'on or off',
    },
    allowedNetworks: {
      name: 'DELIVERY_ALLOW_CIDRS',
      meaning: 'private networks that webhooks may be sent to, such as 10.20.0.0/16',
      fallback: '',
      read: networks,
      rule: 'networks in CIDR notation, separated by commas',
    },
    proxyUrl: {
      name: 'DELIVERY_PROXY',
      meaning: 'HTTP proxy for webhooks: http://user:password@proxy:3128; none = webhooks are sent directly',
      secret: true,
      read: (text) => (proxyOf(text) === null ? undefined : text),
      rule: PROXY_RULE,
    },
    noProxy: {
      name: 'DELIVERY_NO_PROXY',
      meaning:
        'hosts that DELIVERY_PROXY is not used for, including their subdomains, such as example.com,10.0.0.7',
      fallback: '',
      read: hosts,
      rule: 'names or addresses of hosts, separated by commas',
    },
    timeoutMs: {
      name: 'DELIVERY_TIMEOUT_MS',
      meaning: 'time limit of an attempt: the whole exchange with a receiver, including its body',
      fallback: '15000',
      read: integer(100, 60_000),
      rule: 'a number of milliseconds from 100 to 60000',
    },
    scheduleMs: {
      name: 'DELIVERY_SCHEDULE',
      meaning: 'the pause before each attempt; the first attempt is immediate, 0s',
      fallback: '0s 5s 5m 30m 2h 5h 10h 14h 20h 24h',
      read: pauses,
      rule: 'up to 100 pauses of at most 168h, the first 0s, such as 0s 5s 5m 2h',
    },
    concurrency: {
      name: 'DELIVERY_CONCURRENCY',
      meaning: 'concurrent attempts of this server or worker',
      fallback: '256',
      read: integer(1, 10_000),
      rule: 'a number from 1 to 10000',
    },
    retentionDays: {
      name: 'WEBHOOK_RETENTION_DAYS',
      meaning:
        'how long events and their log are kept; undelivered events stay until their endpoint has been disabled for as long; off = forever',
      fallback: '90',
      ...daysFrom(SHORTEST_RETENTION),
    },
  },
  retention: {
    auditDays: {
      name: 'AUDIT_RETENTION_DAYS',
      meaning: 'how long entries of the audit log are kept; off = forever',
      fallback: 'off',
      ...daysFrom(SHORTEST_AUDIT),
    },
    importUndoDays: {
      name: 'IMPORT_UNDO_DAYS',
      meaning: 'how long an import of affiliates can be undone; off = forever',
      fallback: '365',
      ...daysFrom(1),
    },
  },
  backup: {
    everyMs: {
      name: 'BACKUP_EVERY',
      meaning: 'interval of scheduled backups, such as 24h; none = no scheduled backups',
      read: interval,
      rule: 'minutes or hours up to 744h, such as 30m or 24h',
    },
    folder: {
      name: 'BACKUP_TO',
      meaning: 'folder for scheduled backups; required with BACKUP_EVERY',
      read: (text) => resolve(text),
      rule: 'a folder',
    },
    keep: {
      name: 'BACKUP_KEEP',
      meaning: 'number of backups to keep in BACKUP_TO; older ones are deleted',
      fallback: '7',
      read: integer(1, 10_000),
      rule: 'a number from 1 to 10000',
    },
    passphrase: {
      name: 'BACKUP_PASSPHRASE',
      meaning: 'passphrase that encrypts and opens backups; none = BACKUP_RECIPIENT, or no encryption',
      secret: true,
      read: anyText,
      rule: 'a text',
    },
    recipient: {
      name: 'BACKUP_RECIPIENT',
      meaning: 'age public key that encrypts backups; this machine cannot open them',
      read: (text) => (/^age1[0-9a-z]{20,}$/.test(text) ? text : undefined),
      rule: 'a public key as age-keygen prints it, age1…',
    },
  },
  mail: {
    server: {
      name: 'SMTP_URL',
      meaning:
        'SMTP server for alerts, invitations, password links and e-mails to affiliates and contacts of endpoints; smtp:// uses STARTTLS, or no TLS with ?tls=off; none = no e-mail',
      secret: true,
      read: mailServerOf,
      rule: 'a URL such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com',
    },
    from: {
      name: 'SMTP_FROM',
      meaning: 'sender of e-mail; required with SMTP_URL',
      read: (text) => (isSender(text) ? text : undefined),
      rule: 'an e-mail address, or a name with one: Payhook <pay@example.com>',
    },
  },
} satisfies SettingGroup;

/** The rows of SETTINGS. */
export const SETTING_LIST: readonly Setting[] = settingsIn(SETTINGS);

/** Where commands find the server and the account; `serve` does not read them. */
export const COMMAND_SETTINGS: readonly Pick<Setting, 'name' | 'meaning' | 'fallback' | 'secret'>[] = [
  {
    name: 'PAYHOOK_URL',
    meaning: 'commands use the server at this address; none = the data on this machine',
  },
  { name: 'PAYHOOK_API_KEY', meaning: 'the key for PAYHOOK_URL', secret: true },
  {
    name: 'PAYHOOK_ACCOUNT',
    meaning: 'the account that commands use, by id or name; none = the current one, see payhook accounts use',
  },
];
