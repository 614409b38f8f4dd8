import type { Platform } from '../../app/platform.ts';
import { explainConfig, readConfig } from '../../kernel/config.ts';
import type { Cli } from '../command/cli.ts';
import { readConfigHere, withPlatform } from '../command/session.ts';
import { printable, table } from '../terminal/table.ts';
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

/** `payhook migrate`: every cell. Returns 1 if a cell cannot be used. */
export async function migrate({ terminal }: Cli): Promise<number> {
  const { first, others } = await withPlatform(terminal, async ({ cells, migrations }) => ({
    first: migrations,
    others: cells.list().flatMap(({ number, problem }) => {
      const { version = null, applied = [] } = cells.migrationsOf(number) ?? {};
      return number === 0 ? [] : [{ cell: number, version, applied, problem }];
    }),
  }));
  const { version, applied } = first;
  terminal.result({ version, applied, other_cells: others }, () => {
    const done = (names: readonly string[], where = '') =>
      names.map((name) => `${where}applied ${name}\n`).join('');
    const state = `at version ${version}${applied.length === 0 ? ' already' : ''}`;
    return [
      `${done(applied)}The schema is ${state}.\n`,
      ...others.map(({ cell, problem, ...it }) =>
        problem === null
          ? `${done(it.applied, `cell ${cell}: `)}Cell ${cell} is at version ${it.version}${it.applied.length === 0 ? ' already' : ''}.\n`
          : `Cell ${cell} ${printable(problem)}.\n`,
      ),
    ].join('');
  });
  return others.some(({ problem }) => problem !== null) ? 1 : 0;
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
