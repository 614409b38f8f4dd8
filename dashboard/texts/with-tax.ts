import { listed } from './common.ts';

/** The tax on top of net commissions, and what is withheld. */
export const withTax = {
  tax: 'Tax on top',
  withheld: 'Withheld for the IRS',
  setting: 'Backup withholding',
  settingHint:
    'Payouts withhold 24 % of payments in US dollars, PayPal aside, from affiliates in the United States who have not given a W-9 with a US tax id. You pay it to the IRS. A payout that exists keeps what it withholds.',
  settings: {
    none: 'Nothing is withheld',
    at_threshold: 'From the threshold of Form 1099-NEC on',
    always: 'From the first payment on',
  },
  toPay: 'To pay',
  paid: 'Left the bank',
  plus: (tax: string, sum: string) => `plus ${tax} of tax: ${sum}`,
  less: (tax: string, sum: string) => `less ${tax} withheld: ${sum}`,
  none: (why: string) => `no tax: ${why}`,
  ofIt: (sums: readonly string[]) => `leaves the bank, commissions ${listed(sums)}`,
  reasons: {
    no_agreement: 'no agreement to self-billing',
    agreement_expired: 'the agreement has ended',
    no_rule: 'no tax rule matches',
    no_tax_id: 'the tax rule requires a tax id',
    no_invoicing: 'the account has no tax profile or no tax rules',
  },
};
