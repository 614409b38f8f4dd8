import { count } from './common.ts';

export const home = {
  title: 'Home',
  lead: 'What is owed, what is being paid, and what needs you.',
  owed: {
    title: 'Owed now',
    nothing: 'Nothing is owed.',
    state: 'State',
    amount: 'Amount',
    states: {
      payable: 'Can be paid now',
      in_payout: 'In the current payout',
      on_hold: 'On hold',
      below_minimum: 'Below the minimum',
      negative_balance: 'Negative balances',
      not_ready: 'Payouts paused',
      affiliate_inactive: 'Affiliate inactive',
    },
    all: 'Total',
  },
  current: {
    title: 'Current payout',
    lead: (affiliates: number) => `Pays ${count(affiliates, 'affiliate')}.`,
    open: 'Review and pay',
    review: 'Review',
    none: 'There is no unpaid payout.',
    preview: 'Preview a payout',
  },
  months: {
    title: 'Commissions by month',
    label: (currency: string) => `Commissions by month in ${currency.toUpperCase()}`,
    currency: 'Currency',
    earned: 'Earned',
    refunded: 'Refunded',
    paid: 'Paid',
    empty: 'No commissions in the last twelve months.',
  },
  deliveries: {
    title: 'Deliveries in 24 hours',
    label: 'Deliveries by hour',
    published: (number: number) => count(number, 'delivery', 'deliveries'),
    delivered: (number: number) => `${number.toLocaleString()} delivered`,
    failed: (number: number) => `${number.toLocaleString()} failed`,
    names: { delivered: 'Delivered', failed: 'Failed', open: 'Waiting' },
    empty: 'No deliveries in the last 24 hours.',
  },
  attention: {
    approval: 'The current payout is waiting for approval',
    destination: (number: number) =>
      `${count(number, 'affiliate')} owed money in a currency without a destination`,
    files: (number: number) =>
      `${count(number, 'payment file')} outdated: the payout changed after the download`,
    disabled: (number: number) => `${count(number, 'webhook endpoint')} disabled`,
    failing: (number: number) => `${count(number, 'webhook endpoint')} failing`,
    certificates: (number: number) =>
      `${count(number, 'client certificate')} expired or expiring within 30 days`,
    events: (number: number) => `${count(number, 'delivery', 'deliveries')} failed permanently`,
  },
  begin: {
    title: 'Set up Payhook',
    lead: 'Payhook ticks each step once it is done.',
    done: 'done',
    open: 'to do',
    affiliates: 'Add affiliates',
    commissions: 'Add commissions',
    payout: 'Create the first payout',
    key: 'Create an API key for your shop',
    endpoint: 'Add a webhook endpoint',
    event: 'See an event delivered',
    demo: 'To look around first, fill an empty account:',
    demoCommand: 'npx payhook demo',
  },
};
