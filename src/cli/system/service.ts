import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { type Config, readConfig } from '../../kernel/config.ts';
import { programPath, ROOT } from '../../kernel/installation.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { NEW_SETTINGS, type Program, SCRIPT_HEAD, SERVICE, scriptOf, unitOf } from './service-files.ts';

const INSTALL_HELP = `


For Linux with systemd, as root. It creates whatever is missing: the user payhook, the data folder /var/lib/payhook, the settings in
/etc/payhook.env, the unit payhook.service, which may only write to that folder, and /usr/local/sbin/payhook, which runs commands as
this user with these settings. It does not start the service.

Run it again after an upgrade, or after changing DATA_DIR, BACKUP_TO or SHUTDOWN_DELAY_MS: it updates the unit and keeps the settings.

Examples:
  $ payhook service install --dry-run
  $ payhook service install && systemctl enable --now payhook
`;

const UNINSTALL_HELP = `
Stops the service, and removes its unit and its command script. The user, the settings and the data stay.

Example:
  $ payhook service uninstall
`;

/** One step of the installation. */
interface Step {
  readonly what: string;
  /** The command or the content of the file. */
  readonly text: string;
  readonly action: 'create' | 'update' | 'unchanged';
  carryOut(): void;
}

/** `payhook service install|uninstall`. */
export function addService(service: Command, cli: Cli): void {
  service
    .command('install')
    .description('install this program as a systemd service: user, folder, settings, unit')
    .option('--dry-run', 'show the files and commands, and change nothing')
    .option('--json', 'print {dry_run, steps}; each step {what, action, text}')
    .addHelpText('after', INSTALL_HELP)
    .action(({ dryRun = false }: { dryRun?: boolean }) => cli.run(async () => install(cli, dryRun)));
  service
    .command('uninstall')
    .description('remove the systemd service; data and settings stay')
    .option('--json', 'print {removed}, a list of files')
    .addHelpText('after', UNINSTALL_HELP)
    .action(() => cli.run(async () => uninstall(cli)));
}

function install({ terminal }: Cli, dryRun: boolean): undefined {
  requireLinux();
  if (!dryRun) requireRoot('--dry-run shows what it would do');
  const program = thisProgram();
  const steps: { what: string; action: string; text: string }[] = [];
  const next = (step: Step) => {
    if (!dryRun && step.action !== 'unchanged') step.carryOut();
    steps.push({ what: step.what, action: step.action, text: step.text });
  };
  next(userStep());
  next(settingsStep());
  const { writes, stopSeconds } = needsOf(settings());
  next(folderStep(SERVICE.state));
  for (const folder of writes) next(folderStep(folder, { keepsRights: true }));
  next(fileStep(SERVICE.unit, unitOf(program, { writes, stopSeconds }), 0o644));
  next(scriptStep(scriptOf(program)));
  if (!dryRun) reload();
  terminal.result({ dry_run: dryRun, steps }, () =>
    steps.map((step) => (dryRun ? `${lineOf(step)}${indented(step.text)}` : lineOf(step))).join(''),
  );
  if (!dryRun) terminal.note(NEXT);
}

const NEXT = `
Next: edit the settings in ${SERVICE.settings}, check them with payhook doctor, and run systemctl enable --now payhook.
If the service is already running: systemctl restart payhook.`;

const lineOf = ({ what, action }: { what: string; action: string }) => `${action.padEnd(9)}  ${what}\n`;
const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '    ');

function uninstall({ terminal }: Cli): undefined {
  requireLinux();
  requireRoot('it removes files from /etc');
  const hasUnit = existsSync(SERVICE.unit);
  if (hasUnit && hasSystemd()) run('systemctl', ['disable', '--now', 'payhook.service']);
  const removed = [
    ...(hasUnit ? [SERVICE.unit] : []),
    ...(existsSync(SERVICE.script) && isOurScript() ? [SERVICE.script] : []),
  ];
  for (const file of removed) rmSync(file);
  reload();
  terminal.result({ removed }, () =>
    removed.length === 0
      ? 'No service is installed.\n'
      : removed.map((file) => `removed  ${file}\n`).join(''),
  );
  terminal.note(`The user ${SERVICE.user}, ${SERVICE.settings} and ${SERVICE.state} stay.`);
}

function requireLinux(): void {
  if (process.platform !== 'linux') throw new CommandError('this needs systemd on Linux');
}

function requireRoot(otherwise: string): void {
  if (process.geteuid?.() === 0) return;
  throw new CommandError(`run this as root: ${otherwise}`);
}

/** The running program. Throws CommandError if the user of the service cannot read it, or others can write to it. */
function thisProgram(): Program {
  const program = { node: realpathSync(process.execPath), main: realpathSync(programPath()) };
  if (!isForAll(program.node)) {
    throw new CommandError(
      `Node is ${program.node}, which the service cannot reach: install Node for all users, for example in /usr`,
    );
  }
  if (!isForAll(program.main)) {
    throw new CommandError(
      `the program is in ${dirname(program.main)}, which the service cannot reach: install it in /opt/payhook, for example`,
    );
  }
  refuseWritable('Node', [program.node]);
  refuseWritable('the program', filesBelow(realpathSync(fileURLToPath(ROOT))));
  return program;
}

/** A folder and everything in it, without following links. */
const filesBelow = (folder: string): string[] => [
  folder,
  ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
];

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder only the owner of a file may replace it. */
const STICKY = 0o1000;

/**
 * Throws CommandError if a user other than root can change what the service and root's commands run: one of these
 * files (the first contains the others), or a folder that leads to them.
 */
