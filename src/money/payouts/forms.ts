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
import { lapsedBefore } from '../ledger/tax-forms.ts';

/** Who needs a signed tax form to be paid. */
export interface FormRule {
  /** The sum of the year in cents from which a form is needed; null = always. */
  readonly threshold: number | null;
  readonly year: number;
  readonly span: Span;
}

/** The rule of an account; null = nobody needs a form. */
export async function readFormRule(db: Reader, account: AccountId, zone: string): Promise<FormRule | null> {
  const row = await maybeRow<{ rule: PayoutForm }>(
    db,
    sql`select payout_form as rule from accounts where id = ${account}`,
    'payout_form',
  );
  const rule = row?.rule ?? 'none';
  if (rule === 'none') return null;
  const year = Number(dayOf(await readNow(db), zone).slice(0, 4));
  const threshold = rule === 'always' ? null : (federalThreshold(year) ?? 0);
  return {
    threshold,
    year,
    span: {
      from: parseDayIn(`${year}-01-01`, zone)?.from ?? 0,
      until: parseDayIn(`${year}-12-31`, zone)?.until ?? 0,
    },
  };
}

/** The joins that `formReason` needs, to groups `t` of affiliates `a`. `hasDestinations` = `destinationsInForce` is joined. */
export function formJoins(account: AccountId, rule: FormRule, hasDestinations: boolean): Sql {
  const profile = sql`
    left join affiliate_tax_profiles x on x.account_id = ${account} and x.affiliate_id = t.affiliate_id`;
  if (rule.threshold === null) return profile;
  return sql`${profile} ${hasDestinations ? sql`` : destinationsInForce(account)}
    left join (
      select affiliate_id, sum(paid - returned) as amount from (${movedBy(account, rule.span)}) m
      where currency = 'usd' and method <> 'paypal' group by affiliate_id) y on y.affiliate_id = t.affiliate_id`;
}

/**
 * Why a group `t`, which would be paid, is left out for want of a form; null when it is paid. With a threshold only US dollars
 * count that PayPal does not report itself, as in the list for US tax forms: those paid in the year, and those of the group.
 */
export function formReason(rule: FormRule): Sql {
  const lapsed = lapsedBefore(sql`${rule.year}`);
  const isNeeded =
    rule.threshold === null
      ? sql`true`
      : sql`t.currency = 'usd' and ${raw(paidThroughInForce)} is distinct from 'paypal'
            and coalesce(y.amount, 0) + t.amount >= ${rule.threshold}::int8`;
  return sql`case when not (${isNeeded}) or x.form = 'w9' or (x.form like 'w8%' and not ${lapsed}) then null
    when x.form like 'w8%' then 'form_expired' else 'form_missing' end`;
}
