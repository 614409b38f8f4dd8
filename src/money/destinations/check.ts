import {
  type Checked,
  readAccountNumber,
  readBic,
  readIban,
  readRoutingNumber,
} from '../../kernel/bank-accounts.ts';
import { bankText } from '../../kernel/bank-text.ts';
import { fail } from '../../kernel/errors.ts';
import type { DestinationType } from '../../kernel/payments.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
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

const EMPTY = {
  account_holder: null,
  holder_in_files: null,
  number: null,
  country: null,
  bic: null,
  routing_number: null,
  account_type: null,
};

const refuse = (field: string, rule: string) => fail('invalid_body', `${field} ${rule}`);

function accepted<Value>(field: string, checked: Checked<Value>): Value {
  if ('rule' in checked) throw refuse(field, checked.rule);
  return checked.value;
}

/** The input as it is stored. Throws `invalid_body` with the field and its rule, never with the number of an account. */
export function checkDestination(input: NewDestination): CheckedDestination {
  const { type } = input;
  const rules = BANKS[type];
  const currency = input.currency ? knownCurrency('currency', input.currency) : null;
  const { type: _, currency: __, ...fields } = input;
  const taken = rules ? [...rules.needs, ...rules.takes] : [];
  for (const field of Object.keys(fields) as (keyof NewDestination)[]) {
    if (!taken.includes(field)) throw refuse(field, `does not go with the type ${type}`);
  }
  for (const field of rules?.needs ?? []) {
    if (input[field] === undefined) throw refuse(field, `is required with the type ${type}`);
  }
  if (!rules) return { ...EMPTY, type, currency };
  if (currency !== null && currency !== rules.currency) {
    throw refuse('currency', `must be ${rules.currency.toUpperCase()} with the type ${type}, or left out`);
  }
  const holder = holderOf(input.account_holder ?? '', rules.longestName);
  return { ...EMPTY, type, currency, ...holder, ...(type === 'sepa' ? sepaFields(input) : achFields(input)) };
}

function holderOf(given: string, longest: number) {
  const account_holder = given.normalize('NFC').trim();
  const holder_in_files = bankText(account_holder);
  if (holder_in_files === '') {
    throw refuse('account_holder', 'must have a letter or digit that can be written in Latin letters');
  }
  if (holder_in_files.length > longest) {
    throw refuse(
      'account_holder',
      `must have at most ${longest} characters as banks write it, and names are never cut: ` +
        `"${holder_in_files}" has ${holder_in_files.length}`,
    );
  }
  return { account_holder, holder_in_files };
}

function sepaFields({ iban = '', bic }: NewDestination) {
  const { number, country } = accepted('iban', readIban(iban));
  return { number, country, bic: bic === undefined ? null : accepted('bic', readBic(bic)) };
}

function achFields({ routing_number = '', account_number = '', account_type = 'checking' }: NewDestination) {
  return {
    routing_number: accepted('routing_number', readRoutingNumber(routing_number)),
    number: accepted('account_number', readAccountNumber(account_number)),
    account_type,
  };
}
