import { fail } from '../../kernel/errors.ts';
import { type Checked, readBic, readIban } from '../../terms/bank-accounts.ts';
import { bankText, whyNoBankName } from '../../terms/bank-text.ts';
import type { Debtor, DebtorInput } from './record.ts';

/** Payments in a SEPA file, unless the account says another number. */
const ROWS_PER_FILE = 10_000;

function accepted<Value>(field: string, checked: Checked<Value>): Value {
  if ('rule' in checked) throw fail('invalid_body', `${field} ${checked.rule}`);
  return checked.value;
}

/** A debtor as it is stored. Throws `invalid_body`. */
export function debtorFrom({ name, iban, bic, message, rows_per_file, is_instant }: DebtorInput): Debtor {
  const rule = whyNoBankName(name);
  if (rule !== null) throw fail('invalid_body', `debtor.name ${rule}`);
  const number = accepted('debtor.iban', readIban(iban));
  const written = bankText(name, number.country);
  if (written.length > 70) {
    throw fail(
      'invalid_body',
      `debtor.name must have 1 to 70 characters as banks write it, which is "${written}"`,
    );
  }
  return {
    name,
    iban: number.number,
    bic: bic ? accepted('debtor.bic', readBic(bic)) : null,
    message: message ?? 'pain.001.001.09',
    rows_per_file: rows_per_file ?? ROWS_PER_FILE,
    // false is not stored, so that files have the same ids as before this setting existed
    ...(is_instant ? { is_instant } : {}),
  };
}

/**
 * German banks refuse this message since 14 November 2026 (ebics.de, "Format lifecycle"; VR-Bank Uckermark-Randow, "Abkündigung von
 * SEPA-Formatversionen"; checked on 2026-11-26).
 */
export const isWithdrawn = ({ message, iban }: Debtor): boolean =>
  message === 'pain.001.001.03' && iban.startsWith('DE');
