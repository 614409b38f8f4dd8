import type { Affiliate, AffiliateWithBalance } from '../../client/client.ts';
import { AFFILIATE_FIELDS } from '../../client/fields.ts';
import { describeFields } from '../command/record-fields.ts';
import { factLines } from '../terminal/facts.ts';
import { decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

/** The widest name and address that tables show, in cells. */
export const LONGEST_NAME = 30;
export const LONGEST_EMAIL = 40;

/** `Ada Lovelace`; null without a name. */
export function fullName({ name_first, name_last }: Affiliate): string | null {
  return [name_first, name_last].filter((name) => name !== null).join(' ') || null;
}

/** A page of affiliates, one line each. */
export function affiliateTable(affiliates: readonly AffiliateWithBalance[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'ID', right: true },
      { heading: 'NAME', most: LONGEST_NAME },
      { heading: 'E-MAIL', most: LONGEST_EMAIL },
      { heading: 'UNPAID', right: true },
      { heading: 'LAST PAID' },
      { heading: 'METHOD' },
      { heading: 'READY' },
      { heading: 'STATUS' },
      { heading: 'EXTERNAL ID' },
    ],
    affiliates.map((affiliate) => [
      String(affiliate.id),
      fullName(affiliate) ?? '',
      affiliate.email,
      unpaidOf(affiliate),
      affiliate.last_paid_at?.slice(0, 10) ?? '',
      affiliate.paid_through ?? '',
      affiliate.is_ready_for_payout ? 'yes' : 'no',
      affiliate.status,
      affiliate.external_id ?? '',
    ]),
    paint.faint,
  );
}

/** `12.00 EUR, 1525.84 USD`: the unpaid balance. */
function unpaidOf({ balance }: AffiliateWithBalance): string {
  return balance
    .filter(({ unpaid }) => unpaid !== 0)
    .map(({ unpaid, currency }) => `${decimal({ amount: unpaid, currency })} ${currency.toUpperCase()}`)
    .join(', ');
}

// the first line has the name and the status
const { name_first: _first, name_last: _last, status: _status, ...SHOWN } = AFFILIATE_FIELDS;

/** One affiliate as text, with the balance if included. */
export function describeAffiliate(affiliate: Affiliate | AffiliateWithBalance, terminal: Terminal): string {
  const { paint } = terminal;
  const { status } = affiliate;
  const name = fullName(affiliate);
  const head = [
    paint.strong(`Affiliate ${affiliate.id}`),
    ...(name === null ? [] : [printable(name)]),
    status === 'active' ? paint.good(status) : paint.warning(status),
  ];
  const facts = factLines([
    ...describeFields(SHOWN, affiliate),
    ['Paid by', 'paid_through' in affiliate ? affiliate.paid_through : null],
    ['Created', `${exactTime(affiliate.created_at)} (UTC)`],
  ]);
  const balance = 'balance' in affiliate ? `\n${balanceOf(affiliate, terminal)}` : '';
  return `${head.join('  ')}\n${facts}${balance}`;
}

function balanceOf({ balance }: AffiliateWithBalance, { paint }: Terminal): string {
  if (balance.length === 0) return 'Nothing has been earned yet.\n';
  const columns = ['PENDING', 'UNPAID', 'IN PAYOUT', 'PAID'].map((heading) => ({ heading, right: true }));
  return table(
    [{ heading: 'CURRENCY' }, ...columns],
    balance.map(({ currency, pending, unpaid, in_payout, paid }) => [
      currency.toUpperCase(),
      ...[pending, unpaid, in_payout, paid].map((amount) => decimal({ amount, currency })),
    ]),
    paint.faint,
  );
}
