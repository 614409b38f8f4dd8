import type { Principal } from '../../contract/route.ts';
import type { Reader, ReplicaState } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { programVersion } from '../../kernel/version.ts';
import type { System } from './record.ts';
import { isFirstAccount, readState } from './store.ts';

/** What the server knows of the installation, besides the database. */
interface Surroundings {
  /** Room on the disk of the data folder, in bytes. */
  readonly disk: System['disk'];
  readonly replica: ReplicaState | null;
}

/**
 * The state of the installation, for its operator: the command line on its machine, and keys and owners of the
 * account that was made first. Throws `installation_only`.
 */
export async function describeSystem(
  db: Reader,
  who: Principal,
  { disk, replica }: Surroundings,
): Promise<Json<System>> {
  if (who.kind !== 'operator' && (db.cell !== 0 || !(await isFirstAccount(db, who.account)))) {
    throw fail(
      'installation_only',
      'only the account that was created first, and the command line on the machine, can see this',
    );
  }
  return extended(await readState(db), {
    version: toJson(programVersion()),
    replica: toJson(replica && describeReplica(replica)),
    disk: toJson(disk),
  });
}

const describeReplica = ({ problem, lagMs, lagBytes }: ReplicaState): NonNullable<System['replica']> => ({
  is_used: problem === null,
  problem: problem && `the replica ${problem}`,
  lag_ms: lagMs,
  lag_bytes: lagBytes,
});
