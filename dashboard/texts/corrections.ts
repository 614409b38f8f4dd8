import { count } from './common.ts';

const affiliates = (number: number) => count(number, 'affiliate');

/** What banks correct in where affiliates are paid. */
export const corrections = {
  title: 'Corrections by banks',
  count: (number: number) =>
    `${affiliates(number)}: the bank corrected where ${number === 1 ? 'it is' : 'they are'} paid.`,
  lead: 'Nothing changes until you decide. Nacha requires the change within six banking days, or before the next payment to the account.',
  what: 'The bank says',
  fields: {
    account_holder: 'Account holder',
    routing_number: 'Routing number',
    account_number: 'Account number',
    account_type: 'Account type',
  },
  change: (field: string, from: string | null, to: string) => `${field}: ${from ?? 'none'} → ${to}`,
  due: 'Due',
  action: 'Decide',
  accept: 'Use this correction',
  dismiss: 'Dismiss',
  accepted: 'The destination was changed',
  dismissed: 'The correction was dismissed',
  revises:
    'An unpaid payout gets a new revision, so its payment files are outdated and an approval is void. The correction is kept.',
  stays: 'The destination stays as it is. The correction is kept.',
  read: (number: number) =>
    `It corrects where ${affiliates(number)} ${number === 1 ? 'is' : 'are'} paid: decide about it on the page of the payout.`,
  more: (number: number) => `and ${number} more`,
};
