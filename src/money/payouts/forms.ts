import sql, { raw, type Sql } from 'sql-template-tag';
import { readNow } from '../../db/clock.ts';
import { maybeRow, type Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { parseDayIn, type Span } from '../../kernel/time.ts';
import { dayOf } from '../../kernel/zones.ts';
import type { PayoutForm } from '../../people/accounts/record.ts';
import { federalThreshold } from '../../terms/us-thresholds.ts';
import { destinationsInForce, paidThroughInForce } from '../ledger/destinations.ts';
import { movedBy } from '../ledger/paid-by-method.ts';
import { isLapsedIn, residenceIn } from '../ledger/tax-forms.ts';

/** A calendar year of the account, and its threshold of Form 1099-NEC in cents. */
interface Year {
  readonly number: number;
  readonly span: Span;
  readonly threshold: number;
}

/** The rules about signed tax forms: who needs one to be paid, and from whom is withheld. */
export interface FormRules {
  readonly form: PayoutForm;
  readonly withholding: PayoutForm;
  readonly year: Year;
  readonly before: Year;
}

/** The rules of an account; null = it has none. */
export async function readFormRules(db: Reader, account: AccountId, zone: string): Promise<FormRules | null> {
  const row = await maybeRow<Pick<FormRules, 'form' | 'withholding'>>(
    db,
    sql`select payout_form as form, backup_withholding as withholding from accounts where id = ${account}`,
    'payout_form',
  );
  if (row === null || (row.form === 'none' && row.withholding === 'none')) return null;
  const now = Number(dayOf(await readNow(db), zone).slice(0, 4));
  const year = (number: number): Year => ({
    number,
    span: {
      from: parseDayIn(`${number}-01-01`, zone)?.from ?? 0,
      until: parseDayIn(`${number}-12-31`, zone)?.until ?? 0,
    },
    threshold: federalThreshold(number) ?? 0,
  });
  return { ...row, year: year(now), before: year(now - 1) };
}

/** What was paid in a year in the list for US tax forms: US dollars that PayPal does not report itself. */
const paidIn = (account: AccountId, { span }: Year, columns: Sql, having = sql``): Sql => sql`
  select affiliate_id, ${columns} from (${movedBy(account, span)}) m
  where currency = 'usd' and method <> 'paypal' group by affiliate_id ${having}`;

/**
 * The joins that `formReason` and `isWithheld` need, to groups `t` of affiliates `a` with tax profiles `x`. `hasDestinations` =
 * `destinationsInForce` is joined.
 */
export function formJoins(account: AccountId, rules: FormRules, hasDestinations: boolean): Sql {
  const { form, withholding, year, before } = rules;
  const readsYear = form === 'at_threshold' || withholding === 'at_threshold';
  return sql`
    ${hasDestinations || (!readsYear && withholding === 'none') ? sql`` : destinationsInForce(account)}
    ${
      readsYear
        ? sql`left join (${paidIn(account, year, sql`sum(paid - returned) as amount`)}) y
                on y.affiliate_id = t.affiliate_id`
        : sql``
    }
    ${
      withholding === 'at_threshold'
        ? sql`left join (${paidIn(
            account,
            before,
            sql`true as is_over`,
            sql`having sum(paid - returned) >= ${before.threshold}::int8 or sum(withheld) > 0`,
          )}) z on z.affiliate_id = t.affiliate_id`
        : sql``
    }`;
}

/** Whether a group is in the list for US tax forms: US dollars that PayPal does not report itself. */
const IS_LISTED = sql`t.currency = 'usd' and ${raw(paidThroughInForce)} is distinct from 'paypal'`;
const reaches = ({ threshold }: Year) => sql`coalesce(y.amount, 0) + t.amount >= ${threshold}::int8`;

/**
 * Why a group `t`, which would be paid, is left out for want of a form; null when it is paid. With a threshold only US dollars
 * count that PayPal does not report itself, as in the list for US tax forms: those paid in the year, and those of the group.
 */
export function formReason({ form, year }: FormRules): Sql {
  if (form === 'none') return sql`null`;
  const isNeeded = form === 'always' ? sql`true` : sql`${IS_LISTED} and ${reaches(year)}`;
  return sql`case when not (${isNeeded}) or x.form = 'w9' or (x.form like 'w8%' and not ${isLapsedIn(year.number)}) then null
    when x.form like 'w8%' then 'form_expired' else 'form_missing' end`;
}

/** Whether 24 % are withheld from a group `t` (`terms/backup-withholding`). */
export function isWithheld({ withholding, year }: FormRules): Sql {
  if (withholding === 'none') return sql`false`;
  const hasTin = sql`(x.form = 'w9' and x.number is not null and x.tax_id_type like 'us%') is true`;
  const isReached = withholding === 'always' ? sql`true` : sql`(${reaches(year)} or z.is_over is true)`;
  return sql`${IS_LISTED} and ${residenceIn(year.number)} = 'us' and not ${hasTin} and ${isReached}`;
}
