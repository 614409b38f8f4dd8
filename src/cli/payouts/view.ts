import type {
  Payout,
  PayoutApproval,
  PayoutExclusion,
  PayoutLine,
  PayoutPreview,
  PayoutSummary,
} from '../../client/client.ts';
import { toPay } from '../../terms/with-tax.ts';
import { LONGEST_EMAIL, LONGEST_NAME } from '../affiliates/view.ts';
import { describeMetadata } from '../command/metadata.ts';
import type { Names } from '../finders/actors.ts';
import { amounts, count, decimal } from '../terminal/money.ts';
import { type Column, printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

const right = (heading: string): Column => ({ heading, right: true });
const left = (heading: string): Column => ({ heading });

/** A page of payouts, one line each. */
export function payoutTable(payouts: readonly PayoutSummary[], { paint }: Terminal): string {
  return table(
    [
      right('NUMBER'),
      left('ID'),
      left('STATUS'),
      left('CREATED (UTC)'),
      right('AFFILIATES'),
      right('COMMISSIONS'),
      left('AMOUNT'),
    ],
    payouts.map((payout) => [
      String(payout.number),
      payout.id,
      payout.status,
      shortTime(payout.created_at),
      String(payout.affiliate_count),
      String(payout.commission_count),
      amounts(payout.totals),
    ]),
    paint.faint,
  );
}

/** Parts of a text, separated by empty lines. */
export const join = (sections: readonly string[]) => sections.filter((section) => section !== '').join('\n');

/** Further data for the head of a payout: the names of actors, and the approval if requested. */
export const actorsOf = (
  { created_by, paid_by, approval }: Payout,
  standing: PayoutApproval | null = null,
) => [
  created_by,
  paid_by,
  approval.decided_by,
  ...(standing?.approvers ?? []).flatMap(({ user_id, barred_because }) => [
    user_id,
    ...barred_because.map(({ actor_id }) => actor_id),
  ]),
];

/** A whole payout as text. */
export function describePayout(
  payout: Payout,
  standing: PayoutApproval | null,
  names: Names,
  terminal: Terminal,
): string {
  const approvers = standing === null ? '' : approversOf(standing, names);
  const sections = [
    headOf(payout, names, terminal) + approvers,
    totalsOf(payout, terminal),
    linesOf(payout, terminal),
  ];
  return join([...sections, excludedOf(payout, terminal)]);
}

/** A payout after a change: its sums and who was left out, without the lines. */
export function summarizePayout(payout: Payout, names: Names, terminal: Terminal): string {
  const more = lines([`All affiliates: payhook payouts show ${payout.number}`]);
  return join([
    headOf(payout, names, terminal),
    totalsOf(payout, terminal),
    excludedOf(payout, terminal),
    more,
  ]);
}

/** The head of a preview, with the sums by currency. */
export function describeSums(preview: PayoutPreview, terminal: Terminal): string {
  const current = preview.current_payout_id;
  const blocked = current ? [`Not possible now: payout ${current} is unpaid.`] : [];
  const head = `${terminal.paint.strong('Preview')}, nothing was written: ${countsOf(preview)}`;
  return join([lines([head, ...selectionOf(preview), ...blocked]), totalsOf(preview, terminal)]);
}

const countsOf = (payout: Payout | PayoutPreview) =>
  `${count(payout.affiliate_count, 'affiliate')}, ${count(payout.commission_count, 'commission')}`;

function selectionOf(payout: Payout | PayoutPreview): string[] {
  const metadata = describeMetadata(payout.metadata);
  return [
    ...(payout.filters ? [`Filters: ${JSON.stringify(payout.filters)}`] : []),
    ...(payout.search ? [`Search: ${JSON.stringify(payout.search)}`] : []),
    ...(metadata === null ? [] : [`Metadata: ${printable(metadata)}`]),
  ];
}

function headOf(payout: Payout, names: Names, { paint }: Terminal): string {
  const { created_by, paid_by, schedule_id } = payout;
  const status = payout.status === 'paid' ? paint.good('paid') : paint.warning('unpaid');
  const payer = paid_by === null ? '' : ` by ${names(paid_by)}`;
  const paid = payout.paid_at === null ? '' : `, paid ${shortTime(payout.paid_at)}${payer}`;
  return lines([
    `${paint.strong(`Payout ${payout.number}`)}  ${payout.id}  ${status}  revision ${payout.revision}`,
    countsOf(payout),
    `Created ${shortTime(payout.created_at)} by ${names(created_by)}${paid} (UTC)`,
    ...(schedule_id === null ? [] : [`Prepared by the schedule ${schedule_id}`]),
    ...approvalOf(payout, names),
    ...selectionOf(payout),
  ]);
}

const DECIDED = { approved: 'Approved', rejected: 'Rejected' } as const;

/** The state of the approval, if the account requires one. */
function approvalOf(
  { approval: { status, decided_by: by, decided_at: at, note } }: Payout,
  names: Names,
): string[] {
  if (status === 'not_needed') return [];
  if (status === 'waiting')
    return ['Waiting for approval in the dashboard, by someone who did not create or change it'];
  const when = at === null ? '' : ` ${shortTime(at)} (UTC)`;
  const decider = by === null ? '' : ` by ${names(by)}`;
  return [`${DECIDED[status]}${when}${decider}${note === null ? '' : `: ${printable(note)}`}`];
}

/** How many people must approve, who has, who can, and why others cannot. */
function approversOf(
  { required_count: required, required_because: because, approvals, approvers }: PayoutApproval,
  names: Names,
): string {
  const given = approvals.map(({ user_id }) => user_id);
  const able = approvers.filter(({ user_id, can_approve }) => can_approve && !given.includes(user_id));
  const barred = approvers.filter(({ can_approve }) => !can_approve);
  const tooFew = given.length + able.length < required;
  return lines([
    ...(because === null ? [] : [`Two people must approve it: ${because}`]),
    ...(given.length === 0
      ? []
      : [`Approved by ${given.map(names).join(', ')}: ${given.length} of ${required}`]),
    ...(able.length === 0 ? [] : [`Can approve: ${able.map(({ user_id }) => names(user_id)).join(', ')}`]),
    ...barred.flatMap(({ user_id, barred_because }) =>
      barred_because.map(
        ({ message, actor_id, at }) =>
          `Cannot approve: ${names(user_id)}: ${message} (${names(actor_id)}, ${shortTime(at)})`,
      ),
    ),
    ...(tooFew ? ['Too few people can approve it: delete it and create it again'] : []),
  ]);
}

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

function totalsOf({ totals, status }: Payout | PayoutPreview, { paint }: Terminal): string {
  if (totals.length === 0) return '';
  const isPaid = status === 'paid';
  const hasCarried = totals.some((total) => total.carried_amount > 0);
  const settled = isPaid ? [right('PAID'), ...(hasCarried ? [right('CARRIED')] : []), right('RELEASED')] : [];
  const taxes = taxColumns(totals, isPaid);
  return table(
    [
      left('CURRENCY'),
      right('AMOUNT'),
      right('AFFILIATES'),
      right('COMMISSIONS'),
      ...settled,
      ...taxes.map(({ heading }) => right(heading)),
    ],
    totals.map((total) => {
      const { currency } = total;
      const { paid_amount, carried_amount, released_amount } = total;
      const carried = hasCarried ? [carried_amount] : [];
      const amountsSettled = [paid_amount, ...carried, released_amount].map((amount) =>
        decimal({ amount, currency }),
      );
      return [
        currency.toUpperCase(),
        decimal(total),
        String(total.affiliate_count),
        String(total.commission_count),
        ...(isPaid ? amountsSettled : []),
        ...taxes.map(({ of }) => decimal({ amount: of(total), currency })),
      ];
    }),
    paint.faint,
  );
}

function linesOf(payout: Payout, terminal: Terminal): string {
  if (payout.affiliates !== null) {
    return payout.affiliates.length === 0 ? '' : lineTable(payout.affiliates, terminal);
  }
  return `More than 1,000 affiliates. To list them by page: payhook payouts affiliates ${payout.number}\n`;
}

type Total = Payout['totals'][number];

/** The columns of the tax on top, what is withheld, what leaves the bank, and what left it; none where that is the amount. */
function taxColumns(totals: readonly Total[], isPaid: boolean) {
  const taxed = totals.flatMap(({ with_tax }) => with_tax ?? []);
  if (taxed.length === 0) return [];
  const withholds = taxed.some(({ withheld_amount }) => withheld_amount > 0);
  const hasTax = !withholds || taxed.some(({ tax_amount }) => tax_amount > 0);
  return [
    ...(hasTax ? [{ heading: 'TAX ON TOP', of: ({ with_tax }: Total) => with_tax?.tax_amount ?? 0 }] : []),
    ...(withholds
      ? [{ heading: 'WITHHELD', of: ({ with_tax }: Total) => with_tax?.withheld_amount ?? 0 }]
      : []),
    { heading: 'TO PAY', of: (total: Total) => toPay(total) },
    ...(isPaid
      ? [{ heading: 'LEFT THE BANK', of: (total: Total) => total.with_tax?.paid_amount ?? total.paid_amount }]
      : []),
  ];
}

/** Lines of a payout, one per affiliate and currency. */
export function lineTable(lines: readonly PayoutLine[], { paint }: Terminal): string {
  const hasTax = lines.some(({ totals }) => totals.some(({ with_tax }) => with_tax !== undefined));
  return table(
    [
      right('AFFILIATE'),
      { heading: 'NAME', most: LONGEST_NAME },
      { heading: 'E-MAIL', most: LONGEST_EMAIL },
      left('METHOD'),
      right('COMMISSIONS'),
      right('AMOUNT'),
      left('CURRENCY'),
      left('PAID'),
      left('REFERENCE'),
      ...(hasTax ? [right('TO PAY'), left('TAX')] : []),
    ],
    lines.flatMap((line) => rowsOf(line, hasTax)),
    paint.faint,
  );
}

function rowsOf(line: PayoutLine, hasTax: boolean): string[][] {
  return line.totals.map((total) => [
    String(line.affiliate_id),
    line.name ?? '',
    line.email ?? '',
    methodCell(total),
    String(total.commission_count),
    decimal(total),
    total.currency.toUpperCase(),
    paidCell(total),
    total.payment_reference ?? '',
    ...(hasTax ? [decimal({ currency: total.currency, amount: toPay(total) }), taxCell(total)] : []),
  ]);
}

/** The tax of a line, or why it has none: `19.00 on top`, `24.00 withheld`, `none, no agreement`, `none, Reverse charge`. */
function taxCell({ currency, with_tax }: PayoutLine['totals'][number]): string {
  if (with_tax === undefined) return '';
  const { tax_amount, withheld_amount, withholding_rate, reason, exemption } = with_tax;
  if (withholding_rate !== null) return `${decimal({ amount: withheld_amount, currency })} withheld`;
  const why = reason?.replaceAll('_', ' ') ?? exemption;
  return why === null ? `${decimal({ amount: tax_amount, currency })} on top` : `none, ${printable(why)}`;
}

/** How a line is paid: its destination with the last digits of the account, or else the affiliate's payout method. */
function methodCell({ destination, paid_through }: PayoutLine['totals'][number]): string {
  if (destination === null) return paid_through ?? '';
  return destination.last_four === null ? destination.type : `${destination.type} …${destination.last_four}`;
}

/** The outcome of a line: `yes`, `20.00 of it`, `yes, returned`, `yes, 5.00 returned`, `no, released`. */
function paidCell({ currency, is_paid, with_tax, ...total }: PayoutLine['totals'][number]): string {
  if (is_paid === null) return '';
  if (!is_paid) return 'no, released';
  const { paid_amount, returned_amount } = with_tax ?? total;
  const paid = total.carried_amount > 0 ? `${decimal({ amount: paid_amount, currency })} of it` : 'yes';
  if (returned_amount === 0) return paid;
  if (returned_amount === paid_amount) return `${paid}, returned`;
  return `${paid}, ${decimal({ amount: returned_amount, currency })} returned`;
}

function excludedOf({ excluded, number }: Payout, { paint }: Terminal): string {
  if (excluded.length === 0) return '';
  const who = `To list them: payhook payouts excluded ${number}\n`;
  const reasons = table(
    [left('LEFT OUT'), right('AFFILIATES'), right('COMMISSIONS'), right('AMOUNT'), left('CURRENCY')],
    excluded.flatMap(({ reason, totals }) =>
      totals.map((total) => [
        reason.replaceAll('_', ' '),
        String(total.affiliate_count),
        String(total.commission_count),
        decimal(total),
        total.currency.toUpperCase(),
      ]),
    ),
    paint.faint,
  );
  return reasons + who;
}

/** Who was left out of a payout, one line per affiliate, currency and reason. */
export function exclusionTable(exclusions: readonly PayoutExclusion[], { paint }: Terminal): string {
  return table(
    [right('AFFILIATE'), left('LEFT OUT'), right('COMMISSIONS'), right('AMOUNT'), left('CURRENCY')],
    exclusions.map((exclusion) => [
      String(exclusion.affiliate_id),
      exclusion.reason.replaceAll('_', ' '),
      String(exclusion.commission_count),
      decimal(exclusion),
      exclusion.currency.toUpperCase(),
    ]),
    paint.faint,
  );
}
