import { number, oneOf, searchOf, text } from '../../app/search.ts';

/** A valid HTTP status code; undefined for anything else. */
export const answerCode = (raw: unknown): number | undefined =>
  /^[1-5]\d\d$/.test(String(raw)) ? Number(raw) : undefined;

/** The filters of the log. `event` and `at` identify the delivery in the drawer. */
const LOG = {
  page: number,
  status: oneOf(['pending', 'delivered', 'failed', 'cancelled', 'held']),
  type: text,
  answer: oneOf(['2xx', '3xx', '4xx', '5xx', 'none']),
  code: answerCode,
  error: text,
  id: text,
  own: text,
  from: text,
  until: text,
  event: text,
  at: text,
} as const;

export const LINK_STATUSES = ['unused', 'open', 'ended', 'expired', 'revoked'] as const;

// The search parameters of these screens; the dashboard and the portal each have their own routes.
const SPAN = oneOf(['24h', '7d', '30d']);

export const listSearch = searchOf({
  page: number,
  status: oneOf(['enabled', 'disabled']),
  owner: text,
  span: SPAN,
});
export const logSearch = searchOf({ ...LOG, endpoint: text, owner: text, tag: text });
export const endpointSearch = searchOf({
  ...LOG,
  view: oneOf(['log', 'charts', 'recoveries', 'portals', 'settings']),
  span: SPAN,
  // for the portal links
  link: oneOf(LINK_STATUSES),
  of: oneOf(['owner']),
});
