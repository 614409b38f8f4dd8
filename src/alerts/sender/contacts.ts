import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from '../../db/database.ts';
import { keyInForce } from '../../db/secret-key.ts';
import { type AccountId, type EndpointId, idOf } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import {
  addressHash,
  type ContactNoticeKind,
  type ContactNotices,
  dropUnwantedByContacts,
  isWantedByContact,
} from '../../notices/contacts.ts';
import type { AlertData } from '../../notices/kinds.ts';
import { nameOf, notify, placeOfLink } from '../../notices/notices.ts';
import { stopLink } from '../../notices/stop.ts';
import { leasing, sendAlone } from './alone.ts';
import { composeForContact } from './contact-mail.ts';
import type { Mailer, Unsent } from './mail.ts';

interface Options {
  readonly db: Database;
  readonly log: Logger;
  readonly vault: Vault;
  /** The public address of the server. */
  readonly base: string;
}

/** A notice to a contact, leased to be sent, with the endpoint and the account as they are now. */
interface ClaimedNotice {
  readonly lease: string;
  readonly id: string;
  readonly account: AccountId;
  readonly merchant: string;
  readonly settings: string;
  readonly kind: ContactNoticeKind;
  readonly data: string;
  /** Sealed. */
  readonly link: Buffer | null;
  readonly endpoint: EndpointId;
  readonly url: string | null;
  readonly email: string;
  /** Of the secret key that signs links. */
  readonly fingerprint: string;
}

/** Leases notices that are due and still wanted. */
function claimNotices(tx: Tx): Promise<ClaimedNotice[]> {
  return rows(
    tx,
    sql`with ${leasing(
      sql`webhook_endpoints e on e.account_id = n.account_id and e.id = n.endpoint_id`,
      sql`n.endpoint_id is not null and ${isWantedByContact}`,
    )}
        select t.lease, t.id, t.account_id as account, o.name as merchant, o.contact_notices::text as settings, t.kind,
               t.data::text as data, t.link, e.id as endpoint, e.url, e.contact_email as email, ${keyInForce} as fingerprint
        from taken t
        join accounts o on o.id = t.account_id
        join webhook_endpoints e on e.account_id = t.account_id and e.id = t.endpoint_id
        order by t.due_at, t.id`,
    'claim_contact_notices',
  );
}

/** Sends the notices to contacts of endpoints that are due. */
export function sendToContacts(options: Options, mailer: Mailer): Promise<void> {
  return sendAlone(options, {
    name: 'contacts',
    drop: dropUnwantedByContacts,
    claim: claimNotices,
    send: (notice) => send(options, mailer, notice),
    // the alert names no address, because it is not removed with the contact
    onGivenUp: (tx, { account, endpoint, url }) =>
      notify(tx, [
        {
          account,
          kind: 'contact_notice_failed',
          subject: idOf('we', endpoint),
          data: { host: nameOf(url, endpoint) },
        },
      ]),
  });
}

function send(
  { vault, base }: Options,
  mailer: Mailer,
  { account, endpoint, email, kind, merchant, id, link, fingerprint, ...notice }: ClaimedNotice,
): Promise<Unsent> {
  const settings = JSON.parse(notice.settings) as ContactNotices;
  const { language } = settings;
  const mail = composeForContact({
    kind,
    data: JSON.parse(notice.data) as AlertData,
    merchant,
    settings,
    link: link && vault.open(link, placeOfLink(account, endpoint)),
    stop: stopLink({ account, endpoint, to: addressHash(email) }, { base, vault, fingerprint, language }),
  });
  return mailer.send({ email, name: '' }, mail, id);
}
