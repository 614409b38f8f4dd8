import type { Affiliate, Commission, Payout, PublishedEvent, WebhookEndpoint } from '../../src/client/api.ts';
import { ApiError } from '../../src/client/errors.ts';
import { nameOf } from '../data/affiliates.ts';
import { call } from '../data/api.ts';
import { money } from '../parts/format.ts';
import { commissions } from '../texts/commissions.ts';
import { payouts } from '../texts/payouts.ts';
import { webhooks } from '../texts/webhooks.ts';
import type { Found } from './found.ts';

type Finder = (text: string, signal: AbortSignal) => Promise<readonly Found[]>;

/** The searches for records by text, one per resource; add new ones here. */
const FINDERS: readonly Finder[] = [findAffiliates, findPayouts, findCommissions, findEndpoints, findEvents];

const MOST = 5;
const LONGEST = 200;

/** The records that match a text: an id, a number, an e-mail address, part of a name, an order. */
export async function findRecords(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (text === '' || text.length > LONGEST) return [];
  const found = await Promise.all(FINDERS.map((find) => find(text, signal)));
  const all = found.flat();
  return all.filter(({ key }, index) => all.findIndex((each) => each.key === key) === index);
}

// an id belongs to one resource, so only that one is searched
const isId = (text: string) => /^(po|com|we|evt)_\w+$/.test(text);

async function findAffiliates(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (isId(text)) return [];
  const number = /^#?(\d{1,15})$/.exec(text)?.[1];
  const [record, own, { data: listed }] = await Promise.all([
    number ? orNone(call('getAffiliate', { path: [Number(number)] }, { signal })) : null,
    orNone(call('getAffiliateByExternalId', { path: [text] }, { signal })),
    call('listAffiliates', { query: { search: text, per_page: MOST } }, { signal }),
  ]);
  const shown = (affiliate: Affiliate): Found => ({
    key: `affiliate-${affiliate.id}`,
    title: nameOf(affiliate),
    detail: affiliate.email,
    icon: 'affiliates',
    to: `/affiliates/${affiliate.id}`,
  });
  return [record, own, ...listed].filter((each) => each !== null).map(shown);
}

async function findPayouts(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const number = /^#?(\d{1,9})$/.exec(text)?.[1];
  const record = /^po_/.test(text) ? await orNone(call('getPayout', { path: [text] }, { signal })) : null;
  const listed = number
    ? (await call('listPayouts', { query: { per_page: 100, sort: '-number' } }, { signal })).data
    : [];
  const shown = ({ id, number, status }: Pick<Payout, 'id' | 'number' | 'status'>): Found => ({
    key: id,
    title: payouts.name(number),
    detail: payouts.status[status],
    icon: 'payouts',
    to: `/payouts/${id}`,
  });
  return [...(record ? [record] : []), ...listed.filter((each) => each.number === Number(number))].map(shown);
}

async function findCommissions(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const list = (query: object) =>
    call('listCommissions', { query: { ...query, per_page: MOST } }, { signal }).then(({ data }) => data);
  const found = /^com_/.test(text)
    ? [await orNone(call('getCommission', { path: [text] }, { signal }))]
    : isId(text)
      ? []
      : (await Promise.all([list({ order_id: text }), list({ external_id: text })])).flat();
  const shown = (commission: Commission): Found => ({
    key: commission.id,
    title: `${commissions.one} ${commission.order_id ?? commission.external_id}`,
    detail: `${money(commission)} · ${commissions.status[commission.status]}`,
    icon: 'commissions',
    to: `/commissions?open=${commission.id}`,
  });
  return found.filter((each) => each !== null).map(shown);
}

async function findEndpoints(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (isId(text) && !text.startsWith('we_')) return [];
  const { data } = await call('listWebhookEndpoints', { query: { per_page: 100 } }, { signal });
  const words = text.toLowerCase();
  const isMeant = ({ id, url, description }: WebhookEndpoint) =>
    id === text || `${url ?? ''} ${description ?? ''}`.toLowerCase().includes(words);
  return data
    .filter(isMeant)
    .slice(0, MOST)
    .map(({ id, url, status }) => ({
      key: id,
      title: webhooks.nameOf({ id, url }),
      detail: webhooks.statuses[status],
      icon: 'webhooks',
      to: `/webhooks/${id}`,
    }));
}

async function findEvents(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const shown = ({ id, type, external_id }: Pick<PublishedEvent, 'id' | 'type' | 'external_id'>): Found => ({
    key: id,
    title: type,
    detail: external_id ?? id,
    icon: 'events',
    to: `/events/${id}`,
  });
  if (/^evt_/.test(text)) {
    const record = await orNone(call('getEvent', { path: [text] }, { signal }));
    return record ? [shown(record)] : [];
  }
  if (isId(text)) return [];
  const { data } = await call('listEvents', { query: { external_id: text, per_page: MOST } }, { signal });
  return data.map(shown);
}

/** null when the request is refused: there is no such record, or the text is not a valid id. */
async function orNone<Record>(request: Promise<Record>): Promise<Record | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null;
    throw error;
  }
}
