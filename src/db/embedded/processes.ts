import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * One process, distinguishable from a later one with the same pid: start time in clock ticks since boot, and which
 * boot. Outside Linux both are '0' and only the pid counts.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly boot: string;
}

interface ProcessStat {
  readonly name: string;
  readonly state: string;
  readonly startTime: string;
}

const linux = process.platform === 'linux';

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const startTime = readStat(process.pid)?.startTime ?? '0';
  return { pid: process.pid, startTime, boot: bootId() };
}

/** Whether exactly this process still runs: not a zombie, not another one with its pid, not from before a reboot. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!linux) return pidAnswers(identity.pid);
  const stat = readStat(identity.pid);
  return (
    stat !== null && !isDead(stat) && stat.startTime === identity.startTime && identity.boot === bootId()
  );
}

/** Out: `pid-startTime-boot`, usable as a file name or link target. */
export function formatIdentity(identity: ProcessIdentity): string {
  return `${identity.pid}-${identity.startTime}-${identity.boot}`;
}

/** The reverse of formatIdentity; what follows the third part is ignored. Out: null for any other text. */
export function parseIdentity(text: string): ProcessIdentity | null {
  const match = /^(\d+)-(\d+)-([0-9a-f]+)/.exec(text);
  if (!match?.[1] || !match[2] || !match[3]) return null;
  return { pid: Number(match[1]), startTime: match[2], boot: match[3] };
}

/**
 * What a pid from postmaster.pid is now: `gone` (also a zombie: nobody may ever reap it, and PostgreSQL would
 * refuse to start because of it), `postgres` of this very data folder, `other` (the pid was given to somebody
 * else), or `unknown` (another user's postgres that we may not look into).
 */
export function postmasterState(pid: number, pgdata: string): 'gone' | 'postgres' | 'other' | 'unknown' {
  if (!linux) return pidAnswers(pid) ? darwinState(pid) : 'gone';
  const stat = readStat(pid);
  if (!stat || isDead(stat)) return 'gone';
  if (stat.name !== 'postgres') return 'other';
  const cwd = workingDir(pid);
  if (cwd === null) return readStat(pid) ? 'unknown' : 'gone';
  return cwd === realpathSync(pgdata) ? 'postgres' : 'other';
}

/** Pids of living postgres processes that work in this data folder (Linux; elsewhere always none). */
export function postgresProcessesIn(pgdata: string): number[] {
  if (!linux) return [];
  const folder = realpathSync(pgdata);
  return postgresProcesses().filter((pid) => workingDir(pid) === folder);
}

/** The folders in which living postgres processes of this user work (Linux; elsewhere always none). */
export function postgresFolders(): Set<string> {
  const folders = linux ? postgresProcesses().filter(isOurs).map(workingDir) : [];
  return new Set(folders.filter((folder) => folder !== null));
}

/**
 * Whether a process runs as the effective user of this one (Linux). The owner of its folder in /proc does not say so:
 * that of a process which may not be traced is root.
 */
export function isOurs(pid: number): boolean {
  try {
    const [, effective] = /^Uid:\t\d+\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(effective) === process.geteuid?.();
  } catch {
    return false;
  }
}

function postgresProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = readStat(pid);
      return stat !== null && stat.name === 'postgres' && !isDead(stat);
    });
}

/** Sends a signal; a process that is gone by now is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

let knownBoot: string | null = null;

function bootId(): string {
  knownBoot ??= linux ? readBootId() : '0';
  return knownBoot;
}

function readBootId(): string {
  try {
    return (
      readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').trim().slice(0, 16) || '0'
    );
  } catch {
    return '0';
  }
}

function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may itself contain blanks and parentheses.
    const open = text.indexOf('(');
    const close = text.lastIndexOf(')');
    const fields = text.slice(close + 2).split(' ');
    return { name: text.slice(open + 1, close), state: fields[0] ?? 'X', startTime: fields[19] ?? '0' };
  } catch {
    return null;
  }
}

function isDead(stat: ProcessStat): boolean {
  return stat.state === 'Z' || stat.state === 'X';
}

function workingDir(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function pidAnswers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function darwinState(pid: number): 'gone' | 'postgres' | 'other' {
  const { stdout } = spawnSync('ps', ['-o', 'state=,comm=', '-p', String(pid)], { encoding: 'utf8' });
  const [state = '', ...name] = stdout.trim().split(/\s+/);
  if (state === '' || state.startsWith('Z')) return 'gone';
  return basename(name.join(' ')) === 'postgres' ? 'postgres' : 'other';
}