function refuseWritable(what: string, files: readonly string[]): void {
  const [first = ''] = files;
  for (const path of [...foldersAbove(first), ...files]) {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) continue; // it was removed after the folder was read
    const isOpen = !entry.isSymbolicLink() && (entry.mode & WRITABLE_BY_OTHERS) !== 0;
    if (entry.uid === 0 && (!isOpen || (entry.mode & STICKY) !== 0)) continue;
    const who =
      entry.uid === 0
        ? `mode 0${(entry.mode & 0o7777).toString(8)}`
        : `it belongs to the user with id ${entry.uid}`;
    throw new CommandError(
      `users other than root can write to ${path} (${who}), and the service and root's commands would run ${what} from there: ` +
        `chown -R root:root ${first} && chmod -R go-w ${first}, or install it where only root can write`,
    );
  }
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === file ? [] : [...foldersAbove(folder), folder];
}

/** Folders that the unit hides (ProtectHome, PrivateTmp). */
const CLOSED = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

/** Whether any user can read a file, also within the service. */
function isForAll(file: string): boolean {
  if (CLOSED.test(file) || (statSync(file).mode & 0o004) === 0) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** The settings of the service, or those of a new one. */
function settings(): Config {
  const text = existsSync(SERVICE.settings) ? readFileSync(SERVICE.settings, 'utf8') : NEW_SETTINGS;
  return readConfig(parseEnv(text));
}

/** The inputs of the unit: further folders, and how long the server may take to stop. */
function needsOf({ dataDir, backup, shutdownDelayMs }: Config): { writes: string[]; stopSeconds: number } {
  const folders = [dataDir, ...(backup.folder === undefined ? [] : [backup.folder])];
  const isOutside = (folder: string) => relative(SERVICE.state, folder).startsWith('..');
  const longest = 20 + 5;
  return {
    writes: [...new Set(folders.filter(isOutside))],
    stopSeconds: Math.ceil(shutdownDelayMs / 1000) + longest,
  };
}

function userStep(): Step {
  const args = ['--system', '--user-group', '--no-create-home', '--home-dir', SERVICE.state];
  const words = [...args, '--shell', '/usr/sbin/nologin', SERVICE.user];
  return {
    what: `user ${SERVICE.user}`,
    text: `useradd ${words.join(' ')}\n`,
    action: idOf('-u') === null ? 'create' : 'unchanged',
    carryOut: () => run('useradd', words),
  };
}

/** A folder of the service. A folder chosen by the operator keeps its rights: it may be a mounted disk, or shared. */
function folderStep(folder: string, { keepsRights = false } = {}): Step {
  const args = ['-d', '-m', '700', '-o', SERVICE.user, '-g', SERVICE.user, folder];
  const there = existsSync(folder) ? statSync(folder) : null;
  const isRight = there !== null && there.uid === idOf('-u') && (there.mode & 0o7777) === 0o700;
  return {
    what: folder,
    text: `install ${args.join(' ')}\n`,
    action: there === null ? 'create' : isRight || keepsRights ? 'unchanged' : 'update',
    carryOut: () => run('install', args),
  };
}

/** The settings are written once. Their rights are set each time, because they may contain passwords. */
function settingsStep(): Step {
  const there = existsSync(SERVICE.settings);
  const text = there ? `chown root:${SERVICE.user} and chmod 640; the content stays\n` : NEW_SETTINGS;
  const { mode = 0, gid = -1, uid = -1 } = there ? statSync(SERVICE.settings) : {};
  const isRight = uid === 0 && gid === idOf('-g') && (mode & 0o7777) === 0o640;
  return {
    what: SERVICE.settings,
    text,
    action: there ? (isRight ? 'unchanged' : 'update') : 'create',
    carryOut() {
      if (!there) writeFileSync(SERVICE.settings, NEW_SETTINGS, { mode: 0o600, flag: 'wx' });
      chownSync(SERVICE.settings, 0, idOf('-g') ?? 0);
      chmodSync(SERVICE.settings, 0o640);
    },
  };
}

function fileStep(path: string, text: string, mode: number): Step {
  const there = existsSync(path);
  const isRight = there && readFileSync(path, 'utf8') === text && (statSync(path).mode & 0o7777) === mode;
  return {
    what: path,
    text,
    action: !there ? 'create' : isRight ? 'unchanged' : 'update',
    carryOut() {
      run('install', ['-d', '-m', '755', dirname(path)]);
      writeFileSync(path, text);
      chmodSync(path, mode);
    },
  };
}

/** Throws CommandError if the script's path is taken by another file. */
function scriptStep(text: string): Step {
  if (existsSync(SERVICE.script) && !isOurScript()) {
    throw new CommandError(`${SERVICE.script} was not written by payhook service install: move it away`);
  }
  return fileStep(SERVICE.script, text, 0o755);
}

const isOurScript = () => readFileSync(SERVICE.script, 'utf8').startsWith(SCRIPT_HEAD);

/** Whether systemd runs this machine. In a container or a chroot, only the files are created. */
const hasSystemd = () => existsSync('/run/systemd/system');

function reload(): void {
  if (hasSystemd()) run('systemctl', ['daemon-reload']);
}

/** The user or group id (`-u`, `-g`); null if there is no such user. */
function idOf(which: '-u' | '-g'): number | null {
  const { status, stdout } = spawnSync('id', [which, SERVICE.user], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : null;
}

/** Runs a system program. Throws CommandError with its output if it fails. */
function run(program: string, args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  throw new CommandError(`${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
}
