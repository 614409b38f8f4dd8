/** The name of each payout method, type of destination and format of payment files. */
export const methodNames = {
  paypal: 'PayPal',
  wise: 'Wise',
  other: 'Other',
  sepa: 'SEPA',
  ach: 'ACH',
  nacha: 'NACHA',
};

/** How the money of a payout is sent, by method. */
export const methodSteps = {
  paypal: 'Upload the file at PayPal under Payouts, check that its total matches, and approve it.',
  wise: 'Upload the file at Wise as a batch payment, check the recipients, and fund it.',
  sepa: 'Upload the file in your online banking, check that its sum matches, and release it.',
  nacha: 'Upload the file in the ACH service of your bank, check its total, and release it.',
  other: 'Pay these affiliates by bank transfer or however you agreed with them.',
};
