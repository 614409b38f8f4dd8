import { PAYOUT_METHODS, type PayoutMethod } from '../../src/kernel/payments.ts';

/** The filters of a schedule that the dashboard has fields for. */
export interface Rule {
  readonly payout_method?: PayoutMethod;
  readonly currency?: string;
  readonly program_id?: number;
}

/** The filters of a schedule: those with a field of their own, and the rest as it was given (null = none). */
export function rulesOf(filters: unknown): { rules: Rule; others: Readonly<Record<string, unknown>> | null } {
  const rest: Record<string, unknown> = { ...(filters as object | null) };
  const { payout_method: method, currency, program_id: program } = rest;
  const rules: Rule = {
    ...(PAYOUT_METHODS.includes(method as PayoutMethod) ? { payout_method: method as PayoutMethod } : {}),
    ...(typeof currency === 'string' ? { currency: currency.toLowerCase() } : {}),
    ...(typeof program === 'number' ? { program_id: program } : {}),
  };
  for (const name of Object.keys(rules)) delete rest[name];
  return { rules, others: Object.keys(rest).length === 0 ? null : rest };
}
