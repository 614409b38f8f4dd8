import { type Checked, readAccountNumber, readRoutingNumber } from './bank-accounts.ts';
import { whyNoBankName } from './bank-text.ts';

/*
 * The codes of ACH returns and notifications of change (Nacha operating rules, appendices four and five). The rules themselves are for
 * sale and were not read. Checked on 2026-11-27 with the tables of github.com/moov-io/ach (addenda98.go, addenda99.go) and, as a second
 * source, docs.galileo-ft.com/pro/reference/api-reference-ach-return-codes for returns and webtocash.com/changecodes2.htm for changes.
 */

/** Why a bank returned a payment. Those for debits are here too, because banks use them for credits now and then. */
export const RETURN_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    R01: 'insufficient funds',
    R02: 'the account is closed',
    R03: 'there is no such account, or it belongs to another name',
    R04: 'the account number is not valid',
    R05: 'a business debit to the account of a person, who did not authorize it',
    R06: 'your bank requested it',
    R07: 'the customer revoked the authorization',
    R08: 'the payment was stopped',
    R09: 'the balance is not available yet',
    R10: 'the customer does not know you, or did not authorize it',
    R11: 'it is not as the customer authorized it',
    R12: 'the branch was sold to another bank',
    R13: 'the bank of the recipient does not take ACH payments',
    R14: 'the representative of the recipient has died or cannot act',
    R15: 'the recipient or the account holder has died',
    R16: 'the account is blocked',
    R17: 'the bank cannot process a field, or suspects that somebody used a wrong account number on purpose',
    R18: 'the effective date is wrong',
    R19: 'the amount is wrong',
    R20: 'the account does not take such payments',
    R21: 'the company id is wrong',
    R22: 'the identification number is wrong',
    R23: 'the recipient refused it',
    R24: 'a duplicate of another payment',
    R25: 'the addenda are wrong',
    R26: 'a mandatory field is wrong',
    R27: 'the trace number is wrong',
    R28: 'the check digit of the routing number is wrong',
    R29: 'the business did not authorize it',
    R30: 'the bank does not take part in check truncation',
    R31: 'your bank agreed to the return',
    R32: 'the bank of the recipient cannot settle it',
    R33: 'the bank returned a destroyed check (XCK)',
    R34: 'the authorities limit what the bank of the recipient may do',
    R35: 'a debit where none is allowed',
    R36: 'a credit where none is allowed',
    R37: 'the check was presented too',
    R38: 'the check was stopped',
    R39: 'the check was not suited',
    R40: 'a federal agency returned an enrollment',
    R41: 'the transaction code of an enrollment is wrong',
    R42: 'the routing number of an enrollment is wrong',
    R43: 'the account number of an enrollment is wrong',
    R44: 'the identification number of an enrollment is wrong',
    R45: 'the name in an enrollment is wrong',
    R46: 'the representative in an enrollment is wrong',
    R47: 'a duplicate enrollment',
    R50: 'the law of the state forbids a check that is presented again (RCK)',
    R51: 'the check that is presented again (RCK) is not suited',
    R52: 'the check that is presented again (RCK) was stopped',
    R53: 'the check was presented again (RCK), and itself too',
    R80: 'an international payment is coded wrongly',
    R81: 'the gateway does not take international payments from you',
    R82: 'the foreign bank is unknown',
    R83: 'the foreign bank cannot settle it',
    R84: 'the gateway did not process it',
    R85: 'an international payment is coded as a domestic one',
  }),
);

/** Codes with which banks dispute a return among themselves: it says nothing new about the payment. */
export const DISPUTE_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    R61: 'your bank dishonors the return: it was misrouted',
    R62: 'your bank dishonors the return of an erroneous or reversing debit',
    R67: 'your bank dishonors the return: it is a duplicate',
    R68: 'your bank dishonors the return: it was too late',
    R69: 'your bank dishonors the return: a field is wrong',
    R70: 'your bank dishonors the return: it had not agreed to it',
    R71: 'the bank of the recipient contests the dishonor: it was misrouted',
    R72: 'the bank of the recipient contests the dishonor: it was too late',
    R73: 'the bank of the recipient contests the dishonor: the return was in time',
    R74: 'the bank of the recipient corrects its return',
    R75: 'the bank of the recipient contests the dishonor: the return was no duplicate',
    R76: 'the bank of the recipient contests the dishonor: the return had no errors',
    R77: 'the bank of the recipient does not accept that the return was dishonored',
  }),
);

