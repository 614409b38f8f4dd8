import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';

const MB = 1024 ** 2;
const GB = 1024 ** 3;

/**
 * The settings PostgreSQL is started with. In: the data folder, to see the room on its disk.
 * Out: name -> value as for `-c`. Given on the command line so that a newer Payhook changes them for old data.
 */
export function serverSettings(dataDir: string): Record<string, string> {
  const memory = availableMemory();
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: '200',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    shared_buffers: megabytes(clamp(memory / 8, 128 * MB, GB)),
    effective_cache_size: megabytes(memory / 2),
    maintenance_work_mem: megabytes(clamp(memory / 32, 64 * MB, 256 * MB)),
    work_mem: '16MB',
    wal_compression: 'pglz',
    min_wal_size: '256MB',
    max_wal_size: megabytes(walSize(dataDir)),
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    jit: 'off',
    TimeZone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Statements and their details may contain a customer's data; the program reports its own failed queries.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(smallSharedMemory() ? { dynamic_shared_memory_type: 'mmap' } : {}),
  };
}

function availableMemory(): number {
  const limit = process.constrainedMemory();
  // Without a limit of the container Node reports 0 or an absurdly large number.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function walSize(dataDir: string): number {
  const free = freeBytes(dataDir);
  if (free > 64 * GB) return 8 * GB;
  // On a disk this small the log would fill it before the first checkpoint that could shrink it.
  return free > 16 * GB ? 4 * GB : GB;
}

function smallSharedMemory(): boolean {
  // Docker gives /dev/shm 64 MB: a parallel query would fail with "could not resize shared memory segment".
  return process.platform === 'linux' && freeBytes('/dev/shm') < 256 * MB;
}

function freeBytes(folder: string): number {
  try {
    const disk = statfsSync(folder);
    return disk.bavail * disk.bsize;
  } catch {
    return 0;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / MB)}MB`;
}
