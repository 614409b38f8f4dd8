import { currencyDigits, formatDecimal } from '../../kernel/money.ts';
import type {
  AffiliateNoticeKind,
  AffiliateNotices,
  Language,
  NoticeAmount,
  NoticeFacts,
} from '../../notices/affiliate-kinds.ts';
import { FORM_NAMES, type NoticeTexts, TEXTS } from '../../notices/affiliate-texts.ts';
import { bodyOf, filled, type Mail, oneLine, unlinked, type Values } from '../../notices/mail.ts';

/** A notice to an affiliate, with everything its e-mail says. */
export interface NoticeToCompose {
  readonly kind: AffiliateNoticeKind;
  readonly facts: NoticeFacts;
  /** The name of the account, and the time zone of its days. */
  readonly merchant: string;
  readonly zone: string;
  readonly settings: Pick<AffiliateNotices, 'language' | 'reply_to'>;
  readonly affiliate: {
    readonly id: number;
    /** null = unknown. */
    readonly name: string | null;
    /** null = that of the account. */
    readonly language: Language | null;
  };
  /** What is attached; null = nothing. */
  readonly attached: 'invoice' | 'statement' | null;
  /** The address that ends the notices. */
  readonly stop: string;
}

/** The e-mail of a notice, in the language of the affiliate, else of the account. */
export function composeNotice(notice: NoticeToCompose): Mail {
  const { kind, settings, affiliate, attached, stop } = notice;
  const language = affiliate.language ?? settings.language;
  const texts = TEXTS[language];
  const values = valuesOf(notice, language);
  const isFormer = notice.facts.to !== undefined;
  const lines = [
    filled(affiliate.name === null ? texts.helloUnnamed : texts.hello, values),
    ...texts[kind].lines.map((line) => filled(line, values)),
    attached === null ? null : texts.attached[attached],
    filled(texts.answer, values),
  ];
  const paragraphs = lines.flatMap((text) => (text === null ? [] : [{ text }]));
  return {
    subject: oneLine(filled(texts[kind].subject, values) ?? ''),
    ...bodyOf(
      [
        ...paragraphs,
        // who has the former address cannot end the e-mails to the new one
        isFormer
          ? { text: filled(texts.former, values) ?? '' }
          : { text: filled(texts.stop, values) ?? '', url: stop },
      ],
      language,
    ),
    settings: isFormer ? null : stop,
    isOneClick: !isFormer && stop.startsWith('https:'), // as RFC 8058 section 3.1 requires
    fromName: unlinked(notice.merchant),
    replyTo: settings.reply_to,
  };
}

function valuesOf(
  { facts, merchant, zone, settings, affiliate }: NoticeToCompose,
  language: Language,
): Values {
  const { payout, at, amounts = [], references = [], reason, email, form } = facts;
  const sumsOf = (field: 'carried' | 'withheld') => {
    const sums = amounts.flatMap(({ currency, [field]: amount = 0 }) =>
      amount > 0 ? [{ currency, amount }] : [],
    );
    return sums.length === 0 ? null : sumOf(sums, language);
  };
  return {
    merchant: unlinked(merchant),
    name: affiliate.name === null ? null : unlinked(affiliate.name),
    id: String(affiliate.id),
    number: payout === undefined ? null : String(payout),
    day: new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: zone }).format(new Date(at)),
    amounts: amounts.length === 0 ? null : sumOf(amounts, language),
    rest: sumsOf('carried'),
    withheld: sumsOf('withheld'),
    references: references.length === 0 ? null : references.map(unlinked).join(', '),
    reason: reason === undefined ? null : withoutStop(unlinked(reason)),
    destination: paidThroughOf(facts, TEXTS[language]),
    email: email === undefined ? null : unlinked(email.replace(/^(.).*@/u, '$1…@')),
    form: form === undefined ? null : FORM_NAMES[form],
    reply: settings.reply_to,
  };
}

/** How the affiliate is paid, with the last four characters of an account number; null = in no way. */
function paidThroughOf(
  { paid_through: type, last_four, currency }: NoticeFacts,
  { paidThrough }: NoticeTexts,
): string | null {
  if (type === undefined) return null;
  const isBank = type !== 'paypal' && type !== 'wise' && type !== 'other';
  const text = filled(paidThrough[isBank ? 'bank' : type], { lastFour: last_four ?? null });
  return text === null || currency === undefined ? text : `${text} (${currency.toUpperCase()})`;
}

/** The sentence ends with a full stop of its own. */
const withoutStop = (text: string) => text.replace(/\.$/, '');

/** Amounts as the language writes them: `1.234,50 € und 12,00 $`. */
const sumOf = (amounts: readonly NoticeAmount[], language: Language) =>
  new Intl.ListFormat(language).format(amounts.map((amount) => amountIn(amount, language)));

function amountIn({ currency, amount }: NoticeAmount, language: Language): string {
  const digits = currencyDigits(currency);
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency: currency.toUpperCase(),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // as a decimal string, which no rounding changes
  return oneLine(format.format(formatDecimal(BigInt(amount), currency) as `${number}`));
}
