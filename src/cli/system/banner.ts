import type { Platform } from '../../app/platform.ts';
import type { Announcement } from '../../app/processes.ts';
import type { Config } from '../../kernel/config.ts';
import { addressesOf } from '../../kernel/database-url.ts';
import { firstKeyFile, firstStart } from './first-start.ts';

/** Prints where the server listens. */
export async function announce(platform: Platform, address: string, how: Announcement): Promise<void> {
  if (how === null) return;
  process.stdout.write(how === 'json' ? announcement(platform, address) : await banner(platform, address));
}

function announcement(platform: Platform, url: string): string {
  const { config } = platform;
  return `${JSON.stringify({ url, data_dir: config.dataDir, first_api_key_file: firstKeyFile(platform) })}\n`;
}

async function banner(platform: Platform, address: string): Promise<string> {
  const { config, embedded } = platform;
  const first = await firstStart(platform, address);
  const keyFile = firstKeyFile(platform);
  const key = keyFile === null ? '<API key>' : `$(cat ${shellQuote(keyFile)})`;
  const lines = [
    `Payhook is running at ${address}`,
    ...(config.baseUrl ? [`  Public address  ${config.baseUrl}`] : []),
    `  Dashboard       ${config.authorizeUrl ?? config.baseUrl ?? address}/`,
    `  API reference   ${config.baseUrl ?? address}/docs`,
    `  Data folder     ${config.dataDir}`,
    `  Database        ${databaseOf(platform)}`,
    ...first.key.map((line, index) => `  ${index === 0 ? 'First API key' : ' '.repeat(13)}   ${line}`),
    ...(first.owner.length > 0 ? ['', ...first.owner] : []),
    '',
    'Try it:',
    `  curl -H "Authorization: Bearer ${key}" ${address}/v2/affiliates/payouts`,
    '',
    `Ctrl-C stops it${embedded ? ' and PostgreSQL' : ''}.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The database as people know it. */
export function databaseOf({ config, embedded }: Platform): string {
  return embedded ? 'embedded PostgreSQL' : `PostgreSQL at ${databaseHost(config)}`;
}

/** Only the host and database name: a connection string contains a password. */
function databaseHost({ databaseUrl }: Config): string {
  const urls = (addressesOf(databaseUrl ?? '') ?? []).map((url) => new URL(url));
  const hosts = urls.map(({ host, searchParams }) => host || searchParams.get('host') || 'this machine');
  return `${hosts.join(', ')}${urls[0]?.pathname ?? ''}`;
}

/** The text as one shell word, also within double quotes around `$(…)`. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
