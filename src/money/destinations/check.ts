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
import type { NewDestination } from './record.ts';

/** A destination that keeps every rule, before its number is sealed. */
export interface CheckedDestination {
  readonly type: DestinationType;
  readonly currency: string | null;
  readonly account_holder: string | null;
  readonly holder_in_files: string | null;
  /** IBAN or account number. */
  readonly number: string | null;
  readonly country: string | null;
  readonly bic: string | null;
  readonly routing_number: string | null;
  readonly account_type: string | null;
}

interface BankRules {
  readonly needs: readonly (keyof NewDestination)[];
  readonly takes: readonly (keyof NewDestination)[];
  readonly currency: string;
  /** Characters of a name in its files. */
  readonly longestName: number;
}

/** pain.001 (EPC132-08) and the entry detail record of the Nacha operating rules. */
const BANKS: Readonly<Partial<Record<DestinationType, BankRules>>> = {
  sepa: { needs: ['account_holder', 'iban'], takes: ['bic'], currency: 'eur', longestName: 70 },
  ach: {
    needs: ['account_holder', 'routing_number', 'account_number', 'account_type'],
    takes: [],
    currency: 'usd',
    longestName: 22,
  },
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
  const problems = misplaced(input, rules);
  const read = <Value>(field: Field, reader: (text: string) => Checked<Value>): Value | null => {
    const text = input[field];
    if (text === undefined || text === null || !isTaken(field, rules)) return null;
    const checked = reader(text);
    if ('value' in checked) return checked.value;
    problems.push([field, checked.rule]);
    return null;
  };
  if (rules && currency !== null && currency !== rules.currency) {
    problems.push(['currency', `must be ${rules.currency.toUpperCase()} with the type ${type}, or left out`]);
  }
  const holder = read('account_holder', (text) => readHolder(text, rules?.longestName ?? 0));
  const iban = read('iban', readIban);
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

const isTaken = (field: Field, rules: BankRules | undefined): boolean =>
  rules !== undefined && [...rules.needs, ...rules.takes].includes(field);

/** Fields that do not go with the type, and those that it needs. */
function misplaced(input: NewDestination, rules: BankRules | undefined): Problem[] {
  const { type, currency: _, ...rest } = input;
  const fields = Object.keys(rest) as Field[];
  return [
    ...fields
      .filter((field) => !isTaken(field, rules))
      .map((field): Problem => [field, `does not go with the type ${type}`]),
    ...(rules?.needs ?? [])
      .filter((field) => input[field] === undefined)
      .map((field): Problem => [field, `is required with the type ${type}`]),
  ];
}

function readHolder(
  given: string,
  longest: number,
): Checked<{ readonly account_holder: string; readonly holder_in_files: string }> {
  const account_holder = given.normalize('NFC').trim();
  const rule = whyNoBankName(account_holder);
  if (rule !== null) return { rule };
  const holder_in_files = bankText(account_holder);
  if (holder_in_files.length > longest) {
    return {
      rule:
        `must have at most ${longest} characters as banks write it, and names are never cut: ` +
        `"${holder_in_files}" has ${holder_in_files.length}`,
    };
  }
  return { value: { account_holder, holder_in_files } };
}
