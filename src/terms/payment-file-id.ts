/** A payment file as its id names it. */
export interface PaymentFileId {
  /** The number of the payout. */
  readonly payout: number;
  /** The revision of the payout at which the file was first downloaded. */
  readonly revision: number;
  /** From 1. */
  readonly part: number;
  /** The beginning of the digest of its content; null in files of earlier versions. */
  readonly code: string | null;
}

/** A MsgId and PmtInfId has at most this many characters (ISO 20022, Max35Text). */
const LONGEST = 35;

/** The id of a payment file, such as `P12-R3-F1-7K2MQ9XD`. Throws when it would be longer than banks take. */
export function paymentFileId({ payout, revision, part, code }: PaymentFileId): string {
  const id = [`P${payout}`, `R${revision}`, `F${part}`, ...(code === null ? [] : [code])].join('-');
  if (id.length > LONGEST) throw new Error(`the id of a payment file has ${id.length} characters: ${id}`);
  return id;
}

/** Parses the id of a payment file; null for any other text. */
export function readPaymentFileId(text: string | undefined): PaymentFileId | null {
  if (text === undefined || text.length > LONGEST) return null;
  const [, payout, revision, part, code = null] =
    /^P(\d{1,15})-R(\d{1,10})-F(\d{1,10})(?:-([0-9A-Z]{8}))?$/.exec(text) ?? [];
  return payout === undefined
    ? null
    : { payout: Number(payout), revision: Number(revision), part: Number(part), code };
}
