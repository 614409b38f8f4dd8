import type { Platform } from '../../app/platform.ts';
import { explainConfig, readConfig } from '../../kernel/config.ts';
import type { Cli } from '../command/cli.ts';
import { readConfigHere, withPlatform } from '../command/session.ts';
import { table } from '../terminal/table.ts';
import { firstKeyFile, firstStart } from './first-start.ts';

/** `payhook init`. */
export async function init({ terminal }: Cli): Promise<undefined> {
  const work = async (platform: Platform) => {
    const { config, firstKey } = platform;
    const created = firstKey !== undefined;
    const { addressOf } = await import('../../app/address.ts');
    const { key, owner } = await firstStart(platform, addressOf(config));
    const lines = [
      `Payhook ${created ? 'is' : 'was already'} set up in ${config.dataDir}`,
      ...key.map((line, index) => `${index === 0 ? 'First API key' : ' '.repeat(13)}   ${line}`),
      ...owner,
    ];
    terminal.result(
      { data_dir: config.dataDir, created, first_api_key_file: firstKeyFile(platform) },
      () => `${lines.join('\n')}\n`,
    );
  };
  await withPlatform(terminal, work, { makes: true });
}

/** `payhook migrate`. */
export async function migrate({ terminal }: Cli): Promise<undefined> {
  const { version, applied } = await withPlatform(terminal, async (platform) => platform.migrations);
  terminal.result({ version, applied }, () => {
    const done = applied.map((name) => `applied ${name}\n`).join('');
    return `${done}The schema is at version ${version}${applied.length === 0 ? ' already' : ''}.\n`;
  });
}

/** `payhook config`. */
export async function showConfig({ terminal }: Cli): Promise<undefined> {
  const settings = explainConfig();
  terminal.result(settings, () =>
    table(
      ['SETTING', 'VALUE', 'FROM', 'MEANING'].map((heading) => ({ heading })),
      settings.map(({ name, value, source, meaning }) => [name, value ?? '', source, meaning]),
      terminal.paint.faint,
    ),
  );
  // after the table, so that a mistake is shown below the value that causes it
  const { dataDir } = await readConfigHere(terminal);
  if (!readConfig().dataDirGiven) terminal.note(`The data folder is ${dataDir}`);
}
