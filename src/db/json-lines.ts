import sql, { empty, raw, type Sql } from 'sql-template-tag';

/** Records of an account for a file: a JSON object a line. */
export interface Lines {
  readonly columns: Sql;
  /** What follows FROM. */
  readonly from: Sql;
  /** The column that names the account. */
  readonly account: string;
  readonly order: string;
  /** Which rows of the account are meant; default: all. */
  readonly where?: Sql;
}

/** The lines of records over a table and its alias (`'refunds r'`), by `id`. */
export function linesOf(columns: Sql, table: string, join: Sql = empty): Lines {
  const alias = table.split(' ')[1] ?? table;
  return { columns, from: sql`${raw(table)} ${join}`, account: `${alias}.account_id`, order: `${alias}.id` };
}

/**
 * The COPY of an account's lines (UUID). A line has no line end, quote or delimiter of this format: JSON has them
 * escaped, and line ends between its tokens become blanks.
 */
export function copyOfLines({ columns, from, account, order, where }: Lines, accountId: string): string {
  const lines = sql`select translate(row_to_json(r)::text, e'\\n\\r', '  ')
    from (select ${columns} from ${from}
          where ${raw(account)} = ${accountId} and ${where ?? sql`true`} order by ${raw(order)}) r`;
  return `copy (${inlined(lines)}) to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`;
}

/** COPY takes no parameters. Throws for a value other than an id, a number or a name. */
function inlined({ strings, values }: Sql): string {
  return strings.reduce((text, part, index) => {
    const value = String(values[index - 1]);
    if (!/^[\w:.-]+$/.test(value)) throw new Error('this value must not be part of a statement');
    return `${text}'${value}'${part}`;
  });
}
