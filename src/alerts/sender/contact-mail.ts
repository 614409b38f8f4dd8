import { CONTACT_TEXTS } from '../../notices/contact-texts.ts';
import { CONFIRMATION, type ContactNoticeKind, type ContactNotices } from '../../notices/contacts.ts';
import type { AlertData } from '../../notices/kinds.ts';
import { bodyOf, filled, type Mail, oneLine, type Paragraph, unlinked } from '../../notices/mail.ts';

/** A notice to the contact of an endpoint, with everything its e-mail says. */
interface ContactNotice {
  readonly kind: ContactNoticeKind;
  readonly data: AlertData;
  /** The name of the account. */
  readonly merchant: string;
  readonly settings: ContactNotices;
  /** The address that confirms the contact; null unless the notice asks for it. */
  readonly link: string | null;
  /** The address that ends the notices. */
  readonly stop: string;
}

/**
 * The e-mail of a notice to a contact, in the language of the account. A confirmation has no text of the endpoint, because whoever set
 * the address may have chosen that too.
 */
export function composeForContact({ kind, data, merchant, settings, link, stop }: ContactNotice): Mail {
  const { language, portal_url: portal, reply_to: replyTo } = settings;
  const texts = CONTACT_TEXTS[language];
  const values = {
    merchant: unlinked(merchant),
    host: data.host === undefined ? null : unlinked(data.host),
    percent: data.percent === undefined ? null : String(data.percent),
    why: data.reason === undefined ? null : texts.why[data.reason],
    reply: replyTo,
  };
  const paragraph = (text: string, url?: string): Paragraph[] => {
    const words = filled(text, values);
    return words === null ? [] : [{ text: words, ...(url === undefined ? {} : { url }) }];
  };
  const isQuestion = kind === CONFIRMATION;
  const paragraphs = [
    ...paragraph(texts.hello),
    ...texts[kind].lines.flatMap((line) => paragraph(line)),
    ...(isQuestion && link !== null ? paragraph(texts.confirm, `${link}&language=${language}`) : []),
    ...(isQuestion ? paragraph(texts.ignore) : []),
    ...(!isQuestion && portal !== null ? paragraph(texts.portal, portal) : []),
    ...paragraph(texts.answer),
    ...(isQuestion ? [] : paragraph(texts.stop, stop)),
  ];
  return {
    subject: oneLine(texts[kind].subject),
    ...bodyOf(paragraphs, language),
    settings: isQuestion ? null : stop,
    isOneClick: !isQuestion && stop.startsWith('https:'), // as RFC 8058 section 3.1 requires
    fromName: unlinked(merchant),
    replyTo,
  };
}
