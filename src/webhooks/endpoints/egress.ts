import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import type { AddressRules } from '../../kernel/addresses.ts';
import { type AccountId, type EndpointId, idOf } from '../../kernel/ids.ts';
import { toJson } from '../../kernel/json.ts';
import { shownProxy } from '../../kernel/proxies.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import { placeOf } from '../../outbox/secrets.ts';
import { certificateOf, shownCertificate } from '../egress/certificate.ts';
import { checkedCredentials, shownCredentials } from '../egress/credentials.ts';
import { checkedProxy, isSameProxy } from '../egress/proxy.ts';
import type { Egress, EgressInput } from '../egress/record.ts';
import type { Columns } from './columns.ts';

interface Changing {
  /** Where a proxy and a token endpoint may be. */
  readonly addresses: AddressRules;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** What is sent can be read at another place than before. */
  readonly isMoved: boolean;
}

interface Sealing extends AccountVault {
  readonly endpoint: EndpointId;
  /** The fingerprint of the key to seal under. */
  readonly key: string;
}

/** How requests leave for an endpoint, opened. */
export function openEgress(
  { account, vault }: AccountVault,
  endpoint: EndpointId,
  sealed: Buffer | null,
): Egress {
  return sealed === null
    ? {}
    : (JSON.parse(vault.open(sealed, placeOf(account, endpoint, 'egress'))) as Egress);
}

/**
 * How requests leave for an endpoint after a change; `before` itself when nothing of it changes. What is left out stays,
 * except client credentials whose tokens or secret somebody else could read from then on. Throws `invalid_proxy`,
 * `invalid_client_certificate`, `invalid_client_credentials`.
 */
export function changedEgress(
  input: EgressInput,
  before: Egress,
  { addresses, nowMs, isMoved }: Changing,
): Egress {
  const { proxy, client_certificate: certificate, client_credentials: credentials } = input;
  const { credentials: known } = before;
  const kept = known && (isMoved || readsAlong(input, before, known.token_url)) ? undefined : known;
  const isNamed = [proxy, certificate, credentials].some((field) => field !== undefined);
  if (!isNamed && kept === known) return before;
  return withoutEmpty({
    proxy: proxy === undefined ? before.proxy : proxy && checkedProxy(proxy, before.proxy, addresses),
    certificate:
      certificate === undefined ? before.certificate : certificate && certificateOf(certificate, nowMs),
    credentials:
      credentials === undefined ? kept : credentials && checkedCredentials(credentials, kept, addresses),
  }) as Egress;
}

/** The columns of how requests leave for an endpoint. */
export function egressColumns(after: Egress, { account, vault, endpoint, key }: Sealing): Columns {
  if (Object.keys(after).length === 0) return NO_EGRESS;
  return {
    egress: toJson(shownEgress(after)),
    egress_sealed: vault.seal(toJson(after), placeOf(account, endpoint, 'egress'), key),
  };
}

/** The columns of an endpoint to which requests leave in the usual way. */
const NO_EGRESS: Columns = { egress: null, egress_sealed: null };

/** Whether a change names another proxy, which could read what is sent to `url`. */
export function readsAlong({ proxy }: EgressInput, before: Egress, url: string): boolean {
  return Boolean(proxy) && !isSameProxy(String(proxy), before.proxy) && !/^https:/i.test(url);
}

function shownEgress({ proxy, certificate, credentials }: Egress) {
  return {
    proxy: proxy && shownProxy(proxy),
    client_certificate: certificate && shownCertificate(certificate),
    client_credentials: credentials && shownCredentials(credentials),
  };
}

const withoutEmpty = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** A client certificate that has ended or will soon. */
export interface EndingCertificate {
  /** Ids as the API shows them. */
  readonly account: string;
  readonly endpoint: string;
  readonly expiresAt: string;
}

/** The client certificates of all accounts that have ended or end within 30 days, the first to end first; at most 100. */
export async function findEndingCertificates(db: Reader): Promise<EndingCertificate[]> {
  const found = await rows<{ account: AccountId; endpoint: EndpointId; ends: string }>(
    db,
    sql`select account_id as account, id as endpoint, ends
        from webhook_endpoints cross join lateral (select egress -> 'client_certificate' ->> 'expires_at' as ends) c
        where deleted_at is null and ends::timestamptz < now() + interval '30 days'
        order by ends limit 100`,
  );
  return found.map(({ account, endpoint, ends }) => ({
    account: idOf('acc', account),
    endpoint: idOf('we', endpoint),
    expiresAt: ends,
  }));
}
