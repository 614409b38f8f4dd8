import type { Readable } from 'node:stream';
import { PAYMENT_FILES, type ProviderFormat } from '../../terms/payments.ts';
import { type Column, csvOut, selectList } from '../files/csv-export.ts';
import { type Making, type PaymentFormat, paymentFormat } from './format.ts';
import { rowsInFile } from './rows.ts';

type ColumnOf<Format extends ProviderFormat> = (typeof PAYMENT_FILES)[Format]['rows']['columns'][number];

/** What CSV formats have in common. */
type CsvFormat = Pick<PaymentFormat, 'splitsEvenly' | 'content' | 'write'>;

/** A CSV format: a COPY of these columns, SQL over a row `r` of `paymentRows`. */
export function csvFormat(columns: readonly Column[], hasHeader: boolean): CsvFormat {
  return {
    splitsEvenly: false,
    content: `json_build_array(${columns.map(([, expression]) => expression).join(', ')})::text`,
    write: async ({ db, payments, file }: Making): Promise<Readable> =>
      csvOut(
        db,
        `copy (${rowsInFile(payments, file, selectList(columns))})
         to stdout with (format csv${hasHeader ? ', header' : ''})`,
      ),
  };
}

/** A provider's file: the cells of its columns as SQL. */
export function providerFormat<Format extends ProviderFormat>(
  name: Format,
  cells: Readonly<Record<ColumnOf<Format>, string>>,
): CsvFormat & ReturnType<typeof paymentFormat> {
  const { columns, mark } = PAYMENT_FILES[name].rows;
  return {
    ...paymentFormat(name),
    ...csvFormat(
      columns.map((column: ColumnOf<Format>): Column => [column, cells[column]]),
      mark === null,
    ),
  };
}
