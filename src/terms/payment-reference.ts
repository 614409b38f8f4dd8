/**
 * The reference of a payment in the files of a payout, such as `P1-A12`: the number of the payout and the id of the
 * affiliate. The letters keep spreadsheets from parsing it as a date. The SQL in `payment-files/rows` writes the same.
 */
export function paymentReference(payout: number, affiliate: number): string {
  return `P${payout}-A${affiliate}`;
}

/** Parses a reference, including those without letters from earlier versions; null for any other text. */
export function readPaymentReference(text: string): { payout: number; affiliate: number } | null {
  const [, payout, affiliate] = /^P?(\d{1,15})-A?([1-9]\d{0,14})$/.exec(text) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}
