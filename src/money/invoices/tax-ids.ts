import sql from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import type { AccountId, InvoiceTaxId } from '../../kernel/ids.ts';
import type { AccountVault, SealedIn } from '../../kernel/vault.ts';
import { endingOf } from '../../terms/tax-ids.ts';
import { markedText, sealedNumbers } from '../ledger/sealed-numbers.ts';
import { markContext } from '../tax-profiles/sealed.ts';

/** The types of tax ids that an invoice can name. */
export type InvoiceTaxIdType = 'vat' | 'other';

const placeOf = (account: AccountId, id: InvoiceTaxId): SealedIn => ({
  account,
  place: `tax id on invoices ${id}`,
});

/** The tax ids in invoice_tax_ids. */
export const invoiceTaxIds = sealedNumbers<InvoiceTaxId>({
  table: 'invoice_tax_ids',
  qualifier: 'tax_id_type',
  placeOf,
  markContext,
  unreadable: {
    what: 'the tax id on invoices',
    remedy: 'take its row of invoice_tax_ids from a backup',
  },
});

/** A tax id to name, in clear. */
export interface NamedTaxId {
  readonly id: InvoiceTaxId;
  readonly affiliate: number;
  readonly type: InvoiceTaxIdType;
  readonly number: string;
}

/** Stores tax ids, sealed. */
export async function keepTaxIds(
  tx: Tx,
  { account, vault }: AccountVault,
  named: readonly NamedTaxId[],
): Promise<void> {
  if (named.length === 0) return;
  const key = await sealingKey(tx);
  const list = named.map(({ id, affiliate, type, number }) => ({
    id,
    affiliate,
    type,
    ending: endingOf(number),
    number: vault.seal(number, placeOf(account, id), key).toString('hex'),
    mark: vault.mark(markedText(type, number), markContext(account), key).toString('hex'),
  }));
  await rows(
    tx,
    sql`insert into invoice_tax_ids (account_id, id, affiliate_id, tax_id_type, number, number_mark, ending)
        select ${account}, id, affiliate, type, decode(number, 'hex'), decode(mark, 'hex'), ending
        from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as g (id uuid, affiliate int8, type text, number text,
          mark text, ending text)`,
  );
}

/** A stored tax id. `number` is null if it was lost with the secret key. */
export interface KeptTaxId {
  readonly id: InvoiceTaxId;
  readonly type: InvoiceTaxIdType;
  readonly number: Buffer | null;
}

/** The tax id in clear, or null if it was lost. */
export const openKept = ({ account, vault }: AccountVault, { id, number }: KeptTaxId): string | null =>
  number === null ? null : vault.open(number, placeOf(account, id));
