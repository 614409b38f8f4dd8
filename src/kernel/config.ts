import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type MailServer, mailServerOf } from './mail-server.ts';
import { COMMAND_SETTINGS, origin, SETTINGS, type Setting, withoutCredentials } from './settings.ts';
import { unreadable } from './unreadable.ts';

/** The validated settings of the program. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** The URL of an external PostgreSQL 15 to 18; undefined = the embedded one in the data folder. */
  readonly databaseUrl: string | undefined;
  /** PostgreSQL itself, for what needs a session of its own; undefined = databaseUrl. */
  readonly databaseListenUrl: string | undefined;
  /** A replica of it to read from; undefined = none. */
  readonly databaseReplicaUrl: string | undefined;
  readonly databasePoolSize: number;
  /** An absolute path. */
  readonly dataDir: string;
  /** Whether the data folder was set explicitly; otherwise it is the one in the working directory. */
  readonly dataDirGiven: boolean;
  /** The public address of the API; undefined = http://HOST:PORT. */
  readonly baseUrl: string | undefined;
  readonly authorizeUrl: string | undefined;
  /** Proxies whose X-Forwarded-For is trusted, in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** undefined = generated on the first run and stored in the data folder. */
  readonly secretKey: string | undefined;
  /** The file that `secretKey` was read from, if any. */
  readonly secretKeyFile: string | undefined;
  /** The previous key, while everything is being re-encrypted under SECRET_KEY. */
  readonly secretKeyPrevious: string | undefined;
  readonly logLevel: string;
  readonly metrics: MetricsConfig;
  /** The URL of a collector of traces, without /v1/traces; undefined = no traces are sent. */
  readonly tracesEndpoint: string | undefined;
  readonly http: HttpConfig;
  /** The time from SIGTERM until the server stops accepting requests. */
  readonly shutdownDelayMs: number;
  readonly delivery: DeliveryConfig;
  readonly retention: RetentionConfig;
  readonly backup: BackupConfig;
  /** How e-mail is sent; null = not at all. */
  readonly mail: MailConfig | null;
}

/** The SMTP server that takes e-mail. */
export interface MailConfig extends MailServer {
  /** An address, or a name and an address: `Payhook <pay@example.com>`. */
  readonly from: string;
}

/** Backups, and those that the server makes by itself. */
export interface BackupConfig {
  /** null = the server makes none. */
  readonly schedule: BackupSchedule | null;
  /** At most one of the two is set. */
  readonly passphrase: string | undefined;
  readonly recipient: string | undefined;
}

export interface BackupSchedule {
  readonly everyMs: number;
  /** An absolute path. */
  readonly folder: string;
  /** How many are kept. */
  readonly keep: number;
}

/** Where Prometheus reads the metrics of this process. */
export interface MetricsConfig {
  readonly host: string;
  /** null = no metrics; 0 = any free one. */
  readonly port: number | null;
}

/** Limits on clients. */
export interface HttpConfig {
  /** For the head of a request; also the interval at which the throughput of bodies and responses is checked. */
  readonly requestTimeoutMs: number;
  /** The lowest accepted throughput of a body or response. */
  readonly bytesPerSecond: number;
  /** Concurrent connections; null = as many as the limit on open files allows. */
  readonly connections: number | null;
  /** Of them from one address; null = half. */
  readonly perAddress: number | null;
  /** Concurrent uploads. */
  readonly uploads: number;
  /** Webhook endpoints of an account. */
  readonly webhookEndpoints: number;
  /** Requests per minute of an account, and of one key, token or user; null = no limit. */
  readonly rates: { readonly account: number | null; readonly key: number | null };
}

/** How many days rows are kept that nothing needs any more; null = forever. */
export interface RetentionConfig {
  /** Entries of the audit log. */
  readonly auditDays: number | null;
  /** What affiliates were before an import, which its undo needs. */
  readonly importUndoDays: number | null;
}

