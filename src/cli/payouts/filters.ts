import { nameOfPath } from '../../kernel/strict-json.ts';
import { UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';

type Value = string | number | boolean;

// How a text on the command line becomes a JSON value. Other fields are texts; the server validates their names.
const NUMBERS = new Set(['affiliate_id', 'program_id', 'total']);
const BOOLEANS = new Set(['is_ready_for_payout']);
/** Fields whose values contain no comma, so that a comma separates several. */
const LISTS = new Set([
  'affiliate_id',
  'program_id',
  'currency',
  'payout_method',
  'type',
  'affiliate_status',
]);

/**
 * The `filters` of a payout from `--filter key=value` and `--filter key[operator]=value` (repeating one means any of them)
 * or from one JSON object; undefined if there are none.
 */
export function readFilterOptions(pairs: readonly string[], json: string | undefined): unknown {
  if (json !== undefined && pairs.length > 0) throw new UsageError('give --filter or --filters, not both');
  if (json !== undefined) return parseJson(json);
  if (pairs.length === 0) return undefined;
  const filters: Record<string, Record<string, Value[]>> = {};
  for (const pair of pairs) {
    const match = /^([a-z_]+)(?:\[([a-z]+)\])?=(.+)$/s.exec(pair);
    if (!match) throw new UsageError(`--filter must be key=value or key[operator]=value, not ${pair}`);
    const [, field = '', operator = 'eq', text = ''] = match;
    const values = LISTS.has(field) ? text.split(',') : [text];
    filters[field] ??= {};
    const operators = filters[field];
    operators[operator] = [...(operators[operator] ?? []), ...values.map((value) => readValue(field, value))];
  }
  return Object.fromEntries(
    Object.entries(filters).map(([field, given]) => [field, conditionOf(field, given)]),
  );
}

function conditionOf(field: string, given: Record<string, Value[]>): Record<string, unknown> {
  const condition: Record<string, unknown> = {};
  for (const [operator, values] of Object.entries(given)) {
    const isList = operator === 'in' || operator === 'nin';
    if (isList || values.length === 1) condition[operator] = isList ? values : values[0];
    else if (operator === 'eq') condition.in = values;
    else if (operator === 'ne') condition.nin = values;
    else throw new UsageError(`--filter ${field}[${operator}] takes one value`);
  }
  return condition;
}

function readValue(field: string, text: string): Value {
  if (NUMBERS.has(field) && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (BOOLEANS.has(field) && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

function parseJson(text: string): unknown {
  const { value, roundedNumbers } = readJsonOption('--filters', text);
  const [rounded] = roundedNumbers;
  if (rounded) throw new UsageError(`--filters: ${nameOfPath(rounded.path)} ${rounded.rule}`);
  return value;
}
