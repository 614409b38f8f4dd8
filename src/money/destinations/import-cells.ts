import type { DestinationId } from '../../kernel/ids.ts';
import { ACCOUNT_TYPES, DESTINATION_TYPES, type DestinationType } from '../../terms/payments.ts';
import type { PartReader } from '../affiliates/import-part.ts';
import { CellError, type Cells, cell, readEach } from '../files/csv-import.ts';
import { byteaText, newSealedId } from '../ledger/sealed-numbers.ts';
import { type CheckedDestination, judgeDestination } from './check.ts';
import type { NewDestination } from './record.ts';
import { type Sealer, sealDestination } from './sealed.ts';

/** The columns of a destination in a file of affiliates. */
export const DESTINATION_COLUMNS = [
  'destination_type',
  'account_holder',
  'iban',
  'bic',
  'routing_number',
  'account_number',
  'account_type',
] as const;

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

/** The destination of a line; null when it says nothing of one. Throws CellError with the rules of the API. */
function destinationIn(cells: Cells): CheckedDestination | null {
  // the kind of an account says nothing without the account
  if (DESTINATION_COLUMNS.every((column) => column === 'account_type' || cells[column] == null)) return null;
  const { read, wrong } = readEach({
    destination_type: () => cell.oneOf('destination_type', cells.destination_type, DESTINATION_TYPES),
    account_type: () => cell.oneOf('account_type', cells.account_type, ACCOUNT_TYPES),
    account_holder: () => cell.limited('account_holder', cells.account_holder, 140),
    iban: () => cell.limited('iban', cells.iban, 60),
    bic: () => cell.limited('bic', cells.bic, 20),
    routing_number: () => cell.limited('routing_number', cells.routing_number, 20),
    account_number: () => cell.limited('account_number', cells.account_number, 40),
  });
  const { destination_type, account_type, ...texts } = read;
  const type = (destination_type ?? typeOf(cells)) as DestinationType | null;
  if (type === null) {
    const unsaid = 'destination_type is empty, and neither iban nor account_number says it';
    throw new CellError(...wrong, ...(cells.destination_type == null ? [unsaid] : []));
  }
  const given = Object.entries({ ...texts, account_type: type === 'ach' ? account_type : null });
  const input = { type, currency: null, ...Object.fromEntries(given.filter(([, text]) => text != null)) };
  const { destination, problems } = judgeDestination(input as NewDestination & { currency: null });
  // a cell that could not be read is not missing besides
  const more = problems.filter(([field]) => !wrong.some((message) => message.startsWith(`${field} `)));
  if (wrong.length + more.length > 0)
    throw new CellError(...wrong, ...more.map((problem) => problem.join(' ')));
  return destination;
}

const typeOf = ({ iban, routing_number, account_number }: Cells): DestinationType | null => {
  if (iban != null) return 'sepa';
  return routing_number != null || account_number != null ? 'ach' : null;
};