/** How events are delivered. */
export interface DeliveryConfig {
  /** Whether `serve` also delivers; otherwise `payhook worker` does. */
  readonly inServer: boolean;
  /** Networks besides global unicast that deliveries may connect to, in CIDR notation. */
  readonly allowedNetworks: readonly string[];
  /** The URL of the proxy that deliveries go through; undefined = none. */
  readonly proxyUrl: string | undefined;
  /** Hosts to which they go directly, each with all below it. */
  readonly noProxy: readonly string[];
  /** For the whole exchange with a receiver. */
  readonly timeoutMs: number;
  /** The pause before each attempt, including the first. */
  readonly scheduleMs: readonly number[];
  /** Concurrent attempts in this process. */
  readonly concurrency: number;
  /** Events older than this are dropped, a week at a time; null = never. */
  readonly retentionDays: number | null;
}

/** Invalid settings, all reported at once. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The sources of settings that came from neither the environment nor a file of their own. */
const otherSources = new Map<string, string>();

/**
 * Adds the settings of the command line, for everything that reads settings afterwards. `dataDir` overrides the
 * environment; the environment overrides `envFile` (lines NAME=value). Throws ConfigError when the file cannot be read.
 * (Node 20 itself handles --env-file on the command line and has already read the file, with the same precedence.)
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
    throw new ConfigError(`--env-file: ${unreadable(path, error)}`);
  }
}

/** The value of a setting from NAME, or from the file that NAME_FILE names. */
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
    throw new ConfigError(`${name}_FILE: ${unreadable(path, error)}`);
  }
}

/**
 * Reads the settings from the environment. Throws ConfigError that lists every mistake. `needsKey` is false for what neither
 * seals nor opens anything.
 */
