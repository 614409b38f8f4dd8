import type { DestinationType } from '../terms/payments.ts';
import type { LAPSING_FORMS } from '../terms/taxes.ts';

/** The languages of what affiliates are sent. The first is that of an account that chose none. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Every kind of notice to an affiliate, and when it is sent. */
export const AFFILIATE_NOTICES = {
  paid: 'a payout that pays the affiliate was completed',
  returned: 'a payment to the affiliate was booked as returned',
  destination_changed: 'the destination or e-mail address was changed; also sent to the former address',
  form_lapsing: 'the tax form lapses at the end of the year',
  agreement_ending: 'the self-billing agreement ends within 90 days',
} as const;
export type AffiliateNoticeKind = keyof typeof AFFILIATE_NOTICES;
export const AFFILIATE_NOTICE_KINDS = Object.keys(AFFILIATE_NOTICES) as AffiliateNoticeKind[];

/** The notices of an account, as it chose them. */
export interface AffiliateNotices {
  readonly kinds: readonly AffiliateNoticeKind[];
  readonly language: Language;
  /** Where answers go; null = to the sender. */
  readonly reply_to: string | null;
}

/** An amount that was paid or returned. */
export interface NoticeAmount {
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
  /** The rest that the next payout owes. */
  readonly carried?: number;
  /** What was withheld of it for the IRS. */
  readonly withheld?: number;
}

/** What the text of a notice needs, as it was when the change was made. Each kind uses some of it. */
export interface NoticeFacts {
  /** The number of the payout. */
  readonly payout?: number;
  /** When it happened, or the last day of the form or agreement: RFC 3339. */
  readonly at: string;
  readonly amounts?: readonly NoticeAmount[];
  /** How the payments are named in bank statements. */
  readonly references?: readonly string[];
  /** Why a payment came back. */
  readonly reason?: string;
  /** The former address that the notice goes to; undefined = to the affiliate. */
  readonly to?: string;
  /** The address of the affiliate since. */
  readonly email?: string;
  /** The only currency in which that is so; undefined = all. */
  readonly currency?: string;
  /** How the affiliate is paid since; undefined = in no way. */
  readonly paid_through?: DestinationType;
  /** Of the account number. */
  readonly last_four?: string;
  /** The tax form, such as `w8ben`. */
  readonly form?: (typeof LAPSING_FORMS)[number];
}
