import type { ImportPart } from '../affiliates/import-part.ts';
import { STAGED_PROFILE, TAX_COLUMNS } from './import-cells.ts';
import { refuseMisfits, writeStaged } from './import-store.ts';

/** The tax profile as a part of an import. A line without one leaves the one there is. */
export const taxProfilePart: ImportPart = {
  columns: TAX_COLUMNS,
  staged: STAGED_PROFILE,
  refuse: refuseMisfits,
  write: writeStaged,
};