export function readConfig(env: Environment = process.env, { needsKey = true } = {}): Config {
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
  const lacksKey = values.DATABASE_URL !== undefined && values.SECRET_KEY === undefined;
  if (lacksKey && needsKey && mistakes.length === 0) {
    mistakes.push(
      'SECRET_KEY must be set when DATABASE_URL is set: all servers on a database need the same key',
    );
  }
  if (values.DATABASE_URL === undefined && mistakes.length === 0) {
    for (const name of ['DATABASE_LISTEN_URL', 'DATABASE_REPLICA_URL']) {
      if (values[name] !== undefined) mistakes.push(`${name} has no effect without DATABASE_URL`);
    }
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
  if (mistakes.length === 0) mistakes.push(...backupMistakes(values), ...mailMistakes(values));
  if (mistakes.length > 0) throw new ConfigError(`the settings are wrong:\n  ${mistakes.join('\n  ')}`);
  return {
    port: values.PORT as number,
    host: values.HOST as string,
    databaseUrl: values.DATABASE_URL as string | undefined,
    databaseListenUrl: values.DATABASE_LISTEN_URL as string | undefined,
    databaseReplicaUrl: values.DATABASE_REPLICA_URL as string | undefined,
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
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT as string | undefined,
    metrics: {
      host: values.METRICS_HOST as string,
      port: (values.METRICS_PORT as number | undefined) ?? null,
    },
    http: {
      requestTimeoutMs: values.REQUEST_TIMEOUT_MS as number,
      bytesPerSecond: values.MIN_BYTES_PER_SECOND as number,
      connections: (values.MAX_CONNECTIONS as number | undefined) ?? null,
      perAddress: (values.MAX_CONNECTIONS_PER_ADDRESS as number | undefined) ?? null,
      uploads: values.MAX_UPLOADS as number,
      webhookEndpoints: values.MAX_WEBHOOK_ENDPOINTS as number,
      rates: {
        account: (values.RATE_LIMIT_ACCOUNT as number | undefined) ?? null,
        key: (values.RATE_LIMIT_KEY as number | undefined) ?? null,
      },
    },
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS as number,
    delivery: {
      inServer: values.DELIVERY_WORKER as boolean,
      allowedNetworks: values.DELIVERY_ALLOW_CIDRS as readonly string[],
      proxyUrl: values.DELIVERY_PROXY as string | undefined,
      noProxy: values.DELIVERY_NO_PROXY as readonly string[],
      timeoutMs: values.DELIVERY_TIMEOUT_MS as number,
      scheduleMs: values.DELIVERY_SCHEDULE as readonly number[],
      concurrency: values.DELIVERY_CONCURRENCY as number,
      retentionDays: daysOf(values.WEBHOOK_RETENTION_DAYS),
    },
    retention: {
      auditDays: daysOf(values.AUDIT_RETENTION_DAYS),
      importUndoDays: daysOf(values.IMPORT_UNDO_DAYS),
    },
    backup: backupOf(values),
    mail: mailOf(values),
  };
}

type Values = Readonly<Record<string, ReturnType<Setting['read']>>>;

const daysOf = (value: Values[string]) => (value === 'off' ? null : (value as number));

function backupMistakes(values: Values): string[] {
  if (values.BACKUP_EVERY !== undefined && values.BACKUP_TO === undefined) {
    return ['BACKUP_TO must be set when BACKUP_EVERY is set: the folder of the backups'];
  }
  if (values.BACKUP_PASSPHRASE !== undefined && values.BACKUP_RECIPIENT !== undefined) {
    return ['BACKUP_PASSPHRASE and BACKUP_RECIPIENT are both set: a backup is encrypted with one of them'];
  }
  return [];
}

function mailMistakes({ SMTP_URL: url, SMTP_FROM: from }: Values): string[] {
  if ((url === undefined) === (from === undefined)) return [];
  return from === undefined
    ? ['SMTP_FROM must be set when SMTP_URL is set: the sender of e-mail']
    : ['SMTP_FROM has no effect without SMTP_URL'];
}

function mailOf({ SMTP_URL: url, SMTP_FROM: from }: Values): MailConfig | null {
  const server = url === undefined ? undefined : mailServerOf(url as string);
  return server === undefined ? null : { ...server, from: from as string };
}

function backupOf(values: Values): BackupConfig {
  const everyMs = values.BACKUP_EVERY as number | undefined;
  return {
    schedule:
      everyMs === undefined
        ? null
        : { everyMs, folder: values.BACKUP_TO as string, keep: values.BACKUP_KEEP as number },
    passphrase: values.BACKUP_PASSPHRASE as string | undefined,
    recipient: values.BACKUP_RECIPIENT as string | undefined,
  };
}

/** Every setting with its effective value, for display: secrets are not shown. */
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
 * The preloads of the caller's environment: another memory allocator, or a moved clock (libfaketime). Returns their
 * variables, for child processes that do not inherit the rest of the environment.
 */
export function readPreloads(env: Environment = process.env): Record<string, string> {
  const named = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      /^(LD_PRELOAD|FAKETIME\w*)$/.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(named);
}

/** The environment for a command that works on the data folder of this process, whatever else commands are told to use. */
export function environmentOfCommand(
  dataDir: string,
  env: Environment = process.env,
): Record<string, string | undefined> {
  const others = new Set(COMMAND_SETTINGS.flatMap(({ name }) => [name, `${name}_FILE`]));
  const kept = Object.entries(env).filter(([name]) => !others.has(name) && name !== 'DATA_DIR_FILE');
  return { ...Object.fromEntries(kept), DATA_DIR: dataDir };
}

/** The account for commands that name none; undefined = the current account of the data folder. */
export function readAccountSetting(env: Environment = process.env): string | undefined {
  return textOf('PAYHOOK_ACCOUNT', env);
}

/** The address and key of a remote server for commands; null = use the local database. */
export function readRemote(env: Environment = process.env): { url: string; apiKey: string } | null {
  const url = textOf('PAYHOOK_URL', env);
  if (url === undefined) return null;
  const apiKey = textOf('PAYHOOK_API_KEY', env);
  if (!origin(url)) throw new ConfigError('PAYHOOK_URL must be an http(s) URL');
  if (apiKey === undefined) throw new ConfigError('PAYHOOK_API_KEY must be set together with PAYHOOK_URL');
  return { url: origin(url) ?? url, apiKey };
}
