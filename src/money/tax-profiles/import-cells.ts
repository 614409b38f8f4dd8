import {
  importFields,
  normalValue,
  type SingleField,
  singly,
  type WritableField,
} from '../../contract/fields.ts';
import type { TaxProfileId } from '../../kernel/ids.ts';
import { readTaxId } from '../../terms/tax-ids.ts';
import { TAX_ID_TYPES, type TaxIdType } from '../../terms/taxes.ts';
import { LEGAL_TYPES } from '../affiliates/fields.ts';
import { CellError, type Cells, cell, readEach } from '../files/csv-import.ts';
import { privateCell } from '../files/field-cells.ts';
import type { PartReader } from '../files/import-part.ts';
import { byteaText, newSealedId } from '../ledger/sealed-numbers.ts';
import { agreementRule, formRule } from './check.ts';
import { TAX_PROFILE_FIELDS } from './fields.ts';
import { type Sealer, sealTaxId } from './sealed.ts';

/** The columns of a tax profile in a file of affiliates; `legal_type` is a column of the affiliate too. */
export const TAX_COLUMNS = Object.keys(importFields(TAX_PROFILE_FIELDS));

export const STAGED_PROFILE = 'tax_profile';

/** Reads the tax profile of a line; its tax id is sealed before it leaves the thread. */
export const taxProfileReader = (sealer: Sealer): PartReader => ({
  columns: TAX_COLUMNS,
  staged: STAGED_PROFILE,
  read: (cells) => stagedText(sealer, cells),
});

/** The profile of a line as JSON; null when it has none. */
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
  const fields = singly(TAX_PROFILE_FIELDS).filter(({ field }) => field.import);
  const readers = fields.map((each) => [each.name, () => valueIn(cells, each)] as const);
  const { read, wrong } = readEach<Record<string, () => string | null>>({
    legal_type: () => legalTypeIn(cells),
    ...Object.fromEntries(readers),
    'tax_id.number': () => taxNumberIn(cells),
  });
  if (wrong.length > 0) throw new CellError(...wrong);
  const { legal_type, legal_name, country, siren, electronic_address } = read;
  const partsOf = (object: string) =>
    Object.fromEntries(
      fields.flatMap(({ name }) =>
        name.startsWith(`${object}.`) ? [[name.slice(object.length + 1), read[name]]] : [],
      ),
    );
  const { type: form = null, signed_on = null, document: form_document = null } = partsOf('form');
  const number = read['tax_id.number'];
  return {
    ...{ legal_type, legal_name, country, address: partsOf('address'), siren, electronic_address },
    ...{ form, signed_on, form_document },
    self_billing: read['self_billing.agreed_on'] ? agreementIn(partsOf('self_billing')) : null,
    tax_id: number ? { type: read['tax_id.type'] as TaxIdType, number } : null,
  };
}

function agreementIn(agreement: Record<string, string | null | undefined>) {
  const { agreed_on, expires_on } = agreement;
  const ended = agreementRule({ agreed_on: String(agreed_on), expires_on });
  if (ended !== null) throw new CellError(`self_billing_expires_on ${ended}`);
  return agreement;
}

/** The value of a field. An object that is required, or has a cell, needs its required parts. */
function valueIn(cells: Cells, { name, field, object }: SingleField): string | null {
  const column = field.import?.column ?? name;
  const value = privateCell(field, name, cells);
  if (value !== undefined) return normalValue(field, value, column) as string;
  const isNeeded = field.isRequired && (!object || object.isRequired || isGiven(cells, object));
  return isNeeded ? missing(column, object?.label ?? 'a tax profile') : null;
}

const isGiven = (cells: Cells, { parts = {} }: WritableField) =>
  // the kind of a number says nothing without the number
  Object.keys(importFields(parts)).some((column) => column !== 'tax_id_type' && cells[column] != null);

function legalTypeIn({ legal_type, tax_form, tax_country }: Cells): string {
  const type = cell.oneOf('legal_type', legal_type, LEGAL_TYPES) ?? missing('legal_type', 'a tax profile');
  const misfit =
    tax_form == null ? null : formRule({ legal_type: type, country: tax_country ?? '', form: tax_form });
  if (misfit !== null) throw new CellError(`tax_form ${misfit}`);
  return type;
}

function taxNumberIn({ tax_id, tax_id_type }: Cells): string | null {
  const text = cell.limited('tax_id', tax_id, 60);
  // an unknown type is reported for its own column
  if (text === undefined || !isTaxIdType(tax_id_type)) return null;
  const read = readTaxId(tax_id_type, text);
  if ('rule' in read) throw new CellError(`tax_id ${read.rule}`);
  return read.value;
}

const isTaxIdType = (type: string | null | undefined): type is TaxIdType =>
  TAX_ID_TYPES.some((each) => each === type);

function missing(column: string, with_: string): never {
  throw new CellError(`${column} is required with ${with_}`);
}
