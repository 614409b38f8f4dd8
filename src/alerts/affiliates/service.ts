import type { Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import {
  type AffiliateNoticeKind,
  LANGUAGES,
  type Language,
  type NoticeFacts,
} from '../../notices/affiliate-kinds.ts';
import { sendsMail } from '../../notices/notices.ts';
import { STOP_PATH } from '../../notices/stop.ts';
import { composeNotice } from './compose.ts';
import type { NoticePreview } from './record.ts';
import { readNoticeAccount } from './store.ts';

/** What the preview of each kind shows. */
const EXAMPLES: Readonly<Record<AffiliateNoticeKind, NoticeFacts>> = {
  paid: {
    payout: 12,
    at: '2026-09-01T12:00:00.000Z',
    amounts: [
      { currency: 'eur', amount: 123_450, carried: 0 },
      { currency: 'usd', amount: 9900, carried: 500 },
    ],
    references: ['PAYOUT-12-7'],
  },
  returned: {
    payout: 12,
    at: '2026-09-03T12:00:00.000Z',
    amounts: [{ currency: 'eur', amount: 123_450 }],
    reason: 'account closed',
  },
  destination_changed: {
    at: '2026-09-01T12:00:00.000Z',
    paid_through: 'sepa',
    last_four: '3000',
    email: 'ada@example.com',
  },
  form_lapsing: { at: '2026-12-31T12:00:00.000Z', form: 'w8ben' },
  agreement_ending: { at: '2026-12-31T12:00:00.000Z' },
};

/** The e-mail of a kind with example data, as an affiliate named Ada gets it. `base` is the public address of the server. */
export async function previewNotice(
  db: Reader,
  account: AccountId,
  { kind, language, base }: { kind: AffiliateNoticeKind; language: Language | undefined; base: string },
): Promise<Json<NoticePreview>> {
  const { name, zone, settings } = await readNoticeAccount(db, account);
  const own = settings ?? { kinds: [], language: LANGUAGES[0], reply_to: null };
  const shown = language ?? own.language;
  const {
    subject,
    text,
    html,
    fromName = '',
  } = composeNotice({
    kind,
    facts: EXAMPLES[kind],
    merchant: name,
    zone,
    settings: own,
    affiliate: { id: 7, name: 'Ada', language: shown },
    attached: kind === 'paid' ? 'statement' : null,
    stop: `${base}${STOP_PATH}`,
  });
  return toJson({
    object: 'affiliate_notice_preview',
    kind,
    language: shown,
    is_on: own.kinds.includes(kind),
    is_email_sent: await sendsMail(db),
    from_name: fromName,
    reply_to: own.reply_to,
    subject,
    text,
    html,
  });
}
