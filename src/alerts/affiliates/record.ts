import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { noticeKind, noticeLanguage } from '../../notices/affiliate-schemas.ts';

/** How far a notice has got. */
export const NOTICE_STATUSES = ['waiting', 'sent', 'failed'] as const;

/** An e-mail to an affiliate. */
export const affiliateNotice = strict(
  {
    id: Type.String({ examples: ['ntc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('affiliate_notice'),
    kind: noticeKind,
    affiliate_id: Type.Integer(),
    is_to_former_address: Type.Boolean({
      description: 'an address that the affiliate had until then',
    }),
    payout_id: nullable(Type.String({ description: 'the payout it is about' })),
    status: Type.Enum([...NOTICE_STATUSES], {
      title: 'AffiliateNoticeStatus',
      description:
        'sent: the SMTP server accepted it; failed: it was given up after about a day, or permanently refused',
    }),
    tries: Type.Integer({ minimum: 0, description: 'how often it was tried' }),
    error: nullable(Type.String({ description: 'why the last try failed' })),
    created_at: timestamp,
    sent_at: nullable({ ...timestamp, description: 'when the SMTP server accepted it' }),
  },
  { title: 'AffiliateNotice' },
);
export type AffiliateNotice = Static<typeof affiliateNotice>;

/** SQL of the status, over `notices n`. */
export const noticeStatus =
  "case when n.sent_at is not null then 'sent' when n.failed_at is not null then 'failed' else 'waiting' end";

/** Its columns, over `notices n`. */
export const record = columnsOf(affiliateNotice, {
  id: "public_id('ntc', n.id)",
  object: "'affiliate_notice'",
  kind: 'n.kind',
  affiliate_id: 'n.affiliate_id',
  is_to_former_address: "n.data::jsonb ? 'to'",
  payout_id: "case when n.subject like 'po\\_%' then n.subject end",
  status: noticeStatus,
  tries: 'n.tries',
  error: 'n.error',
  created_at: 'iso(id_time(n.id))',
  sent_at: 'iso(n.sent_at)',
});

/** Which notice to show. */
export const previewQuery = strict({
  kind: noticeKind,
  language: Type.Optional({ ...noticeLanguage, description: 'default: that of the account' }),
});

/** A notice with example data. */
export const noticePreview = strict(
  {
    object: Type.Literal('affiliate_notice_preview'),
    kind: noticeKind,
    language: { ...noticeLanguage, description: 'of the text' },
    is_on: Type.Boolean({ description: 'whether the account sends this kind' }),
    is_email_sent: Type.Boolean({ description: 'whether the server sends e-mail' }),
    from_name: Type.String({ description: 'the name of the sender' }),
    reply_to: nullable(Type.String({ description: 'where answers go; null = to the sender' })),
    subject: Type.String({ description: 'of the e-mail' }),
    text: Type.String({ description: 'the body as plain text' }),
    html: Type.String({ description: 'the body as HTML' }),
  },
  { title: 'AffiliateNoticePreview' },
);
export type NoticePreview = Static<typeof noticePreview>;
