import { DESTINATION_TYPES, type DestinationType } from '../../src/terms/payments.ts';

/** The filters of a schedule that the dashboard has fields for. */
export interface Rule {
  readonly payout_method?: DestinationType;
  readonly currency?: string;
  readonly program_id?: number;
}

/** The value that a filter equals, as `eur` or `{eq: 'eur'}`; else the filter as it is. */
function plain(filter: unknown): unknown {
  const entries = Object.entries(filter !== null && typeof filter === 'object' ? filter : {});
  return entries.length === 1 && entries[0]?.[0] === 'eq' ? entries[0][1] : filter;
}

/** The filters of a schedule: those with a form field, and the rest unchanged (null = none). */
export function rulesOf(filters: unknown): { rules: Rule; others: Readonly<Record<string, unknown>> | null } {
  const rest: Record<string, unknown> = { ...(filters as object | null) };
  const [method, currency, program] = ['payout_method', 'currency', 'program_id'].map((name) =>
    plain(rest[name]),
  );
  const rules: Rule = {
    ...(DESTINATION_TYPES.includes(method as DestinationType)
      ? { payout_method: method as DestinationType }
      : {}),
    ...(typeof currency === 'string' ? { currency: currency.toLowerCase() } : {}),
    ...(typeof program === 'number' ? { program_id: program } : {}),
  };
  for (const name of Object.keys(rules)) delete rest[name];
  return { rules, others: Object.keys(rest).length === 0 ? null : rest };
}
