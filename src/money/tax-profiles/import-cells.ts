import { checkedCountry } from '../../contract/addresses.ts';
import type { TaxProfileId } from '../../kernel/ids.ts';
import { nameFrom } from '../../kernel/names.ts';
import { readTaxId } from '../../terms/tax-ids.ts';
import { TAX_FORMS, TAX_ID_TYPES, type TaxIdType } from '../../terms/taxes.ts';
import { LEGAL_TYPES } from '../affiliates/fields.ts';
import { CellError, type Cells, cell, readEach } from '../files/csv-import.ts';
import type { PartReader } from '../files/import-part.ts';
import { byteaText, newSealedId } from '../ledger/sealed-numbers.ts';
import { dayFrom, formRule } from './check.ts';
import { type Sealer, sealTaxId } from './sealed.ts';

/** The columns of a tax profile in a file of affiliates; `legal_type` is a column of the affiliate too. */
export const TAX_COLUMNS = [
  'legal_name',
  'tax_country',
  'address_line1',
  'address_line2',
  'address_postal_code',
  'address_city',
  'address_region',
  'tax_id',
  'tax_id_type',
  'tax_form',
  'tax_form_signed_on',
  'tax_form_document',
  'self_billing_agreed_on',
  'self_billing_agreed_by',
  'self_billing_document',
] as const;
type Column = (typeof TAX_COLUMNS)[number];

export const STAGED_PROFILE = 'tax_profile';

/** Reads the tax profile of a line; its tax id is sealed before it leaves the thread. */
export const taxProfileReader = (sealer: Sealer): PartReader => ({
  columns: TAX_COLUMNS,
  staged: STAGED_PROFILE,
  read: (cells) => stagedText(sealer, cells),
});

/** The profile of a line as JSON; null when it says nothing of one. */
function stagedText(sealer: Sealer, cells: Cells): string | null {
  // the kind of a number says nothing without the number
  if (TAX_COLUMNS.every((column) => column === 'tax_id_type' || cells[column] == null)) return null;
  const { tax_id, ...profile } = profileIn(cells);
  const id = newSealedId<TaxProfileId>();
  const sealed = tax_id && sealTaxId(sealer, id, tax_id);
  return JSON.stringify({
    id,
    ...profile,
    tax_id_type: sealed?.type ?? null,
    number: byteaText(sealed?.number ?? null),
    number_mark: byteaText(sealed?.mark ?? null),
    ending: sealed?.ending ?? null,
  });
}

/** Throws CellError with the rules of the API, by the columns of the file. */
function profileIn(cells: Cells) {
  const optional = (column: Column, most: number) => {
    const text = cell.limited(column, cells[column], most);
    return text === undefined ? null : nameFrom(text.normalize('NFC'), column);
  };
  const needed = (column: Column, most: number, why = 'a tax profile') =>
    optional(column, most) ?? missing(column, why);
  const hasForm = hasAny(cells, 'tax_form', 'tax_form_signed_on', 'tax_form_document');
  const hasAgreed = hasAny(
    cells,
    'self_billing_agreed_on',
    'self_billing_agreed_by',
    'self_billing_document',
  );
  const day = (column: Column, why: string) => dayFrom(needed(column, 40, why), column);
  const formType = () =>
    cell.oneOf('tax_form', cells.tax_form, TAX_FORMS) ?? missing('tax_form', 'a tax form');
  const { read, wrong } = readEach({
    legal_type: () => legalTypeIn(cells, hasForm),
    legal_name: () => needed('legal_name', 200),
    country: () => checkedCountry('tax_country', needed('tax_country', 40)),
    line1: () => needed('address_line1', 200),
    line2: () => optional('address_line2', 200),
    postal_code: () => optional('address_postal_code', 20),
    city: () => needed('address_city', 100),
    region: () => optional('address_region', 100),
    tax_id: () => taxIdIn(cells),
    form: () => (hasForm ? formType() : null),
    signed_on: () => (hasForm ? day('tax_form_signed_on', 'a tax form') : null),
    form_document: () => optional('tax_form_document', 500),
    agreed_on: () => (hasAgreed ? day('self_billing_agreed_on', 'an agreement') : null),
    agreed_by: () => (hasAgreed ? needed('self_billing_agreed_by', 200, 'an agreement') : null),
    document: () => optional('self_billing_document', 500),
  });
  if (wrong.length > 0) throw new CellError(...wrong);
  const { line1, line2, postal_code, city, region, agreed_on, agreed_by, document, ...rest } = read;
  return {
    ...rest,
    address: { line1, line2, postal_code, city, region },
    self_billing: hasAgreed ? { agreed_on, agreed_by, document } : null,
  };
}

function legalTypeIn({ legal_type, tax_form }: Cells, hasForm: boolean): string {
  const type = cell.oneOf('legal_type', legal_type, LEGAL_TYPES) ?? missing('legal_type', 'a tax profile');
  const misfit = hasForm && tax_form != null ? formRule(type, tax_form) : null;
  if (misfit !== null) throw new CellError(`tax_form ${misfit}`);
  return type;
}

function taxIdIn({ tax_id, tax_id_type }: Cells): { type: TaxIdType; number: string } | null {
  const text = cell.limited('tax_id', tax_id, 60);
  if (text === undefined) return null;
  const named = cell.oneOf('tax_id_type', tax_id_type, TAX_ID_TYPES) ?? missing('tax_id_type', 'a tax_id');
  const type = named as TaxIdType;
  const read = readTaxId(type, text);
  if ('rule' in read) throw new CellError(`tax_id ${read.rule}`);
  return { type, number: read.value };
}

const hasAny = (cells: Cells, ...columns: readonly Column[]) =>
  columns.some((column) => cells[column] != null);

function missing(column: string, with_: string): never {
  throw new CellError(`${column} is required with ${with_}`);
}
