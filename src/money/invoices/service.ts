import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type InvoiceId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import type { StoredDocument } from './document.ts';
import type { OpenedDocument } from './files.ts';
import type { Invoice } from './record.ts';
import { type DocumentRow, readDocument, readInvoice } from './store.ts';
import { openKept } from './tax-ids.ts';

const missing = () => fail('resource_missing', 'no such invoice');

function idFrom(text: string): InvoiceId {
  const id = uuidOf('inv', text);
  if (id === null) throw missing();
  return id;
}

/** An invoice or credit note. Throws `resource_missing`. */
export async function getInvoice(db: Reader, account: AccountId, id: string): Promise<Json<Invoice>> {
  const json = await readInvoice(db, account, idFrom(id));
  if (json === null) throw missing();
  return json;
}

/** The content, and the electronic addresses as they are now. Throws `resource_missing`, `tax_id_lost`. */
export async function getDocument(db: Reader, holder: AccountVault, id: string): Promise<OpenedDocument> {
  const found = await readDocument(db, holder.account, idFrom(id));
  if (found === null) throw missing();
  return openDocument(holder, found);
}

/** A stored document with the tax id. Throws `tax_id_lost`. */
export function openDocument(holder: AccountVault, found: DocumentRow): OpenedDocument {
  const { seller, ...rest } = JSON.parse(found.document) as StoredDocument;
  const { tax_id: place, tax_id_type: type, number } = found;
  const taxId = place === null || type === null ? null : openKept(holder, { id: place, type, number });
  if (place !== null && taxId === null) {
    throw fail(
      'tax_id_lost',
      'the tax id of the affiliate was lost with the secret key, so no file can be made',
    );
  }
  const ids = { vat_id: type === 'vat' ? taxId : null, tax_number: type === 'other' ? taxId : null };
  return {
    invoice: { ...rest, seller: { ...seller, ...ids } },
    at: Number(found.at),
    delivery: {
      seller: found.seller_address,
      buyer: found.buyer_address,
      reference: `Payout ${found.payout}`,
    },
  };
}
