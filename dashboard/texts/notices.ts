import type { AffiliateNoticeKind } from '../../src/client/api.ts';
import { roleCannot } from './roles.ts';

export const notices = {
  lead: 'E-mails to your affiliates about their payments. Nobody gets one until you choose a kind.',
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
