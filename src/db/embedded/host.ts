import { tmpdir } from 'node:os';
import { readPreloads } from '../../kernel/config.ts';

/** What the launcher needs to know about the machine; a test passes another one. */
export interface Host {
  /** Effective user id; null where the system has none. */
  readonly uid: number | null;
  /** Where `unshare`, `setpriv` and `sh` are searched, as in PATH. */
  readonly searchPath: string;
  /** A folder for what cannot be in the data folder (long socket paths, copies for another user). */
  readonly tempDir: string;
  /** Variables that make the loader preload something into PostgreSQL too. */
  readonly preloads: Readonly<Record<string, string>>;
  /** The `native` folder of the PostgreSQL package; null = the one in node_modules. */
  readonly nativeDir: string | null;
}

export type Log = (level: 'info' | 'warn', message: string, details?: Record<string, unknown>) => void;

/** The machine this process runs on. Out: a Host; reads no environment variable but TMPDIR (os.tmpdir) and what is preloaded. */
export function thisHost(): Host {
  return {
    uid: process.geteuid?.() ?? null,
    searchPath: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    tempDir: tmpdir(),
    preloads: readPreloads(),
    nativeDir: null,
  };
}
