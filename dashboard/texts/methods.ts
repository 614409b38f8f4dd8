/** The name of each payout method. */
export const methodNames = { paypal: 'PayPal', wise: 'Wise', other: 'Other' };

/** How the money of a payout is sent, by method. */
export const methodSteps = {
  paypal: 'Upload the file at PayPal under Payouts, check that its total matches, and approve it.',
  wise: 'Upload the file at Wise as a batch payment, check the recipients, and fund it.',
  other: 'Pay these affiliates by bank transfer or however you agreed with them.',
};
