import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import type { FileSetId } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import type { Payer } from '../../people/accounts/record.ts';
import type { Of } from './file-sets.ts';
import type { SetChoices } from './format.ts';
import { FORMATS } from './formats.ts';
import { identityOf } from './identity.ts';
import { settled } from './settled.ts';

interface Downloaded {
  readonly id: FileSetId;
  readonly format: string;
  readonly currency: string;
  readonly content: string | null;
  readonly is_current: boolean;
  readonly is_of_revision: boolean;
  readonly choices: Json<SetChoices>;
}

/**
 * The file sets of an unpaid payout that are outdated: a download would now give another file, because another set was
 * downloaded since or the content changed. Sets of earlier versions have no content and are compared by revision.
 */
export async function outdatedSets(db: Reader, of: Of, payer: Payer): Promise<FileSetId[]> {
  const sets = await rows<Downloaded>(
    db,
    sql`select s.id, s.format, s.currency, s.content, s.is_current, s.revision = p.revision as is_of_revision, s.choices::text as choices
        from payment_file_sets s join payouts p on p.account_id = s.account_id and p.id = s.payout_id
        where s.account_id = ${of.account} and s.payout_id = ${of.payout}`,
  );
  const outdated: FileSetId[] = [];
  for (const set of sets) if (!(await isCurrent(db, of, payer, set))) outdated.push(set.id);
  return outdated;
}

async function isCurrent(db: Reader, of: Of, payer: Payer, set: Downloaded): Promise<boolean> {
  if (!set.is_current) return false;
  if (set.content === null) return set.is_of_revision;
  const known = FORMATS.find(({ name }) => name === set.format);
  if (known === undefined) return false;
  const choices = fromJson(set.choices);
  const payments = {
    ...of,
    format: settled(known, payer, choices.rows_per_file),
    wholeUnits: choices.whole_units === 'down',
  };
  const file = {
    currency: set.currency,
    sourceCurrency: choices.source_currency ?? null,
    isInstant: known.choices.includes('instant') && (choices.instant ?? payer.debtor?.is_instant ?? false),
  };
  const { content } = await identityOf(db, { payments, file, payer });
  return content === set.content;
}
