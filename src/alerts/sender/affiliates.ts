import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from '../../db/database.ts';
import { keyInForce } from '../../db/secret-key.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import type {
  AffiliateNoticeKind,
  AffiliateNotices,
  Language,
  NoticeFacts,
} from '../../notices/affiliate-kinds.ts';
import { deleteUnwantedNotices, isWanted } from '../../notices/affiliates.ts';
import { type MailFile, unlinked } from '../../notices/mail.ts';
import { notify } from '../../notices/notices.ts';
import { stopLink } from '../../notices/stop.ts';
import { composeNotice } from '../affiliates/compose.ts';
import { leasing, sendAlone } from './alone.ts';
import type { Mailer, Unsent } from './mail.ts';

/** The document of a payment, for its notice. */
export interface NoticePaper {
  readonly kind: 'invoice' | 'statement';
  readonly files: readonly MailFile[];
}

/** Makes the documents of a payment to an affiliate in a payout (public id); null = there is none to attach. */
export type PapersOf = (
  db: Database,
  of: { readonly account: AccountId; readonly affiliate: number; readonly payout: string },
) => Promise<NoticePaper | null>;

interface Options {
  readonly db: Database;
  readonly log: Logger;
  readonly vault: Vault;
  /** The public address of the server. */
  readonly base: string;
  readonly papers: PapersOf;
}

/** A notice to an affiliate, leased to be sent, with the affiliate and the account as they are now. */
interface ClaimedNotice {
  readonly lease: string;
  readonly id: string;
  readonly account: AccountId;
  readonly merchant: string;
  readonly zone: string;
  readonly settings: string;
  readonly kind: AffiliateNoticeKind;
  readonly subject: string | null;
  readonly facts: string;
  readonly affiliate: bigint;
  readonly email: string;
  readonly name: string | null;
  readonly language: Language | null;
  /** Of the secret key that signs links. */
  readonly fingerprint: string;
}

/** Leases notices that are due and still wanted. */
function claimNotices(tx: Tx): Promise<ClaimedNotice[]> {
  return rows(
    tx,
    sql`with ${leasing(
      sql`affiliates a on a.account_id = n.account_id and a.id = n.affiliate_id`,
      sql`n.affiliate_id is not null and ${isWanted}`,
    )}
        select t.lease, t.id, t.account_id as account, o.name as merchant, o.time_zone as zone,
               o.affiliate_notices::text as settings, t.kind, t.subject, t.data::text as facts, a.id as affiliate, coalesce(t.data ->> 'to', a.email) as email,
               nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '') as name, a.language, ${keyInForce} as fingerprint
        from taken t
        join accounts o on o.id = t.account_id
        join affiliates a on a.account_id = t.account_id and a.id = t.affiliate_id
        order by t.due_at, t.id`,
    'claim_affiliate_notices',
  );
}

/** Sends the notices to affiliates that are due. */
export function sendToAffiliates(options: Options, mailer: Mailer): Promise<void> {
  return sendAlone(options, {
    name: 'affiliates',
    drop: deleteUnwantedNotices,
    claim: claimNotices,
    send: (notice) => send(options, mailer, notice),
    // the alert names nobody
    onGivenUp: (tx, { account }) =>
      notify(tx, [{ account, kind: 'affiliate_notice_failed', subject: null, data: {} }]),
  });
}

async function send(
  { db, vault, base, papers }: Options,
  mailer: Mailer,
  { account, kind, subject, email, name, language, merchant, zone, id, ...notice }: ClaimedNotice,
): Promise<Unsent> {
  const affiliate = Number(notice.affiliate);
  const settings = JSON.parse(notice.settings) as AffiliateNotices;
  const paper =
    kind === 'paid' && subject !== null ? await papers(db, { account, affiliate, payout: subject }) : null;
  const mail = composeNotice({
    kind,
    facts: JSON.parse(notice.facts) as NoticeFacts,
    merchant,
    zone,
    settings,
    affiliate: { id: affiliate, name, language },
    attached: paper?.kind ?? null,
    stop: stopLink(
      { account, affiliate },
      { base, vault, fingerprint: notice.fingerprint, language: language ?? settings.language },
    ),
  });
  const to = { email, name: name === null ? '' : unlinked(name) };
  return mailer.send(to, { ...mail, files: paper?.files ?? [] }, id);
}
