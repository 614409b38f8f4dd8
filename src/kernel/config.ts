import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { COMMAND_SETTINGS, origin, SETTINGS, type Setting, withoutCredentials } from './settings.ts';

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
    mistakes.push(
      'SECRET_KEY must be set when DATABASE_URL is set: all servers on a database need the same key',
    );
  }
  if (values.SECRET_KEY_PREVIOUS !== undefined && mistakes.length === 0) {
    if (values.SECRET_KEY === undefined) {
      mistakes.push(
        'SECRET_KEY_PREVIOUS has no effect without SECRET_KEY: a key in the data folder needs neither',
      );
    } else if (values.SECRET_KEY === values.SECRET_KEY_PREVIOUS) {
      mistakes.push('SECRET_KEY_PREVIOUS must differ from SECRET_KEY');
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
  if (apiKey === undefined) throw new ConfigError('PAYHOOK_API_KEY must be set together with PAYHOOK_URL');
  return { url: origin(url) ?? url, apiKey };
}
