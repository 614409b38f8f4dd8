import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/connect.ts';
import type { AddressRules } from '../../kernel/addresses.ts';
import { type AccountId, type EndpointId, idOf } from '../../kernel/ids.ts';
import { toJson } from '../../kernel/json.ts';
import { shownProxy } from '../../kernel/proxies.ts';
import type { Vault } from '../../kernel/vault.ts';
import { placeOf } from '../../outbox/secrets.ts';
import { certificateOf, shownCertificate } from '../egress/certificate.ts';
import { checkedProxy, isSameProxy } from '../egress/proxy.ts';
import type { Egress, EgressInput } from '../egress/record.ts';
import type { Columns } from './store.ts';

interface Egressing {
  readonly vault: Vault;
  /** Where a proxy may be. */
  readonly addresses: AddressRules;
  readonly endpoint: EndpointId;
  /** The fingerprint of the key to seal under. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** How requests leave for an endpoint, opened. */
export function openEgress(vault: Vault, endpoint: EndpointId, sealed: Buffer | null): Egress {
  return sealed === null ? {} : (JSON.parse(vault.open(sealed, placeOf(endpoint, 'egress'))) as Egress);
}

/**
 * The columns of how requests leave for an endpoint, after a change; none when nothing of it is named. What is left out
 * stays. Throws `invalid_proxy`, `invalid_client_certificate`.
 */
export function egressColumns(
  input: EgressInput,
  before: Egress,
  { vault, addresses, endpoint, key, nowMs }: Egressing,
): Columns {
  const { proxy, client_certificate: certificate } = input;
  if (proxy === undefined && certificate === undefined) return {};
  const after = withoutNull({
    ...before,
    ...(proxy === undefined ? {} : { proxy: proxy && checkedProxy(proxy, before.proxy, addresses) }),
    ...(certificate === undefined ? {} : { certificate: certificate && certificateOf(certificate, nowMs) }),
  }) as Egress;
  if (Object.keys(after).length === 0) return NO_EGRESS;
  return {
    egress: toJson(shownEgress(after)),
    egress_sealed: vault.seal(toJson(after), placeOf(endpoint, 'egress'), key),
  };
}

/** The columns of an endpoint to which requests leave in the usual way. */
const NO_EGRESS: Columns = { egress: null, egress_sealed: null };

/** Whether a change names another proxy, which could read what is sent to `url`. */
export function readsAlong({ proxy }: EgressInput, before: Egress, url: string): boolean {
  return Boolean(proxy) && !isSameProxy(String(proxy), before.proxy) && !/^https:/i.test(url);
}

function shownEgress({ proxy, certificate }: Egress) {
  return {
    proxy: proxy && shownProxy(proxy),
    client_certificate: certificate && shownCertificate(certificate),
  };
}

const withoutNull = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

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
