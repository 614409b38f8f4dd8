import { type Static, Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { type Checked, readRoutingNumber } from '../../terms/bank-accounts.ts';

/** How a number is shown to callers who may not download payment files. */
export const MASKED = 'only its end, such as …2051, for callers who may not download payment files';

/** Payments in a NACHA file, unless the account says another number. */
const ROWS_PER_FILE = 10_000;

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description: `${description}; at most ${maxLength} characters` });

const names = {
  immediate_destination_name: text(23, 'the name of that bank'),
  immediate_origin_name: text(23, 'your name at that bank'),
  company_name: text(16, 'your name on the statements of affiliates'),
};
const companyId = 'the ten letters and digits your bank knows you by, often 1 and your EIN';
/**
 * What PPD credits that pay compensation must be called since 2026-03-20, in capitals (Nacha, "Risk Management Topics: Company Entry
 * Descriptions"). Banks count commissions as compensation (North State Bank, "ACH Payroll Requirement"; checked on 2026-11-26; the
 * text of the rules themselves was not read).
 */
export const PAYROLL = 'PAYROLL';

const onStatements = 'what the payment is, on the statements of affiliates';
const description = text(10, `${onStatements}; for businesses (CCD); default PAYOUT`);
const personDescription = text(
  10,
  `${onStatements}; for persons (PPD); default PAYROLL, which Nacha requires for pay and commissions since March 2026`,
);
const discretionary = text(20, 'for your bank, if it asks for it');
const rowsPerFile = Type.Integer({
  minimum: 2,
  maximum: 100_000,
  description: 'payments in one file; default 10,000. More are split into several files',
});

/** Whom NACHA files are from. */
export const originator = strict(
  {
    immediate_destination: Type.String({ description: 'the routing number of the bank that takes the file' }),
    immediate_destination_name: names.immediate_destination_name,
    immediate_origin: Type.String({ description: `nine or ten digits that your bank assigned; ${MASKED}` }),
    immediate_origin_name: names.immediate_origin_name,
    company_name: names.company_name,
    company_id: Type.String({ description: `${companyId}; ${MASKED}` }),
    originating_dfi: Type.String({
      description: 'the first eight digits of the routing number you pay from',
    }),
    entry_description: description,
    person_entry_description: personDescription,
    discretionary_data: nullable(discretionary),
    rows_per_file: rowsPerFile,
  },
  { title: 'Originator', description: 'whom ACH payments in NACHA files are from, as your bank says' },
);
export type Originator = Static<typeof originator>;

/** As it is stored. Those of earlier versions have one description for persons and businesses. */
export type StoredOriginator = Omit<Originator, 'person_entry_description'> &
  Partial<Pick<Originator, 'person_entry_description'>>;

/** The company entry description of payments to persons. */
export const descriptionForPersons = (stored: StoredOriginator): string =>
  stored.person_entry_description ?? stored.entry_description;

/** Whether payments to persons are described as Nacha requires. */
export const isPayroll = (stored: StoredOriginator): boolean =>
  descriptionForPersons(stored).startsWith(PAYROLL);

/** The input of an originator. */
export const originatorInput = strict({
  immediate_destination: text(20, 'the routing number of the bank that takes the file'),
  immediate_destination_name: names.immediate_destination_name,
  immediate_origin: text(20, 'nine or ten digits that your bank assigned'),
  immediate_origin_name: names.immediate_origin_name,
  company_name: names.company_name,
  company_id: text(10, companyId),
  originating_dfi: Type.Optional(
    text(20, 'the routing number you pay from, or its first eight digits; default immediate_destination'),
  ),
  entry_description: Type.Optional(description),
  person_entry_description: Type.Optional(personDescription),
  discretionary_data: Type.Optional(nullable(discretionary)),
  rows_per_file: Type.Optional(rowsPerFile),
});
export type OriginatorInput = Static<typeof originatorInput>;

// Nacha gives these a meaning that a payout does not have
const RESERVED = [
  'REVERSAL',
  'RECLAIM',
  'NONSETTLED',
  'RETRY PYMT',
  'RETURN FEE',
  'REDEPCHECK',
  'AUTOENROLL',
];

const refuse = (field: string, rule: string) => fail('invalid_body', `originator.${field} ${rule}`);

function accepted<Value>(field: string, checked: Checked<Value>): Value {
  if ('rule' in checked) throw refuse(field, checked.rule);
  return checked.value;
}

/** A text for a NACHA file. A bank compares these with what it knows, so none is rewritten. */
function written(field: string, given: string): string {
  const value = given.trim();
  if (/^[ -_a-~]*$/.test(value) && /[A-Za-z0-9]/.test(value)) return value;
  throw refuse(field, 'must have a letter or digit, and only characters of ASCII, as your bank writes it');
}

/** A company entry description. */
function descriptionFrom(field: string, given: string): string {
  const value = written(field, given);
  if (!RESERVED.includes(value.toUpperCase())) return value;
  throw refuse(field, `must not be ${value}, which Nacha reserves for other entries`);
}

/** An originator as it is stored. Throws `invalid_body` with the field and its rule. */
export function originatorFrom(input: OriginatorInput): Originator {
  const destination = accepted('immediate_destination', readRoutingNumber(input.immediate_destination));
  const origin = input.immediate_origin.replace(/\s+/g, '');
  if (!/^\d{9,10}$/.test(origin)) throw refuse('immediate_origin', 'must be nine or ten digits');
  const company_id = input.company_id.trim();
  if (!/^[A-Za-z0-9]{10}$/.test(company_id)) {
    throw refuse('company_id', 'must be ten letters and digits, often 1 and your nine-digit EIN');
  }
  return {
    immediate_destination: destination,
    immediate_destination_name: written('immediate_destination_name', input.immediate_destination_name),
    immediate_origin: origin,
    immediate_origin_name: written('immediate_origin_name', input.immediate_origin_name),
    company_name: written('company_name', input.company_name),
    company_id,
    originating_dfi: dfiFrom(input.originating_dfi ?? destination),
    entry_description: descriptionFrom('entry_description', input.entry_description ?? 'PAYOUT'),
    person_entry_description: descriptionFrom(
      'person_entry_description',
      input.person_entry_description ?? PAYROLL,
    ),
    discretionary_data: input.discretionary_data
      ? written('discretionary_data', input.discretionary_data)
      : null,
    rows_per_file: input.rows_per_file ?? ROWS_PER_FILE,
  };
}

/** The eight digits of a routing number that name a bank; its check digit is looked at where it is given. */
function dfiFrom(text: string): string {
  const digits = text.replace(/\s+/g, '');
  if (/^\d{8}$/.test(digits) && Number(digits) > 0) return digits;
  const checked = readRoutingNumber(digits);
  if ('rule' in checked && !/^\d{9}$/.test(digits)) {
    throw refuse('originating_dfi', 'must be a routing number of nine digits, or its first eight');
  }
  return accepted('originating_dfi', checked).slice(0, 8);
}
