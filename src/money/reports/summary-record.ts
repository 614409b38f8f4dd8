import { type Static, Type } from 'typebox';
import { amount, currencyCode, nullable, strict } from '../../contract/schemas.ts';

/** What the rows of a summary are of. */
export const GROUPINGS = ['currency', 'method', 'program', 'country', 'affiliate'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The amounts of a row, in the order of its columns. */
export const FIGURES = {
  opening: 'owed before the first day',
  earned: 'commissions, dated by the sale',
  adjusted: 'manual credits, less debits, dated by their own date',
  refunded:
    'amounts taken by refunds, also of paid commissions, dated by the refund; reversed refunds do not count',
  voided: 'the remaining amounts of commissions that were voided manually, dated by the day they were voided',
  paid: 'payments, dated by the payment',
  returned: 'returned payments, less returns that were undone, dated by the return',
  closing: 'owed after the last day: opening + earned + adjusted - refunded - voided - paid + returned',
} as const;
export type Figure = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as Figure[];

const figure = (name: Figure) => nullable({ ...amount, description: FIGURES[name] });
const figures = {
  opening_amount: figure('opening'),
  earned_amount: figure('earned'),
  adjusted_amount: figure('adjusted'),
  refunded_amount: figure('refunded'),
  voided_amount: figure('voided'),
  paid_amount: figure('paid'),
  returned_amount: figure('returned'),
  closing_amount: figure('closing'),
};

const summaryRow = strict(
  {
    key: nullable(
      Type.String({
        description:
          'the currency, payout method, id of the program, country (ISO 3166-1 alpha-2) or id of the affiliate; null: none, or unknown',
        examples: ['usd'],
      }),
    ),
    name: nullable(
      Type.String({
        description: 'of the program or affiliate; the e-mail address of an affiliate without a name',
      }),
    ),
    currency: currencyCode,
    ...figures,
  },
  { title: 'ReportSummaryRow' },
);

/** What was earned, refunded, adjusted, paid and returned in a period. */
export const reportSummary = strict(
  {
    object: Type.Literal('report_summary'),
    by: Type.Enum([...GROUPINGS]),
    from: nullable(
      Type.String({ description: 'the first day; null = from the beginning', examples: ['2026-07-01'] }),
    ),
    to: nullable(
      Type.String({
        description: 'the last day; null = until now, including later-dated entries',
        examples: ['2026-09-30'],
      }),
    ),
    time_zone: Type.String({
      description: 'of the account: the days are in it',
      examples: ['Europe/Berlin'],
    }),
    totals: Type.Array(strict({ currency: currencyCode, ...figures }, { title: 'ReportSummaryTotal' }), {
      description: 'of the whole period, one for each currency',
    }),
    rows: Type.Array(summaryRow, {
      description:
        'one for each group and currency: ordered by currency, then the most paid, the most earned and the most owed first',
    }),
    row_count: Type.Integer({ description: 'of all pages' }),
    page: Type.Integer(),
    per_page: Type.Integer(),
  },
  { title: 'ReportSummary' },
);
export type ReportSummary = Static<typeof reportSummary>;
