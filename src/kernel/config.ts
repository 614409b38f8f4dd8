import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isNetwork } from './addresses.ts';

/** The settings of the program, checked. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** PostgreSQL 15 to 18 of your own; undefined = the embedded one in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  /** Absolute. */
  readonly dataDir: string;
  /** Whether somebody named the data folder; else it is the one of the working folder. */
  readonly dataDirGiven: boolean;
  /** The public address of the API; undefined = http://HOST:PORT. */
  readonly baseUrl: string | undefined;
  readonly authorizeUrl: string | undefined;
  /** Proxies whose X-Forwarded-For is believed, in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** undefined = made on the first run and kept in the data folder. */
  readonly secretKey: string | undefined;
  /** The file that `secretKey` came from, if one did. */
  readonly secretKeyFile: string | undefined;
  /** The key before, while everything is sealed anew under SECRET_KEY. */
  readonly secretKeyPrevious: string | undefined;
  readonly logLevel: string;
  readonly http: HttpConfig;
  /** From SIGTERM until no request is taken any more. */
  readonly shutdownDelayMs: number;
  readonly delivery: DeliveryConfig;
}

/** What callers may take of the server. */
export interface HttpConfig {
  /** For the head of a request; bodies and answers are judged after each such span. */
  readonly requestTimeoutMs: number;
  /** The slowest body or answer that is waited for. */
  readonly bytesPerSecond: number;
  /** At once; null = what the limit of open files leaves. */
  readonly connections: number | null;
  /** Files that come in at once. */
  readonly uploads: number;
}

/** How events are delivered. */
export interface DeliveryConfig {
  /** Whether `serve` delivers too; else `payhook worker` does. */
  readonly inServer: boolean;
  /** Networks besides global unicast that may be dialled, in CIDR notation. */
  readonly allowedNetworks: readonly string[];
  /** The whole exchange with a receiver. */
  readonly timeoutMs: number;
  /** The pause before each attempt, the first one's too. */
  readonly scheduleMs: readonly number[];
  /** Attempts in flight at once in this process. */
  readonly concurrency: number;
  /** Events older than so many days are dropped, a week at a time; null = none. */
  readonly retentionDays: number | null;
}

/** Settings that break their rules, all of them at once. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

interface Setting {
  readonly name: string;
  readonly meaning: string;
  readonly fallback: string | undefined;
  readonly secret?: true;
  /** The value, or undefined when the text breaks the rule. */
  read(text: string): string | number | boolean | readonly string[] | readonly number[] | undefined;
  readonly rule: string;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const anyText = (text: string) => text;
const integer = (from: number, to: number) => (text: string) =>
  /^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined;

function origin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const plain = /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  return plain ? text.replace(/\/+$/, '') : undefined;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_PAUSE_MS = 7 * 24 * 3_600_000;

/** `0s 5s 5m 2h` in milliseconds. */
function pauses(text: string): number[] | undefined {
  const read = text.split(/[\s,]+/).map((pause) => {
    const [, amount, unit = ''] = /^(\d{1,6})([smh])$/.exec(pause) ?? [];
    return Number(amount) * (UNITS[unit] ?? Number.NaN);
  });
  const isFine =
    read[0] === 0 && read.length <= 100 && read.every((pause) => pause >= 0 && pause <= LONGEST_PAUSE_MS);
  return isFine ? read : undefined;
}

/** What is dropped is a whole week that is over. */
const SHORTEST_RETENTION = 7;

function networks(text: string): string[] | undefined {
  const read = text.split(/[\s,]+/).filter((part) => part !== '');
  return read.every(isNetwork) ? read : undefined;
}

/** The same without a path: OAuth metadata and cookies are found at the root of an origin. */
function rootOrigin(text: string): string | undefined {
  const read = origin(text);
  return read !== undefined && new URL(read).pathname === '/' ? read : undefined;
}

