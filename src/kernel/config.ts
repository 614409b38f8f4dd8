import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { undividable } from './processes.ts';
import { isSetting, origin, type Setting, type SettingGroup, type ValuesOf } from './setting-values.ts';
import { COMMAND_SETTINGS, SETTING_LIST, SETTINGS } from './settings.ts';
import { unreadable } from './unreadable.ts';

/** The validated settings of the program: one member for each row of SETTINGS. */
export type Config = ValuesOf<typeof SETTINGS> & {
  /** Whether the data folder was set explicitly; otherwise it is the one in the working directory. */
  readonly dataDirGiven: boolean;
  /** The file that `secretKey` was read from, if any. */
  readonly secretKeyFile: string | undefined;
};

/** How events are delivered. */
export type DeliveryConfig = Config['delivery'];

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
export function addSettings({
  dataDir,
  envFile,
}: {
  readonly dataDir?: string;
  readonly envFile?: string;
}): void {
  const { env } = process;
  if (envFile !== undefined) {
    const settings = parseSettings(envFile);
    for (const { name } of [...SETTING_LIST, ...COMMAND_SETTINGS]) {
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
 * Reads the settings from the environment. Throws ConfigError that lists every mistake. `needsKey` is false for commands
 * that neither encrypt nor decrypt.
 */
export function readConfig(env: Environment = process.env, { needsKey = true } = {}): Config {
  const mistakes: string[] = [];
  const config = {
    ...(readGroup(SETTINGS, env, mistakes) as ValuesOf<typeof SETTINGS>),
    dataDirGiven: Boolean(env.DATA_DIR || env.DATA_DIR_FILE),
    secretKeyFile: env.SECRET_KEY_FILE || undefined,
  };
  // a setting that is wrong on its own says more than a combination with it
  if (mistakes.length === 0) mistakes.push(...wrongCombinations(config, needsKey));
  if (mistakes.length > 0) throw new ConfigError(`the settings are wrong:\n  ${mistakes.join('\n  ')}`);
  return config;
}

/** The values of a group, under the same keys; adds to `mistakes`. */
function readGroup(group: SettingGroup, env: Environment, mistakes: string[]): Record<string, unknown> {
  const values = Object.entries(group).map(([key, node]) => [
    key,
    isSetting(node) ? readSetting(node, env, mistakes) : readGroup(node, env, mistakes),
  ]);
  return Object.fromEntries(values);
}

function readSetting({ name, fallback, read, rule, secret }: Setting, env: Environment, mistakes: string[]) {
  try {
    const text = textOf(name, env) ?? fallback;
    const value = text === undefined ? undefined : read(text);
    if (text !== undefined && value === undefined) {
      mistakes.push(
        `${name} must be ${rule}${secret ? '' : `, not ${JSON.stringify(withoutCredentials(text))}`}`,
      );
    }
    return value;
  } catch (error) {
    mistakes.push((error as Error).message);
    return undefined;
  }
}

/** Settings that are right on their own, but not together. */
function wrongCombinations(config: Config, needsKey: boolean): string[] {
  const { databaseUrl, secretKey, secretKeyPrevious, backup, mail } = config;
  const wrong: readonly (readonly [isWrong: boolean, message: string])[] = [
    [
      needsKey && databaseUrl !== undefined && secretKey === undefined,
      'SECRET_KEY must be set when DATABASE_URL is set: all servers on a database need the same key',
    ],
    [
      databaseUrl === undefined && config.databaseListenUrl !== undefined,
      'DATABASE_LISTEN_URL has no effect without DATABASE_URL',
    ],
    [
      databaseUrl === undefined && config.databaseReplicaUrl !== undefined,
      'DATABASE_REPLICA_URL has no effect without DATABASE_URL',
    ],
    [
      secretKeyPrevious !== undefined && secretKey === undefined,
      'SECRET_KEY_PREVIOUS has no effect without SECRET_KEY: a key in the data folder needs neither',
    ],
    [
      secretKeyPrevious !== undefined && secretKey === secretKeyPrevious,
      'SECRET_KEY_PREVIOUS must differ from SECRET_KEY',
    ],
    [
      backup.everyMs !== undefined && backup.folder === undefined,
      'BACKUP_TO must be set when BACKUP_EVERY is set: the folder of the backups',
    ],
    [
      backup.passphrase !== undefined && backup.recipient !== undefined,
      'BACKUP_PASSPHRASE and BACKUP_RECIPIENT are both set: a backup is encrypted with one of them',
    ],
    [
      mail.server !== undefined && mail.from === undefined,
      'SMTP_FROM must be set when SMTP_URL is set: the sender of e-mail',
    ],
    [mail.server === undefined && mail.from !== undefined, 'SMTP_FROM has no effect without SMTP_URL'],
  ];
  return [...wrong.flatMap(([isWrong, message]) => (isWrong ? [message] : [])), ...undividable(config)];
}

/** A value for display, without the credentials of a URL. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@');
}

/** Every setting with its effective value, for display: secrets are not shown. */
export function explainConfig(env: Environment = process.env) {
  return [...SETTING_LIST, ...COMMAND_SETTINGS].map(({ name, meaning, fallback, secret }) => {
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
export function readPreloads(): Record<string, string> {
  const named = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      /^(LD_PRELOAD|FAKETIME\w*)$/.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(named);
}

/** The variable that gives a child of a server its number and the number of all: `2/4`. */
const PLACE = 'PAYHOOK_PROCESS';

/** The environment that makes a process child `number` (from 1) of `count`. */
export const childEnvironment = (number: number, count: number) => ({ [PLACE]: `${number}/${count}` });

/** Which child of a server this process is; null = none. What it starts does not inherit that. */
export function takeChildPlace(): { number: number; count: number } | null {
  const [, number, count] = /^(\d+)\/(\d+)$/.exec(process.env[PLACE] ?? '') ?? [];
  delete process.env[PLACE];
  return number === undefined ? null : { number: Number(number), count: Number(count) };
}

/** The environment for a command that works on the data folder of this process, whatever server other settings name. */
export function environmentOfCommand(dataDir: string): Record<string, string | undefined> {
  const others = new Set(COMMAND_SETTINGS.flatMap(({ name }) => [name, `${name}_FILE`]));
  const kept = Object.entries(process.env).filter(([name]) => !others.has(name) && name !== 'DATA_DIR_FILE');
  return { ...Object.fromEntries(kept), DATA_DIR: dataDir };
}

/** The account for commands that name none; undefined = the current account of the data folder. */
export function readAccountSetting(): string | undefined {
  return textOf('PAYHOOK_ACCOUNT', process.env);
}

/** The address and key of a remote server for commands; null = use the local database. */
export function readRemote(): { url: string; apiKey: string } | null {
  const url = textOf('PAYHOOK_URL', process.env);
  if (url === undefined) return null;
  const apiKey = textOf('PAYHOOK_API_KEY', process.env);
  if (!origin(url)) throw new ConfigError('PAYHOOK_URL must be an http(s) URL');
  if (apiKey === undefined) throw new ConfigError('PAYHOOK_API_KEY must be set together with PAYHOOK_URL');
  return { url: origin(url) ?? url, apiKey };
}

/** Names the server of this command, as PAYHOOK_URL does. */
export function setRemote(url: string): void {
  process.env.PAYHOOK_URL = url;
}
