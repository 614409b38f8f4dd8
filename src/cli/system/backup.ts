import { readFileSync, rmSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Manifest } from '../../app/backup/manifest.ts';
import type { Restored } from '../../app/backup/restore.ts';
import type { SavedBackup } from '../../app/backup/save.ts';
import type { MadeBackups } from '../../app/backup/schedule.ts';
import type { Platform } from '../../app/platform.ts';
import { unreadable } from '../../kernel/unreadable.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readCell } from '../command/numbers.ts';
import { noEffect } from '../command/option-rules.ts';
import { quietLog, readConfigHere, refuseRemote, withPlatform } from '../command/session.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { printable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { requireUrl } from './cells.ts';

const BACKUP_HELP = `
Servers and workers keep running. The file contains the whole database as of one instant. In a folder, its name is the current time.
With several cells, one file for each is written to the folder; --cell backs up one of them. A file is never overwritten, and is
written completely or not at all. It does not contain the secret key: keep that elsewhere, or write
it with --with-secret-key. Without --passphrase-file and --recipient, BACKUP_PASSPHRASE and BACKUP_RECIPIENT apply.

Examples:
  $ payhook backup /backup
  $ payhook backup /backup --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  $ payhook backup monday.payhook --passphrase-file /etc/payhook-backup.pass --with-secret-key monday.key
`;

const RESTORE_HELP = `


Restores into an empty database: the embedded one of a new data folder, or that of DATABASE_URL, PostgreSQL 15 to 18. Use it to move
from one to the other. The file is checked first; if anything fails, the database stays empty. A backup of an earlier version is
migrated to the current schema.

Credentials are restored too: a key, session, grant or link that was revoked after the backup is valid again. The restore lists them.
--end-credentials ends all of them, and every application needs a new client secret. Passwords are those of the backup.

With several cells, restore cell 0 first. Then restore each other cell with --cell into the place that the directory names, whose
schema must be empty. With --url it is restored into another PostgreSQL, and running servers and workers use it there within seconds. A
backup cannot be restored into another cell.

Examples:
  $ payhook restore /backup/payhook-2026-11-22T030000Z.payhook --data-dir /var/lib/payhook/data
  $ payhook restore monday.payhook --end-credentials --data-dir /var/lib/payhook/data
  $ DATABASE_URL=postgres://… SECRET_KEY_FILE=/etc/payhook.key payhook restore monday.payhook --identity-file backup.key
  $ payhook restore cell-3.payhook --cell 3 --url postgres://payhook:…@db-3.example.com/payhook
`;

interface BackupOptions {
  readonly passphraseFile?: string;
  readonly recipient?: string;
  readonly withSecretKey?: string;
  readonly scheduled?: boolean;
  readonly cell?: string;
}

interface RestoreOptions {
  readonly passphraseFile?: string;
  readonly identityFile?: string;
  readonly endCredentials?: boolean;
  readonly cell?: string;
  readonly url?: string;
}

/** `payhook backup` and `payhook restore`. */
export function addBackup(machine: (name: string) => Command, cli: Cli): void {
  const backup = machine('backup')
    .description('back up the whole database to one file, or a file for each cell, while the server runs')
    .argument('[file-or-folder]', 'a new file, or a folder')
    .option('--passphrase-file <file>', 'encrypt the backup with the passphrase in this file')
    .option('--recipient <key>', 'encrypt the backup for this age public key (age1…)')
    .option('--with-secret-key <file>', 'also write the secret key to this file')
    .option('--scheduled', 'make the BACKUP_EVERY backup if it is due, like the server')
    .option('--cell <number>', 'back up only this cell; default: all')
    .option(
      '--json',
      'print {file, made_at, size_bytes, duration_ms, cell, schema_version, rows, sums, deleted, other_cells}; other_cells has the ' +
        'same of the other cells',
    )
    .addHelpText('after', BACKUP_HELP)
    .action((target: string | undefined, options: BackupOptions) =>
      cli.run(() => save(cli.terminal, target, options)),
    );
  const because = 'a backup is encrypted with one of them';
  noEffect(backup, { option: '--recipient', other: '--passphrase-file', because });
  for (const option of ['--recipient', '--passphrase-file', '--with-secret-key', '--cell']) {
    noEffect(backup, {
      option,
      other: '--scheduled',
      because: 'the settings configure scheduled backups',
    });
  }
  const restore = machine('restore')
    .description('restore a backup into an empty database')
    .argument('<file>', 'a backup made by payhook backup')
    .option('--passphrase-file <file>', 'a file with the passphrase of the backup')
    .option('--identity-file <file>', 'the age secret key of the backup, as written by age-keygen')
    .option('--cell <number>', 'restore this cell, into the place that the directory names')
    .option('--url <url>', 'restore the cell into this PostgreSQL, which the directory names from then on')
    .option('--end-credentials', 'end all API keys, sessions, OAuth grants and links in the backup')
    .option(
      '--json',
      'print {file, made_at, cell, schema_version, rows, sums, migrated, secret_key_problem, credentials, credentials_ended}',
    )
    .addHelpText('after', RESTORE_HELP)
    .action((file: string, options: RestoreOptions) =>
      cli.run(() => restoreFile(cli.terminal, file, options)),
    );
  noEffect(restore, {
    option: '--identity-file',
    other: '--passphrase-file',
    because: 'a backup is encrypted with one of them',
  });
}