/** A value as it may be shown: credentials in a URL are not. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@');
}

const KEY_RULE = 'at least 32 characters, for example from `openssl rand -base64 32`';
const readKey = (text: string) => (text.length >= 32 ? text : undefined);

const SETTINGS: readonly Setting[] = [
  {
    name: 'PORT',
    meaning: 'port of the HTTP server; 0 = any free one',
    fallback: '8080',
    read: integer(0, 65_535),
    rule: 'a port, 0 to 65535',
  },
  {
    name: 'HOST',
    meaning: 'address the HTTP server listens on',
    fallback: '127.0.0.1',
    read: anyText,
    rule: 'an address',
  },
  {
    name: 'DATABASE_URL',
    meaning: 'PostgreSQL 15 to 18 of your own; none = the embedded one',
    fallback: undefined,
    secret: true,
    read: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
    rule: 'a URL that begins with postgres:// or postgresql://',
  },
  {
    name: 'DATABASE_POOL_SIZE',
    meaning: 'connections for reading, as many for writing, as many for downloads',
    fallback: '10',
    read: integer(1, 1000),
    rule: 'a number from 1 to 1000',
  },
  {
    name: 'DATA_DIR',
    meaning: 'folder of the embedded PostgreSQL, the first key and the secret key',
    fallback: './data',
    read: (text) => resolve(text),
    rule: 'a folder',
  },
  {
    name: 'BASE_URL',
    meaning: 'public address of the API; none = http://HOST:PORT',
    fallback: undefined,
    read: rootOrigin,
    rule: 'an http(s) URL without credentials, path, query and fragment',
  },
  {
    name: 'AUTHORIZE_URL',
    meaning: 'public address of the OAuth pages; none = BASE_URL',
    fallback: undefined,
    read: rootOrigin,
    rule: 'an http(s) URL without credentials, path, query and fragment',
  },
  {
    name: 'TRUSTED_PROXIES',
    meaning: 'networks of the proxies in front, whose X-Forwarded-For says where a request came from',
    fallback: '',
    read: networks,
    rule: 'networks in CIDR notation with a comma between',
  },
  {
    name: 'REQUEST_TIMEOUT_MS',
    meaning: 'how long the head of a request may take, and a body or an answer that hardly moves',
    fallback: '20000',
    read: integer(1000, 600_000),
    rule: 'a number of milliseconds from 1000 to 600000',
  },
  {
    name: 'MIN_BYTES_PER_SECOND',
    meaning: 'a body or an answer that is slower than this for REQUEST_TIMEOUT_MS is cut off',
    fallback: '4096',
    read: integer(1, 1_000_000),
    rule: 'a number from 1 to 1000000',
  },
  {
    name: 'MAX_CONNECTIONS',
    meaning: 'connections at once; none = what the limit of open files leaves, at most 10000',
    fallback: undefined,
    read: integer(1, 1_000_000),
    rule: 'a number from 1 to 1000000',
  },
  {
    name: 'MAX_UPLOADS',
    meaning: 'CSV files that may come in at once, half of them for one account',
    fallback: '8',
    read: integer(1, 1000),
    rule: 'a number from 1 to 1000',
  },
  {
    name: 'SECRET_KEY',
    meaning: 'encrypts secrets at rest; required with DATABASE_URL, otherwise made on the first run',
    fallback: undefined,
    secret: true,
    read: readKey,
    rule: KEY_RULE,
  },
  {
    name: 'SECRET_KEY_PREVIOUS',
    meaning: 'the key before, while SECRET_KEY is changed: see payhook secret-key rotate',
    fallback: undefined,
    secret: true,
    read: readKey,
    rule: KEY_RULE,
  },
  {
    name: 'LOG_LEVEL',
    meaning: LEVELS.join(', '),
    fallback: 'info',
    read: (text) => (LEVELS.includes(text) ? text : undefined),
    rule: `one of ${LEVELS.join(', ')}`,
  },
  {
    name: 'SHUTDOWN_DELAY_MS',
    meaning:
      'after SIGTERM requests are still taken for so long, while /readyz is 503; not at a terminal, not after Ctrl-C',
    fallback: '5000',
    read: integer(0, 600_000),
    rule: 'a number of milliseconds from 0 to 600000',
  },
  {
    name: 'DELIVERY_WORKER',
    meaning: 'on: `serve` delivers webhooks too; off: only `payhook worker` does',
    fallback: 'on',
    read: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    rule: 'on or off',
  },
  {
    name: 'DELIVERY_ALLOW_CIDRS',
    meaning: 'networks besides public addresses that webhooks may be sent to, such as 10.20.0.0/16',
    fallback: '',
    read: networks,
    rule: 'networks in CIDR notation with a comma between',
  },
  {
    name: 'DELIVERY_TIMEOUT_MS',
    meaning: 'for the whole exchange with a receiver, its body too',
    fallback: '15000',
    read: integer(100, 60_000),
    rule: 'a number of milliseconds from 100 to 60000',
  },
  {
    name: 'DELIVERY_SCHEDULE',
    meaning: 'the pause before each attempt; the first is made at once, 0s',
    fallback: '0s 5s 5m 30m 2h 5h 10h 14h 20h 24h',
    read: pauses,
    rule: 'up to 100 pauses of at most 168h, the first 0s, such as 0s 5s 5m 2h',
  },
  {
    name: 'DELIVERY_CONCURRENCY',
    meaning: 'attempts in flight at once in this process',
    fallback: '256',
    read: integer(1, 10_000),
    rule: 'a number from 1 to 10000',
  },
  {
    name: 'WEBHOOK_RETENTION_DAYS',
    meaning: 'how long events and their log are kept, undelivered ones longer; off = for ever',
    fallback: '90',
    read: (text) => (text === 'off' ? 'off' : integer(SHORTEST_RETENTION, 36_500)(text)),
    rule: `a number of days from ${SHORTEST_RETENTION} to 36500, or off`,
  },
];

/** What commands work on; `serve` does not read them. */
const COMMAND_SETTINGS: readonly Pick<Setting, 'name' | 'meaning' | 'fallback' | 'secret'>[] = [
  {
    name: 'PAYHOOK_URL',
    meaning: 'commands talk to the server at this address; none = the data of this machine',
    fallback: undefined,
  },
  { name: 'PAYHOOK_API_KEY', meaning: 'the key for PAYHOOK_URL', fallback: undefined, secret: true },
  {
    name: 'PAYHOOK_ACCOUNT',
    meaning: 'the account of commands, by id or name; none = the current one, see payhook accounts use',
    fallback: undefined,
  },
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Where settings came from that neither the environment nor a file of their own gave. */
const otherSources = new Map<string, string>();

/**
 * Takes the settings of the command line in, for whoever reads settings afterwards: `dataDir` counts more than the
 * environment, what `envFile` (lines NAME=value) holds counts less. Throws ConfigError when the file cannot be read. (Node 20 finds --env-file
 * on the command line by itself and has read the file by now, with the same precedence.)
 */
export function addSettings(
  { dataDir, envFile }: { readonly dataDir?: string; readonly envFile?: string },
  env: Record<string, string | undefined> = process.env,
): void {
  if (envFile !== undefined) {
    const settings = parseSettings(envFile);
    for (const { name } of [...SETTINGS, ...COMMAND_SETTINGS]) {
      if (env[name] || env[`${name}_FILE`]) continue;
      for (const key of [name, `${name}_FILE`]) {
        if (settings[key] === undefined) continue;
        env[key] = settings[key];
        otherSources.set(name, envFile);
      }
    }
  }
  if (dataDir !== undefined) {
    delete env.DATA_DIR_FILE;
    env.DATA_DIR = dataDir;
    otherSources.set('DATA_DIR', '--data-dir');
  }
}

function parseSettings(path: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`--env-file: ${(error as Error).message}`);
  }
}

