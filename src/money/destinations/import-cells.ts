import { importFields, writable } from '../../contract/fields.ts';
import type { DestinationId } from '../../kernel/ids.ts';
import type { DestinationType } from '../../terms/payments.ts';
import { CellError, type Cells, readEach } from '../files/csv-import.ts';
import { privateCell } from '../files/field-cells.ts';
import type { PartReader } from '../files/import-part.ts';
import { byteaText, newSealedId } from '../ledger/sealed-numbers.ts';
import { type CheckedDestination, judgeDestination } from './check.ts';
import { DESTINATION_FIELDS } from './fields.ts';
import type { NewDestination } from './record.ts';
import { type Sealer, sealDestination } from './sealed.ts';

const IMPORTED = writable(DESTINATION_FIELDS).filter(([, field]) => field.import !== null);

/** The columns of a destination in a file of affiliates. */
export const DESTINATION_COLUMNS = Object.keys(importFields(DESTINATION_FIELDS));

export const STAGED_DESTINATION = 'destination';

/** Reads the destination of a line; its number is sealed before it leaves the thread. */
export const destinationReader = (sealer: Sealer): PartReader => ({
  columns: DESTINATION_COLUMNS,
  staged: STAGED_DESTINATION,
  read: (cells) => {
    const destination = destinationIn(cells);
    return destination && stagedText(sealer, destination);
  },
});

function stagedText(sealer: Sealer, destination: CheckedDestination): string {
  const id = newSealedId<DestinationId>();
  const { number, number_mark, ...rest } = sealDestination(sealer, id, destination);
  return JSON.stringify({ id, ...rest, number: byteaText(number), number_mark: byteaText(number_mark) });
}

/** The destination of a line; null when it has none. Throws CellError with the rules of the API. */
function destinationIn(cells: Cells): CheckedDestination | null {
  // the type of an account alone is no destination
  if (DESTINATION_COLUMNS.every((column) => column === 'account_type' || cells[column] == null)) return null;
  const { read, wrong } = readEach(
    Object.fromEntries(IMPORTED.map(([name, field]) => [name, () => privateCell(field, name, cells)])),
  );
  const type = (read.type ?? typeOf(cells)) as DestinationType | null;
  if (type === null) {
    const unknown = 'destination_type is empty, and there is neither iban nor account_number';
    throw new CellError(...wrong, ...(cells.destination_type == null ? [unknown] : []));
  }
  const given = Object.entries(read).filter(
    ([name, text]) => text != null && (name !== 'account_type' || type === 'ach'),
  );
  const input = { ...Object.fromEntries(given), type, currency: null };
  const { destination, problems } = judgeDestination(input as NewDestination & { currency: null });
  // a cell that could not be read is not also missing
  const more = problems.filter(([field]) => !wrong.some((message) => message.startsWith(`${field} `)));
  if (wrong.length + more.length > 0)
    throw new CellError(...wrong, ...more.map((problem) => problem.join(' ')));
  return destination;
}

const typeOf = ({ iban, routing_number, account_number }: Cells): DestinationType | null => {
  if (iban != null) return 'sepa';
  return routing_number != null || account_number != null ? 'ach' : null;
};
