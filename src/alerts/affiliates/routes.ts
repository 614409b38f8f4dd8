import { ok, page, readRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { affiliateNotice, noticePreview, previewQuery } from './record.ts';
import { previewNotice } from './service.ts';
import { listNotices, noticeList } from './store.ts';

export const list = readRoute({
  operation: 'listAffiliateNotices',
  path: '/v2/affiliates/notices',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List e-mails to affiliates',
  description: 'Those that wait, and those of the last week that were sent or failed.',
  list: noticeList,
  returns: { 200: listOf(affiliateNotice) },
  handle: async ({ db, account, list: wanted }) => page(await listNotices(db, account, wanted)),
});

export const preview = readRoute({
  operation: 'previewAffiliateNotice',
  path: '/v2/affiliates/notices/preview',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Preview an e-mail to affiliates',
  description: 'Shows the e-mail of a kind with example data. Sends nothing.',
  query: previewQuery,
  returns: { 200: noticePreview },
  handle: async ({ db, account, query: { kind, language }, env }) =>
    ok(await previewNotice(db, account, { kind, language, base: env.authorizeUrl() })),
});
