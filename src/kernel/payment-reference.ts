/**
 * What names a payment in the files of a payout, such as `P1-A12`: the number of the payout, the id of the affiliate.
 * The letters keep spreadsheets from reading a date. The statement of `payment-files/rows` writes the same.
 */
export function paymentReference(payout: number, affiliate: number): string {
  return `P${payout}-A${affiliate}`;
}

/** Reads a reference, also one without letters, as files once had it; null for another text. */
export function readPaymentReference(text: string): { payout: number; affiliate: number } | null {
  const [, payout, affiliate] = /^P?(\d{1,15})-A?([1-9]\d{0,14})$/.exec(text) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}
