import { type Static, Type } from 'typebox';
import { email, nullable, strict } from '../../contract/schemas.ts';
import { EMAIL_RULE, newEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import { AFFILIATE_NOTICE_KINDS, type AffiliateNotices, LANGUAGES } from '../../notices/affiliate-kinds.ts';
import { noticeKind, noticeLanguage } from '../../notices/affiliate-schemas.ts';

const kinds = Type.Array(noticeKind, { uniqueItems: true, minItems: 1, description: 'what is sent' });
const language = { ...noticeLanguage, description: 'for affiliates without a `language`; default en' };
const replyTo = { description: 'where answers go; null = to the sender' };

/** The e-mails that affiliates get. */
export const affiliateNotices = strict(
  { kinds, language, reply_to: nullable(Type.String(replyTo)) },
  { title: 'AffiliateNotices', description: 'e-mails to affiliates; null = none are sent' },
);

export const affiliateNoticesInput = strict({
  kinds,
  language: Type.Optional(language),
  reply_to: Type.Optional(nullable({ ...email, ...replyTo })),
});
export type AffiliateNoticesInput = Static<typeof affiliateNoticesInput>;

/** The setting as it is stored. Throws `invalid_body` for an address to which no mail can be sent. */
export function affiliateNoticesFrom(input: AffiliateNoticesInput): AffiliateNotices {
  const { kinds: given, language: chosen = LANGUAGES[0], reply_to: address = null } = input;
  const reply = address === null ? null : newEmail(address);
  if (address !== null && reply === null)
    throw fail('invalid_body', `affiliate_notices.reply_to must be ${EMAIL_RULE}`);
  return {
    kinds: AFFILIATE_NOTICE_KINDS.filter((kind) => given.includes(kind)),
    language: chosen,
    reply_to: reply,
  };
}
