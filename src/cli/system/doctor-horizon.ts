import type { Inspection } from '../../app/inspection.ts';
import { count } from '../terminal/money.ts';
import { type Check, check, verdict } from './check.ts';

type Horizon = NonNullable<Inspection['horizon']>;
type Holder = Horizon['holders'][number];

/** A download or a backup may take this long. Older snapshots are reported. */
const LONG_S = 600;
/** The limit for holders without a time, such as a replica. */
const MANY_TRANSACTIONS = 1_000_000;
const MANY_DEAD_ROWS = 50_000;
const DEAD_BESIDE_LIVE = 10;
const SHOWN = 3;
const MEGABYTE = 1e6;

/** What prevents PostgreSQL from removing dead rows, each with a remedy, and the dead rows of the queue. */
export function checkHorizon({ horizon, role }: Pick<Inspection, 'horizon' | 'role'>): Check[] {
  if (horizon === null) return [];
  return [checkSnapshots(horizon, role), checkDeadRows(horizon)];
}

function checkSnapshots({ holders }: Horizon, role: string): Check {
  const name = 'old snapshots';
  const hidden = holders.filter(({ isHidden }) => isHidden).length;
  const old = holders.filter(isOld);
  const lines = old.slice(0, SHOWN).map((holder) => `${describe(holder)}: ${remedyOf(holder)}`);
  if (old.length > SHOWN) lines.push(`and ${old.length - SHOWN} more`);
  if (hidden > 0)
    lines.push(
      `${count(hidden, 'session')} of other roles may keep dead rows, but ${role} may not see since when: ` +
        `grant pg_read_all_stats to ${role}`,
    );
  if (lines.length > 0) return check(name, 'warning', lines.join('; '));
  const [first] = holders;
  return check(
    name,
    'ok',
    first ? `none is older than ten minutes; ${describe(first)}` : 'nothing keeps dead rows',
  );
}

function isOld({ kind, state, seconds, transactions }: Holder): boolean {
  if (kind === 'slot') return state !== 'active' || (transactions ?? 0) >= MANY_TRANSACTIONS;
  return seconds === null ? (transactions ?? 0) >= MANY_TRANSACTIONS : seconds >= LONG_S;
}

/** The holder, and since when. */
function describe({
  kind,
  name,
  user,
  application,
  state,
  since,
  query,
  transactions,
  walBytes,
}: Holder): string {
  const known = (...parts: (string | null | false)[]) => parts.filter((part) => part).join(', ');
  const age = known(
    since && `since ${since}`,
    transactions !== null && `for ${count(transactions, 'transaction')}`,
  );
  const kept = age && `dead rows ${age}`;
  if (kind === 'session') return `session ${name} (${known(user, application, state, query)}) keeps ${kept}`;
  if (kind === 'prepared') return `the prepared transaction ${name} of ${user} keeps ${kept}`;
  if (state === 'active') return `the replica of slot ${name} keeps ${kept}`;
  const wal = walBytes !== null && `${(walBytes / MEGABYTE).toFixed(0)} MB of WAL`;
  return `nobody reads the slot ${name}, which keeps ${known(kept, wal) || 'nothing yet'}`;
}

/** The remedy. */
function remedyOf({ kind, name, state }: Holder): string {
  if (kind === 'session') return `let it finish, or run select pg_terminate_backend(${name})`;
  if (kind === 'prepared') return `run commit prepared ${quoted(name)} or rollback prepared ${quoted(name)}`;
  if (state === 'active') return 'end its long statements, or set hot_standby_feedback = off on it';
  return `start its reader, or run select pg_drop_replication_slot(${quoted(name)})`;
}

const quoted = (name: string) => `'${name.replaceAll("'", "''")}'`;

function checkDeadRows({ deadRows, liveRows }: Horizon): Check {
  const isMany = deadRows >= MANY_DEAD_ROWS && deadRows > DEAD_BESIDE_LIVE * liveRows;
  const detail = `the queue has about ${count(liveRows, 'row')} and ${count(deadRows, 'dead one')}`;
  return check(
    'dead rows',
    verdict(!isMany, 'warning'),
    isMany ? `${detail}: end whatever keeps them, and let autovacuum run` : detail,
  );
}
