import sql, { raw } from 'sql-template-tag';
import { Type } from 'typebox';
import { nullable } from '../../contract/schemas.ts';
import { rows, type Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { digestPrefix, type Vault } from '../../kernel/vault.ts';

/*
 * Keyed digests of uploaded and downloaded files. A plain digest would leak the content: with the rest of the file known,
 * a tax number is found by trying a billion. Equal files of an account have equal digests until the secret key changes;
 * older digests are then dropped.
 */

/** The tables with digests of files, each with the column `file_digest`. */
const TABLES = ['imports', 'payout_results', 'payment_file_downloads'].map((table) => raw(table));

/** The digest to store for a file. `sha256` is the SHA-256 of its bytes. */
export async function fileDigest(tx: Tx, vault: Vault, account: AccountId, sha256: Buffer): Promise<Buffer> {
  return vault.digest(sha256, `files ${account}`, await sealingKey(tx));
}

/** The field `digest` in records. */
export const digestField = nullable(
  Type.String({
    description:
      'a keyed digest of the file, hexadecimal: equal for equal files of the account until the secret key of the server ' +
      'changes; null if dropped since, or if the download was cut off',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
);

/** SQL for a digest as shown in records: hexadecimal, without the key's name. */
export const shownDigest = (column: string) => `encode(substring(${column} from 9), 'hex')`;

/** Drops digests made under another key. `holdSealing` keeps others from writing digests meanwhile. */
export async function dropOtherDigests(tx: Tx, fingerprint: string): Promise<void> {
  const prefix = digestPrefix(fingerprint);
  for (const table of TABLES) {
    await rows(
      tx,
      sql`update ${table} set file_digest = null where substring(file_digest for ${prefix.length}::int) <> ${prefix}`,
    );
  }
}
