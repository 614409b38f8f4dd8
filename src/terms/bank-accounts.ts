import {
  electronicFormatIBAN,
  isSEPACountry,
  isValidBIC,
  ValidationErrorsIBAN,
  validateIBAN,
} from 'ibantools';

/** What is read from an account number as a person writes it: the number, or which rule it breaks. */
export type Checked<Value> = { readonly value: Value } | { readonly rule: string };

export interface Iban {
  /** Upper case, without blanks. */
  readonly number: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

// Joined SEPA since the list of ibantools was made (EPC409-09, version of 2025).
const JOINED = ['AL', 'MD', 'ME', 'MK', 'RS'];
const isSepa = (country: string) => isSEPACountry(country) || JOINED.includes(country);

/** Reads an IBAN in any case, with or without blanks (ISO 13616): its country, length, form and check digits. */
export function readIban(text: string): Checked<Iban> {
  const number = electronicFormatIBAN(text.replace(/\s+/g, '')) ?? '';
  // what ibantools drops was no blank
  if (!/^[A-Za-z0-9]+$/.test(text.replace(/[\s-]+/g, ''))) {
    return { rule: 'must be an IBAN: letters A to Z, digits and blanks' };
  }
  const { valid, errorCodes } = validateIBAN(number);
  const country = number.slice(0, 2);
  if (!valid) return { rule: ruleOf(errorCodes, country) };
  if (!isSepa(country)) return { rule: `must be of a country in SEPA, which ${country} is not` };
  return { value: { number, country } };
}

function ruleOf(codes: readonly ValidationErrorsIBAN[], country: string): string {
  const has = (code: ValidationErrorsIBAN) => codes.includes(code);
  if (has(ValidationErrorsIBAN.NoIBANProvided) || has(ValidationErrorsIBAN.NoIBANCountry)) {
    return 'must begin with the two letters of a country that has IBANs';
  }
  if (has(ValidationErrorsIBAN.WrongBBANLength)) return `does not have the length of an IBAN of ${country}`;
  if (has(ValidationErrorsIBAN.WrongBBANFormat)) return `does not have the form of an IBAN of ${country}`;
  if (has(ValidationErrorsIBAN.WrongIBANChecksum) || has(ValidationErrorsIBAN.ChecksumNotNumber)) {
    return 'has wrong check digits: a digit or letter is mistyped';
  }
  return `has a wrong check digit of its bank (${country})`;
}

/** Written in files instead of an unknown BIC (EPC132-08). It has the form of one of Romania. */
const NO_BIC = 'NOTPROVIDED';

/** Reads a BIC of 8 or 11 characters in any case (ISO 9362). */
export function readBic(text: string): Checked<string> {
  const bic = text.trim().toUpperCase();
  if (bic === NO_BIC) return { rule: `must be a BIC, and ${NO_BIC} says that there is none: leave it out` };
  return isValidBIC(bic) ? { value: bic } : { rule: 'must be a BIC of 8 or 11 characters' };
}

/**
 * The first two digits that the American Bankers Association gives out (ABA routing number policy): the government, the twelve
 * districts of the Federal Reserve, thrift institutions, electronic payments, and traveler's checks.
 */
const GIVEN_OUT = [
  [0, 12],
  [21, 32],
  [61, 72],
  [80, 80],
] as const;

/** Reads an ABA routing number: nine digits that begin as one does, of which the weights 3, 7, 1 make a multiple of ten. */
export function readRoutingNumber(text: string): Checked<string> {
  const number = text.replace(/\s+/g, '');
  if (!/^\d{9}$/.test(number)) return { rule: 'must be nine digits' };
  const sum = [...number].reduce((all, digit, place) => all + Number(digit) * ([3, 7, 1][place % 3] ?? 0), 0);
  if (sum === 0 || sum % 10 !== 0) return { rule: 'has a wrong check digit: a digit is mistyped' };
  const start = Number(number.slice(0, 2));
  return GIVEN_OUT.some(([from, to]) => start >= from && start <= to)
    ? { value: number }
    : {
        rule: `begins with ${number.slice(0, 2)}, with which no routing number does: they begin with 00 to 12, 21 to 32, 61 to 72 or 80`,
      };
}

/** Reads the number of an account in the United States: at most 17 letters, digits and hyphens (Nacha, field 5). */
export function readAccountNumber(text: string): Checked<string> {
  const number = text.trim();
  return /^[A-Za-z0-9-]{4,17}$/.test(number)
    ? { value: number }
    : { rule: 'must have 4 to 17 letters, digits and hyphens' };
}
