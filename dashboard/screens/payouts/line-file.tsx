import type { PaymentFiles, Payout, PayoutLine } from '../../../src/client/api.ts';
import { PAYMENT_FILES } from '../../../src/terms/payments.ts';
import { usePaymentFiles } from '../../data/payouts.ts';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.line;

/** For each currency of a line of an unpaid payout: the payment file that pays it, or why none does. */
export function LineFile({ payout, line }: { payout: Payout; line: PayoutLine }) {
  const { data } = usePaymentFiles(payout);
  if (data === undefined) return <span className="bone" />;
  return line.totals.map((total) => <div key={total.currency}>{fileOf(data, line.affiliate_id, total)}</div>);
}

function fileOf(
  { files }: PaymentFiles,
  affiliate: number,
  { currency, paid_through }: PayoutLine['totals'][number],
): string {
  const ofCurrency = files.filter((file) => file.currency === currency);
  const left = ofCurrency.flatMap(({ skipped }) => skipped.filter((each) => each.affiliate_id === affiliate));
  if (left[0] !== undefined) return texts.noFile(left[0].reason);
  const file = ofCurrency.find(({ format }) => PAYMENT_FILES[format].destination === paid_through);
  if (file === undefined) return texts.byHand;
  const name = `${payouts.methods[file.format]} · ${currency.toUpperCase()}`;
  // the list of whom a file leaves out may be incomplete
  return file.skipped_count > file.skipped.length ? texts.unlessLeftOut(name) : name;
}
