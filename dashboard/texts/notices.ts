import type { AffiliateNoticeKind } from '../../src/client/api.ts';
import { roleCannot } from './roles.ts';

export const notices = {
  lead: 'E-mails to your affiliates about their payments, and to your customers about their webhook endpoints. Nobody gets one until you say so.',
  sent: 'What affiliates get',
  off: 'This server sends no e-mail yet. Its operator can set SMTP_URL and SMTP_FROM.',
  readOnly: roleCannot('write', 'change settings'),
  kinds: {
    paid: 'Paid',
    returned: 'Payment returned',
    destination_changed: 'Payment details changed',
    form_lapsing: 'Tax form lapses',
    agreement_ending: 'Self-billing agreement ends',
  } satisfies Record<AffiliateNoticeKind, string>,
  meanings: {
    paid: 'A payout was completed. The invoice or the statement is attached.',
    returned: 'A payment came back, with the reason.',
    destination_changed:
      'Where the affiliate is paid, or the e-mail address, was changed. Also sent to the former address.',
    form_lapsing: 'A W-8 lapses at the end of the year. Sent once for each form, when you are alerted.',
    agreement_ending:
      'A self-billing agreement ends within 90 days. Sent once for each last day, when you are alerted.',
  } satisfies Record<AffiliateNoticeKind, string>,
  language: 'Language',
  languageHint:
    'For affiliates without a language of their own. “Edit” of an affiliate has their language, and whether they get e-mails.',
  reply: 'Where answers go',
  replyHint: 'An e-mail address that you read. Without it, answers go to the sender.',
  save: 'Save e-mails',
  saved: 'E-mails saved',
  preview: 'Preview',
  previewLead: 'With example data, made by the code that sends it. Saved settings apply.',
  kind: 'E-mail',
  previewLanguage: 'Shown in',
  from: 'From',
  answers: 'Answers to',
  subject: 'Subject',
  toSender: 'the sender',
  text: 'Text of the e-mail',
  contacts: {
    title: 'Contacts of webhook endpoints',
    on: 'E-mail the contact when an endpoint fails, is disabled or works again',
    onHint:
      'You or your customer, in the portal, give an endpoint a contact. It gets a link first, and nothing else until it opens it.',
    portal: 'Page with the portal',
    portalHint:
      'Where your customers open their portal, such as https://shop.example.com/webhooks. It is in every e-mail.',
    language: 'Language of these e-mails',
    reply: 'Where answers to them go',
    save: 'Save contact e-mails',
    saved: 'Contact e-mails saved',
  },
  list: {
    title: 'E-mails',
    hint: 'What this affiliate is sent about payments: what waits, and what was sent or failed within a week.',
    to: 'To',
    own: 'Their address',
    former: 'A former address',
    status: 'Status',
    statuses: { waiting: 'Waiting', sent: 'Sent', failed: 'Failed' },
    recorded: 'Recorded',
    sentAt: 'Sent',
    error: 'Last error',
  },
};
