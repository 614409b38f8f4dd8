import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Database, Snapshot } from '../db/database.ts';
import { copyOfLines, type Lines, linesOf } from '../db/json-lines.ts';
import { snapshotFacts } from '../db/saved-tables.ts';
import { type AccountId, idOf } from '../kernel/ids.ts';
import { programVersion } from '../kernel/version.ts';
import { record as affiliate } from '../money/affiliates/record.ts';
import { record as commission, payoutJoin } from '../money/commissions/record.ts';
import { record as importRecord } from '../money/imports/record.ts';
import { record as invoice } from '../money/invoices/record.ts';
import { summary } from '../money/ledger/payout-record.ts';
import { payoutLines } from '../money/payouts/export.ts';
import { record as program } from '../money/programs/record.ts';
import { record as refund } from '../money/refunds/record.ts';
import { record as payoutReturn } from '../money/returns/record.ts';
import { record as taxProfile } from '../money/tax-profiles/record.ts';
import { record as account } from '../people/accounts/record.ts';
import { record as application } from '../people/applications/record.ts';
import { record as auditEntry } from '../people/audit/record.ts';
import { record as apiKey } from '../people/keys/record.ts';
import { record as user, withPerson } from '../people/users/record.ts';
import { record as endpoint, stateJoin } from '../webhooks/endpoints/record.ts';
import { deliveryLines, eventLines } from '../webhooks/log/export.ts';

/** The files of an export: the records of the API, which contain no secrets. */
const KINDS: Readonly<Record<string, Lines>> = {
  account: { ...linesOf(account, 'accounts a'), account: 'a.id' },
  users: linesOf(user, 'users u', withPerson),
  'api-keys': linesOf(apiKey, 'api_keys k'),
  'oauth-applications': linesOf(application, 'oauth_applications p'),
  programs: linesOf(program, 'affiliate_programs g'),
  affiliates: linesOf(affiliate, 'affiliates a'),
  'tax-profiles': linesOf(taxProfile, 'affiliate_tax_profiles x'),
  commissions: linesOf(commission, 'commissions c', payoutJoin),
  refunds: linesOf(refund, 'refunds r'),
  payouts: linesOf(summary, 'payouts p'),
  'payout-lines': payoutLines,
  returns: linesOf(payoutReturn, 'payout_returns r'),
  invoices: linesOf(invoice, 'invoices i'),
  imports: linesOf(importRecord, 'imports i'),
  'webhook-endpoints': linesOf(endpoint, 'webhook_endpoints e', stateJoin),
  events: eventLines,
  deliveries: deliveryLines,
  'audit-log': linesOf(auditEntry, 'audit_log l'),
};

/** The description of an export, in `manifest.json`. */
export interface ExportManifest {
  readonly object: 'account_export';
  readonly program: string;
  readonly account_id: string;
  /** The instant of all files. */
  readonly made_at: string;
  readonly files: readonly { readonly name: string; readonly records: number; readonly sha256: string }[];
}

/** An export that cannot be made. The message says what to do. */
export class ExportError extends Error {
  override name = 'ExportError';
}

/**
 * Writes everything of an account (UUID) to a new folder, as of one instant: a JSON lines file for each kind of record,
 * and a manifest. The folder appears complete or not at all. Uses constant memory. Throws ExportError if it exists.
 */
export async function exportAccount(
  db: Database,
  accountId: AccountId,
  target: string,
): Promise<ExportManifest> {
  const folder = resolve(target);
  if (await stat(folder).catch(() => null)) {
    throw new ExportError(`${folder} exists: name a folder that does not`);
  }
  if (!(await stat(dirname(folder)).catch(() => null))?.isDirectory()) {
    throw new ExportError(`${dirname(folder)} is not a folder: create it, or choose another location`);
  }
  const partial = `${folder}.${process.pid}.part`;
  await mkdir(partial, { mode: 0o700 });
  try {
    const manifest = await db.snapshot((snapshot) => writeAll(snapshot, accountId, partial));
    await writeFile(join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`, {
      mode: 0o600,
    });
    await rename(partial, folder);
    return manifest;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function writeAll(db: Snapshot, accountId: AccountId, folder: string): Promise<ExportManifest> {
  const { made_at } = await snapshotFacts(db);
  const files: ExportManifest['files'][number][] = [];
  for (const [kindName, each] of Object.entries(KINDS)) {
    const name = `${kindName}.jsonl`;
    files.push({ name, ...(await writeKind(db, copyOfLines(each, accountId), join(folder, name))) });
  }
  return {
    object: 'account_export',
    program: programVersion(),
    account_id: idOf('acc', accountId),
    made_at,
    files,
  };
}

async function writeKind(
  db: Snapshot,
  copy: string,
  file: string,
): Promise<{ records: number; sha256: string }> {
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const records = await db.copyThrough(copy, (stream) =>
    pipeline(stream, hashed, createWriteStream(file, { mode: 0o600, flags: 'wx' })),
  );
  return { records, sha256: hash.digest('hex') };
}
