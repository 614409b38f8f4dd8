import { count } from './common.ts';

export const payouts = {
  title: 'Payouts',
  lead: 'Who is paid how much, and who was.',
  name: (number: number) => `Payout #${number}`,
  status: { unpaid: 'Unpaid', paid: 'Paid' },
  anyStatus: 'Any status',
  new: 'New payout',
  openCurrent: (number: number) => `Open payout #${number}`,
  viewer: 'Your role may read only: an owner or a member makes payouts.',
  columns: {
    number: 'Payout',
    status: 'Status',
    affiliates: 'Affiliates',
    commissions: 'Commissions',
    amount: 'Amount',
    created: 'Created',
    paid: 'Paid',
  },
  empty: {
    title: 'No payouts yet',
    lead: 'A payout collects the commissions that are owed, works out who gets how much, and keeps the record of what was paid. First you see a preview; nothing is changed by it.',
    filtered: 'No payout has this status.',
    command: 'npx payhook payouts preview',
  },
  affiliates: (number: number) => count(number, 'affiliate'),
  commissions: (number: number) => count(number, 'commission'),
};
