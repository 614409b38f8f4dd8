import type { ImportPart } from '../affiliates/import-part.ts';
import { DESTINATION_COLUMNS, STAGED_DESTINATION } from './import-cells.ts';
import { writeStaged } from './import-store.ts';

/** The destination for all currencies as a part of an import. A line without one leaves the one there is. */
export const destinationPart: ImportPart = {
  columns: DESTINATION_COLUMNS,
  staged: STAGED_DESTINATION,
  write: writeStaged,
};