/** The text of a setting from NAME, or from the file that NAME_FILE names. */
function textOf(name: string, env: Environment): string | undefined {
  const direct = env[name];
  const path = env[`${name}_FILE`];
  if (direct !== undefined && direct !== '' && path) {
    throw new ConfigError(`${name} and ${name}_FILE are both set`);
  }
  if (!path) return direct === '' ? undefined : direct;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${name}_FILE: ${(error as Error).message}`);
  }
}

/** Reads the settings from the environment. Throws ConfigError with every mistake in it. */
export function readConfig(env: Environment = process.env): Config {
  const values: Record<string, ReturnType<Setting['read']>> = {};
  const mistakes: string[] = [];
  for (const { name, fallback, read, rule, secret } of SETTINGS) {
    try {
      const text = textOf(name, env) ?? fallback;
      values[name] = text === undefined ? undefined : read(text);
      if (text !== undefined && values[name] === undefined) {
        mistakes.push(
          `${name} must be ${rule}${secret ? '' : `, not ${JSON.stringify(withoutCredentials(text))}`}`,
        );
      }
    } catch (error) {
      mistakes.push((error as Error).message);
    }
  }
  if (values.DATABASE_URL !== undefined && values.SECRET_KEY === undefined && mistakes.length === 0) {
    mistakes.push('SECRET_KEY must be set when DATABASE_URL is: every server on one database needs the same');
  }
  if (values.SECRET_KEY_PREVIOUS !== undefined && mistakes.length === 0) {
    if (values.SECRET_KEY === undefined) {
      mistakes.push(
        'SECRET_KEY_PREVIOUS says nothing without SECRET_KEY: a key of the data folder needs neither',
      );
    } else if (values.SECRET_KEY === values.SECRET_KEY_PREVIOUS) {
      mistakes.push('SECRET_KEY_PREVIOUS must be another key than SECRET_KEY');
    }
  }
  if (mistakes.length > 0) throw new ConfigError(`the settings are wrong:\n  ${mistakes.join('\n  ')}`);
  return {
    port: values.PORT as number,
    host: values.HOST as string,
    databaseUrl: values.DATABASE_URL as string | undefined,
    databasePoolSize: values.DATABASE_POOL_SIZE as number,
    dataDir: values.DATA_DIR as string,
    dataDirGiven: Boolean(env.DATA_DIR || env.DATA_DIR_FILE),
    baseUrl: values.BASE_URL as string | undefined,
    authorizeUrl: values.AUTHORIZE_URL as string | undefined,
    trustedProxies: values.TRUSTED_PROXIES as readonly string[],
    secretKey: values.SECRET_KEY as string | undefined,
    secretKeyFile: env.SECRET_KEY_FILE || undefined,
    secretKeyPrevious: values.SECRET_KEY_PREVIOUS as string | undefined,
    logLevel: values.LOG_LEVEL as string,
    http: {
      requestTimeoutMs: values.REQUEST_TIMEOUT_MS as number,
      bytesPerSecond: values.MIN_BYTES_PER_SECOND as number,
      connections: (values.MAX_CONNECTIONS as number | undefined) ?? null,
      uploads: values.MAX_UPLOADS as number,
    },
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS as number,
    delivery: {
      inServer: values.DELIVERY_WORKER as boolean,
      allowedNetworks: values.DELIVERY_ALLOW_CIDRS as readonly string[],
      timeoutMs: values.DELIVERY_TIMEOUT_MS as number,
      scheduleMs: values.DELIVERY_SCHEDULE as readonly number[],
      concurrency: values.DELIVERY_CONCURRENCY as number,
      retentionDays:
        values.WEBHOOK_RETENTION_DAYS === 'off' ? null : (values.WEBHOOK_RETENTION_DAYS as number),
    },
  };
}

/** Every setting with its value in force for people: secrets are never shown. */
export function explainConfig(env: Environment = process.env) {
  return [...SETTINGS, ...COMMAND_SETTINGS].map(({ name, meaning, fallback, secret }) => {
    const text = textOf(name, env);
    const direct = otherSources.get(name) ?? (env[`${name}_FILE`] ? `${name}_FILE` : 'environment');
    const source = text === undefined ? 'default' : direct;
    const shown = text === undefined ? fallback : withoutCredentials(text);
    return { name, value: shown === undefined ? null : secret ? '(set, not shown)' : shown, source, meaning };
  });
}

/**
 * What the caller has the loader put into every program: another allocator of memory, or a moved clock (libfaketime).
 * Out: the variables that say so, for the programs that are started without the rest of the environment.
 */
export function readPreloads(env: Environment = process.env): Record<string, string> {
  const named = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      /^(LD_PRELOAD|FAKETIME\w*)$/.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(named);
}

/** The account that commands work on when none is named; undefined = the current one of the data folder. */
export function readAccountSetting(env: Environment = process.env): string | undefined {
  return textOf('PAYHOOK_ACCOUNT', env);
}

/** How a command reaches a server elsewhere: both, or null for the database of this machine. */
export function readRemote(env: Environment = process.env): { url: string; apiKey: string } | null {
  const url = textOf('PAYHOOK_URL', env);
  if (url === undefined) return null;
  const apiKey = textOf('PAYHOOK_API_KEY', env);
  if (!origin(url)) throw new ConfigError('PAYHOOK_URL must be an http(s) URL');
  if (apiKey === undefined) throw new ConfigError('PAYHOOK_API_KEY must be set beside PAYHOOK_URL');
  return { url: origin(url) ?? url, apiKey };
}
