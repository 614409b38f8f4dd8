import { namesOf } from '../../contract/fields.ts';
import { fail } from '../../kernel/errors.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
import {
  type Checked,
  readAccountNumber,
  readBic,
  readIban,
  readRoutingNumber,
} from '../../terms/bank-accounts.ts';
import { bankText, whyNoBankName } from '../../terms/bank-text.ts';
import type { DestinationType } from '../../terms/payments.ts';
import { DESTINATION_FIELDS, type DestinationField } from './fields.ts';
import type { Destination, NewDestination } from './record.ts';

/** The fields that are stored as they are shown. */
type Plain = Exclude<keyof NewDestination & keyof Destination, 'type' | 'currency'>;

/** A destination that keeps every rule, before its number is sealed. */
export interface CheckedDestination extends Readonly<Record<Plain, string | null>> {
  readonly type: DestinationType;
  readonly currency: string | null;
  readonly holder_in_files: string | null;
  /** IBAN or account number. */
  readonly number: string | null;
  readonly country: string | null;
}

interface BankRules {
  readonly currency: string;
  /** Characters of a name in its files. */
  readonly longestName: number;
}

/** pain.001 (EPC132-08) and the entry detail record of the Nacha operating rules. */
const BANKS: Readonly<Partial<Record<DestinationType, BankRules>>> = {
  sepa: { currency: 'eur', longestName: 70 },
  // Wise pays an IBAN in EUR by a SEPA transfer
  wise_bank: { currency: 'eur', longestName: 70 },
  ach: { currency: 'usd', longestName: 22 },
};

type Field = keyof NewDestination;

/** A field, and the rule that it breaks. */
type Problem = readonly [field: Field, rule: string];

/** The input as it is stored. Throws `invalid_body` with the field and its rule, never with the number of an account. */
export function checkDestination(input: NewDestination): CheckedDestination {
  const currency = input.currency ? knownCurrency('currency', input.currency) : null;
  const judged = judgeDestination({ ...input, currency });
  const [first] = judged.problems;
  if (first) throw fail('invalid_body', first.join(' '));
  return judged.destination;
}

/**
 * The input as it is stored, with every rule that it breaks; as long as there are some, it is not whole. `currency` is one
 * of our own.
 */
export function judgeDestination(input: NewDestination & { readonly currency: string | null }): {
  readonly destination: CheckedDestination;
  readonly problems: readonly Problem[];
} {
  const { type, currency } = input;
  const rules = BANKS[type];
  const problems = misplaced(input);
  const read = <Value>(field: Field, reader: (text: string) => Checked<Value>): Value | null => {
    const text = input[field];
    if (text === undefined || text === null || !isAccepted(field, type)) return null;
    const checked = reader(text);
    if ('value' in checked) return checked.value;
    problems.push([field, checked.rule]);
    return null;
  };
  if (rules && currency !== null && currency !== rules.currency) {
    problems.push(['currency', `must be ${rules.currency.toUpperCase()} with the type ${type}, or left out`]);
  }
  const iban = read('iban', readIban);
  const longest = rules?.longestName ?? 0;
  const holder = read('account_holder', (text) =>
    readHolder(text, { longest, country: iban?.country ?? null }),
  );
  const bic = read('bic', readBic);
  const routing_number = read('routing_number', readRoutingNumber);
  const account = read('account_number', readAccountNumber);
  const destination = {
    type,
    currency,
    account_holder: holder?.account_holder ?? null,
    holder_in_files: holder?.holder_in_files ?? null,
    number: iban?.number ?? account,
    country: iban?.country ?? null,
    bic,
    routing_number,
    account_type: input.account_type ?? null,
  };
  return { destination, problems };
}

const isNeeded = (field: Field, type: DestinationType): boolean =>
  rowOf(field).neededBy?.includes(type) ?? false;

const isAccepted = (field: Field, type: DestinationType): boolean =>
  isNeeded(field, type) || (rowOf(field).acceptedBy?.includes(type) ?? false);

const rowOf = (field: Field): DestinationField => DESTINATION_FIELDS[field];

/** Fields that the type does not accept, and those that it needs. */
function misplaced(input: NewDestination): Problem[] {
  const { type, currency: _, ...rest } = input;
  return [
    ...(Object.keys(rest) as Field[])
      .filter((field) => !isAccepted(field, type))
      .map((field): Problem => [field, `does not go with the type ${type}`]),
    ...namesOf(DESTINATION_FIELDS)
      .filter((field) => isNeeded(field, type) && input[field] === undefined)
      .map((field): Problem => [field, `is required with the type ${type}`]),
  ];
}

function readHolder(
  given: string,
  { longest, country }: { readonly longest: number; readonly country: string | null },
): Checked<{ readonly account_holder: string; readonly holder_in_files: string }> {
  const account_holder = given.normalize('NFC').trim();
  const rule = whyNoBankName(account_holder);
  if (rule !== null) return { rule };
  const holder_in_files = bankText(account_holder, country);
  if (holder_in_files.length > longest) {
    return {
      rule:
        `must have at most ${longest} characters as banks write it, and names are never cut: ` +
        `"${holder_in_files}" has ${holder_in_files.length}`,
    };
  }
  return { value: { account_holder, holder_in_files } };
}