async function save(
  terminal: Terminal,
  target: string | undefined,
  options: BackupOptions,
): Promise<undefined> {
  if ((target === undefined) !== (options.scheduled === true)) {
    throw new UsageError('give a file, a folder, or --scheduled');
  }
  // encrypted values are copied as they are, so no key is needed
  const anySecretKey = options.withSecretKey === undefined;
  const made = await withPlatform(
    terminal,
    (platform) =>
      target === undefined ? saveDue(platform) : saveTo(platform, { terminal, target, options }),
    { anySecretKey },
  );
  if (made === null) {
    terminal.result(null, () => 'No backup is due, or another process is making it.\n');
    return;
  }
  tellSaved(terminal, made, options.withSecretKey);
}

async function saveDue(platform: Platform): Promise<MadeBackups | null> {
  const { scheduledBackup } = await import('../../app/backup/schedule.ts');
  return scheduledBackup(platform, removedOnInterrupt);
}

async function saveTo(
  platform: Platform,
  { terminal, target, options }: { terminal: Terminal; target: string; options: BackupOptions },
): Promise<MadeBackups> {
  const { saveBackup } = await import('../../app/backup/save.ts');
  const { exportSecretKey } = await import('../../app/export-secret-key.ts');
  const { passphraseFile, recipient, withSecretKey } = options;
  const cells = cellsToSave(platform, options.cell);
  if (cells.length > 1 && !isFolder(target)) {
    throw new CommandError(`there are ${cells.length} cells: name a folder, or one cell with --cell`);
  }
  const lock =
    passphraseFile !== undefined || recipient !== undefined
      ? { passphrase: readSecret(passphraseFile), recipient }
      : platform.config.backup;
  const progress = (table: string, rows: number) =>
    terminal.showsProgress && rows > 0 ? terminal.note(`${table}: ${rows} rows`) : undefined;
  if (withSecretKey !== undefined) await exportSecretKey(platform, withSecretKey);
  try {
    const saved: SavedBackup[] = [];
    for (const db of cells) {
      saved.push(await saveBackup({ db, target, lock, progress, begun: removedOnInterrupt }));
    }
    return { saved, deleted: [] };
  } catch (error) {
    if (withSecretKey !== undefined) rmSync(withSecretKey);
    throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The named cell, or all. Throws CommandError if one cannot be used. */
function cellsToSave({ cells }: Platform, wanted: string | undefined): Platform['db'][] {
  const number = wanted === undefined ? null : readCell(wanted);
  const chosen = cells.list().filter((cell) => number === null || cell.number === number);
  if (chosen.length === 0) throw new CommandError(`there is no cell ${number}: payhook cells list shows all`);
  return chosen.map(({ number: cell, db, problem }) => {
    if (db !== null) return db;
    const others = number === null ? ': back up the others with --cell' : '';
    throw new CommandError(`cell ${cell} ${problem}${others}`);
  });
}

/** The process ends with the command, so nothing is undone. */
const removedOnInterrupt = (partial: string) => void onInterrupt(() => rmSync(partial, { force: true }));

function tellSaved(terminal: Terminal, { saved, deleted }: MadeBackups, keyFile: string | undefined): void {
  const records = saved.map(({ manifest, ...made }) => ({
    ...made,
    cell: manifest.cell ?? 0,
    schema_version: manifest.migrations.at(-1)?.version,
    rows: rowsOf(manifest),
    sums: manifest.sums,
  }));
  const [first, ...others] = records;
  terminal.result({ ...first, deleted, other_cells: others }, () =>
    [
      ...records.flatMap(({ rows, made_at, file, size_bytes, duration_ms, sums }) => [
        `Saved ${rows} rows as of ${made_at} to ${file} (${size(size_bytes)}, ${seconds(duration_ms)}).`,
        ...sums.map(({ of, currency, amount }) => `  ${of}: ${amount} minor units of ${currency}`),
      ]),
      ...deleted.map((name) => `  deleted the older ${name}`),
      keyFile === undefined
        ? 'It does not contain the secret key: see payhook backup --help.'
        : `The secret key is in ${keyFile}: keep it separate from the backup.`,
      '',
    ].join('\n'),
  );
}

async function restoreFile(terminal: Terminal, file: string, options: RestoreOptions): Promise<undefined> {
  refuseRemote();
  const { restoreBackup } = await import('../../app/backup/restore.ts');
  const { openDatabase } = await import('../../app/database.ts');
  const { openCellDatabase } = await import('../../app/cell-database.ts');
  const { refusalOfKeys } = await import('../../app/secret-keys.ts');
  const { setUrls } = await import('../../cells/manage.ts');
  const cell = options.cell === undefined ? 0 : readCell(options.cell);
  const { url = null } = options;
  if (url !== null) await requireUrl(url, '--url');
  if (url !== null && cell === 0)
    throw new UsageError('--url needs --cell: DATABASE_URL names the place of cell 0');
  // encrypted values are copied as they are, and a server needs the key when it starts; the directory encrypts the URL with it
  const config = await readConfigHere(terminal, { needsKey: url !== null });
  const log = await quietLog(config, terminal);
  const isGiven = options.passphraseFile !== undefined || options.identityFile !== undefined;
  const key = isGiven
    ? { passphrase: readSecret(options.passphraseFile), identity: readSecret(options.identityFile) }
    : { passphrase: config.backup.passphrase };
  let problem: string | null = null;
  const endsCredentials = options.endCredentials === true;
  const { manifest, rows, sums, migrated, credentials } = await restoreBackup({
    endsCredentials,
    file,
    key,
    cell,
    open: () =>
      cell === 0
        ? openDatabase(config, { purpose: 'command', log })
        : openCellDatabase(config, { number: cell, url, log }),
    checked(found) {
      terminal.note(
        `The file is complete: ${rowsOf(found)} rows as of ${found.made_at}, by Payhook ${found.program}`,
      );
      problem = refusalOfKeys(config, found.secret_key);
      if (problem !== null) terminal.note(`Before a server starts on it: ${problem}`);
    },
    progress: (table) => (terminal.showsProgress ? terminal.note(`restored ${table}`) : undefined),
  });
  if (url !== null)
    await withPlatform(terminal, (platform) => setUrls(platform, cell, { url, listenUrl: null }));
  const { made_at, migrations, tables } = manifest;
  const schema_version = migrations.at(-1)?.version;
  const result = { file, made_at, cell, schema_version, rows, sums, migrated, secret_key_problem: problem };
  terminal.result({ ...result, credentials, credentials_ended: endsCredentials }, () =>
    [
      `Restored ${file}, as of ${made_at}.`,
      `  rows          ${rows} in ${tables.length} tables, as in the backup`,
      ...sums.map(
        ({ of, currency, amount }) =>
          `  ${of.padEnd(13)} ${amount} minor units of ${currency}, as in the backup`,
      ),
      ...migrated.map((name) => `  migrated      ${name}`),
      ...(url === null
        ? []
        : ['  place         the given URL, which running servers and workers use within seconds']),
      problem === null ? '  secret key    decrypts the encrypted values' : `  secret key    ${problem}`,
      ...tellCredentials(credentials, { made_at, ended: endsCredentials }),
      '',
    ].join('\n'),
  );
}

type Credential = Restored['credentials'][number];

/** The name of each kind of credential, singular and plural, and whether each is listed by name. */
const CREDENTIALS: Readonly<
  Record<Credential['kind'], { readonly one: string; readonly more: string; readonly isNamed: boolean }>
> = {
  api_key: { one: 'API key', more: 'API keys', isNamed: true },
  session: { one: 'session', more: 'sessions', isNamed: false },
  oauth_grant: { one: 'OAuth grant', more: 'OAuth grants', isNamed: true },
  oauth_client_secret: { one: 'OAuth client secret', more: 'OAuth client secrets', isNamed: true },
  user_link: { one: 'link for a user', more: 'links for users', isNamed: true },
  portal_link: { one: 'portal link', more: 'portal links', isNamed: true },
  endpoint_token: { one: 'token of a pull endpoint', more: 'tokens of pull endpoints', isNamed: true },
};
const MOST_NAMED = 50;

function tellCredentials(
  credentials: readonly Credential[],
  { made_at, ended }: { made_at: string; ended: boolean },
): string[] {
  if (credentials.length === 0) return [];
  const counts = Object.entries(CREDENTIALS).flatMap(([kind, { one, more }]) => {
    const of = credentials.filter((each) => each.kind === kind).length;
    return of === 0 ? [] : [`${of} ${of === 1 ? one : more}`];
  });
  const named = credentials.filter(({ kind }) => CREDENTIALS[kind].isNamed);
  const left = named.length - MOST_NAMED;
  return [
    ended
      ? `  credentials   ended: ${counts.join(', ')}`
      : `  credentials   valid as of ${made_at}, including those revoked since: ${counts.join(', ')}`,
    ...named
      .slice(0, MOST_NAMED)
      .map(
        ({ kind, account_id, id, name }) =>
          `    ${CREDENTIALS[kind].one} ${printable([name, id].filter((each) => each !== null).join(' '))} of ${account_id}`,
      ),
    ...(left > 0 ? [`    and ${left} more: --json lists all`] : []),
    ended
      ? '    Sign in with a password, or create a key with payhook keys create. Give each application a new client secret.'
      : '    Revoke again what was revoked since; --end-credentials ends all.',
  ];
}

const rowsOf = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0);
const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** The trimmed text of a file. Throws CommandError if it is missing or empty. */
function readSecret(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CommandError(unreadable(path, error));
  }
  if (text === '') throw new CommandError(`${path} is empty`);
  return text;
}
