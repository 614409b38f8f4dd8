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
    report: 'Open the report',
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
    forms: (number: number) => `${count(number, 'tax form')} valid until the end of this year`,
    events: (number: number) => `${count(number, 'delivery', 'deliveries')} failed permanently`,
  },
  demo: {
    title: 'Look around first',
    lead: 'A demo account has months of payouts and a day of webhooks, all made up. It is separate from this account, and you can delete it at any time.',
    create: 'Create a demo account',
    creating: 'Creating the demo account…',
    open: 'Open your demo account',
    command: 'npx payhook demo',
    banner: 'This is a demo account: everything in it is made up.',
    delete: 'Delete the demo account',
    deleteLead: 'It is deleted with everything in it. Your other accounts stay as they are.',
  },
  begin: {
    title: 'Set up Payhook',
    lead: 'Each step is ticked once it is done. The list disappears with the last one.',
    currency: (code: string) => `Amounts that name no currency are in ${code}.`,
    settings: 'Change currency and hold',
    done: 'done',
    open: 'to do',
    hide: 'Hide this list',
    steps: {
      affiliates: {
        title: 'Import your affiliates',
        action: 'Import affiliates',
        command: 'npx payhook affiliates import affiliates.csv',
      },
      commissions: {
        title: 'Import commissions, or send them from your shop',
        action: 'Import commissions',
        command: 'npx payhook commissions import commissions.csv',
      },
      endpoint: {
        title: 'Add a webhook endpoint',
        action: 'Add an endpoint',
        command: 'npx payhook webhooks create https://shop.example.com/webhooks',
      },
      colleague: {
        title: 'Invite a colleague',
        action: 'Invite a colleague',
        command: 'npx payhook users invite grace@example.com --name Grace --role finance',
      },
      payout: {
        title: 'Make the first payout',
        action: 'Preview a payout',
        command: 'npx payhook payouts create',
      },
    },
  },
};
