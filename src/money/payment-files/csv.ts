import type { Readable } from 'node:stream';
import { PROVIDER_FILES, type ProviderFormat } from '../../terms/payments.ts';
import { type Column, csvOut, selectList } from '../files/csv-export.ts';
import type { Making, PaymentFormat } from './format.ts';
import { rowsInFile } from './rows.ts';

type ColumnOf<Format extends ProviderFormat> = (typeof PROVIDER_FILES)[Format]['columns'][number];

/** What CSV formats have in common. */
type CsvFormat = Pick<
  PaymentFormat,
  'currency' | 'extension' | 'contentType' | 'splitsEvenly' | 'content' | 'write'
>;

/** A CSV format: a COPY of these columns, SQL over a row `r` of `paymentRows`. */
export function csvFormat(columns: readonly Column[], hasHeader: boolean): CsvFormat {
  return {
    currency: null,
    extension: 'csv',
    contentType: 'text/csv; charset=utf-8',
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

/** A provider's file as the table of formats describes it. `cells` has the SQL for each column. */
export function providerFormat<Format extends ProviderFormat>(
  name: Format,
  cells: Readonly<Record<ColumnOf<Format>, string>>,
): CsvFormat & Pick<PaymentFormat, 'name' | 'choices' | 'destination'> {
  const { columns, choices, mark } = PROVIDER_FILES[name];
  return {
    name,
    destination: name,
    choices,
    ...csvFormat(
      columns.map((column: ColumnOf<Format>): Column => [column, cells[column]]),
      mark === null,
    ),
  };
}