/** What a bank corrects in a destination. A field that is right is absent. */
export interface Corrected {
  readonly account_holder?: string;
  readonly routing_number?: string;
  readonly account_number?: string;
  readonly account_type?: 'checking' | 'savings';
}

type Fields = Readonly<Record<'name' | 'routing' | 'account' | 'code', string>>;

/**
 * The corrected data of each code, in 29 characters. Banks also put the parts at the end of the field instead of at their
 * positions, as moov-io/ach writes them.
 */
const DATA: Readonly<Record<string, (data: string) => Partial<Fields>>> = {
  C01: (data) => ({ account: data.slice(0, 17) }),
  C02: (data) => ({ routing: data.slice(0, 9) }),
  C03: (data) => ({ routing: data.slice(0, 9), account: data.slice(9) }),
  C04: (data) => ({ name: data.slice(0, 22) }),
  C05: (data) => ({ code: data.slice(0, 2) }),
  C06: (data) => withCode(data, 20),
  C07: (data) => ({ routing: data.slice(0, 9), ...withCode(data.slice(9), 17) }),
};

/** An account number, and a transaction code at a position or at the end. */
function withCode(data: string, at: number): Partial<Fields> {
  const own = data.slice(at, at + 2);
  if (/^\d\d$/.test(own) && data.slice(at + 2).trim() === '')
    return { account: data.slice(0, 17), code: own };
  const [account = '', code = '', ...more] = data.trim().split(/\s+/);
  return more.length === 0 ? { account, code } : { account: data, code: '' };
}

/** Codes of changes that concern no destination, and why. */
const OTHERS: Readonly<Record<string, string>> = {
  C08: 'it corrects the bank of an international payment, and there are none',
  C09: 'it corrects the identification number, which is the reference of the payment here',
  C10: 'it corrects the name of your company: see originator.company_name',
  C11: 'it corrects the id of your company: see originator.company_id',
  C12: 'it corrects the name and the id of your company: see originator',
  C13: 'it corrects addenda, and there are none',
  C14: 'it corrects the class of an international payment, and there are none',
};

/** The first digit of a transaction code that pays an account, by Nacha. */
const TYPES: Readonly<Record<string, 'checking' | 'savings'>> = { 2: 'checking', 3: 'savings' };

/** What a notification of change corrects, or why it corrects nothing that can be used. In: its code and 29 characters. */
export function readCorrection(code: string, data: string): Checked<Corrected> {
  if (/^C6\d$/.test(code)) return { rule: 'it refuses a notification of change, which concerns only banks' };
  const fields = DATA[code]?.(data);
  if (fields === undefined) return { rule: OTHERS[code] ?? `its code ${JSON.stringify(code)} is unknown` };
  const found: { -readonly [Name in keyof Corrected]: Corrected[Name] } = {};
  if (fields.name !== undefined) {
    const name = fields.name.trim();
    const rule = name === '' ? 'is missing' : whyNoBankName(name);
    if (rule !== null) return { rule: `the corrected name ${rule}` };
    found.account_holder = name;
  }
  if (fields.routing !== undefined) {
    const routing = readRoutingNumber(fields.routing.trim());
    if ('rule' in routing) return { rule: `the corrected routing number ${routing.rule}` };
    found.routing_number = routing.value;
  }
  if (fields.account !== undefined) {
    const account = readAccountNumber(fields.account.trim());
    if ('rule' in account) return { rule: `the corrected account number ${account.rule}` };
    found.account_number = account.value;
  }
  if (fields.code !== undefined) {
    const type = TYPES[fields.code[0] ?? ''];
    if (type === undefined)
      return {
        rule: `the corrected transaction code ${JSON.stringify(fields.code)} is of no checking or savings account`,
      };
    found.account_type = type;
  }
  return { value: found };
}
