import { type Static, Type } from 'typebox';
import { email, nullable, strict } from '../../contract/schemas.ts';
import { EMAIL_RULE, newEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import { LANGUAGES } from '../../notices/affiliate-kinds.ts';
import { noticeLanguage } from '../../notices/affiliate-schemas.ts';
import type { ContactNotices } from '../../notices/contacts.ts';

const portalUrl = { description: 'your page on which they open their portal: https, or http on localhost' };
const language = { ...noticeLanguage, description: 'default en' };
const replyTo = { description: 'where answers go; null = to the sender' };

/** The e-mails to the contacts of webhook endpoints. */
export const contactNotices = strict(
  { portal_url: nullable(Type.String(portalUrl)), language, reply_to: nullable(Type.String(replyTo)) },
  { title: 'ContactNotices', description: 'e-mails to `contact_email` of endpoints; null = none are sent' },
);

export const contactNoticesInput = strict({
  portal_url: Type.Optional(nullable(Type.String({ ...portalUrl, minLength: 1, maxLength: 2048 }))),
  language: Type.Optional(language),
  reply_to: Type.Optional(nullable({ ...email, ...replyTo })),
});
export type ContactNoticesInput = Static<typeof contactNoticesInput>;

/** The setting as it is stored. Throws `invalid_body`. */
export function contactNoticesFrom(input: ContactNoticesInput): ContactNotices {
  const { portal_url: portal = null, language: chosen = LANGUAGES[0], reply_to: address = null } = input;
  const reply = address === null ? null : newEmail(address);
  if (address !== null && reply === null)
    throw fail('invalid_body', `contact_notices.reply_to must be ${EMAIL_RULE}`);
  return { portal_url: portal === null ? null : pageFrom(portal), language: chosen, reply_to: reply };
}

function pageFrom(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAllowed =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1)$/.test(url.hostname));
  if (url === null || !isAllowed || url.username !== '' || url.password !== '')
    throw fail(
      'invalid_body',
      'contact_notices.portal_url must be an https address without credentials, or http on localhost or 127.0.0.1',
    );
  return url.href;
}
