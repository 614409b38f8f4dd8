import * as accounts from '../features/accounts/routes.ts';
import * as affiliates from '../features/affiliates/routes.ts';
import * as apiKeys from '../features/api-keys/routes.ts';
import * as audit from '../features/audit/routes.ts';
import * as commissions from '../features/commissions/routes.ts';
import * as events from '../features/events/routes.ts';
import * as oauthApplications from '../features/oauth-applications/routes.ts';
import * as oauthGrants from '../features/oauth-grants/routes.ts';
import * as paymentFiles from '../features/payouts/payment-files/routes.ts';
import * as payouts from '../features/payouts/routes.ts';
import * as programs from '../features/programs/routes.ts';
import * as recoveries from '../features/recoveries/routes.ts';
import * as refunds from '../features/refunds/routes.ts';
import * as reports from '../features/reports/routes.ts';
import * as returns from '../features/returns/routes.ts';
import * as sessions from '../features/sessions/routes.ts';
import * as users from '../features/users/routes.ts';
import * as webhookEndpoints from '../features/webhook-endpoints/routes.ts';
import * as webhookEvents from '../features/webhook-events/routes.ts';
import type { Route } from './route.ts';

/** Every endpoint, in the order of the reference. The server and the description are made from this list. */
export const ROUTES: readonly Route[] = [
  payouts.list,
  payouts.create,
  payouts.previewOne,
  payouts.previewAffiliates,
  payouts.previewExcluded,
  payouts.getCurrent,
  payouts.get,
  payouts.complete,
  payouts.remove,
  payouts.download,
  payouts.affiliates,
  payouts.commissions,
  payouts.exclusions,
  returns.returned,
  returns.list,
  returns.undo,
  paymentFiles.download,
  reports.paid,
  reports.paidRows,
  affiliates.list,
  affiliates.create,
  affiliates.importFile,
  affiliates.get,
  affiliates.change,
  affiliates.getOwn,
  affiliates.put,
  programs.list,
  programs.create,
  programs.get,
  programs.change,
  commissions.list,
  commissions.create,
  commissions.createMany,
  commissions.importFile,
  commissions.get,
  commissions.voidOne,
  commissions.hold,
  commissions.unhold,
  refunds.refundOne,
  refunds.refundByOrder,
  refunds.list,
  refunds.get,
  refunds.reverse,
  commissions.adjust,
  webhookEndpoints.list,
  webhookEndpoints.create,
  webhookEndpoints.get,
  webhookEndpoints.change,
  webhookEndpoints.remove,
  webhookEndpoints.secret,
  webhookEndpoints.rotate,
  webhookEndpoints.test,
  recoveries.recover,
  recoveries.list,
  recoveries.get,
  recoveries.cancel,
  webhookEvents.listOfEndpoint,
  webhookEvents.get,
  webhookEvents.retry,
  webhookEvents.listAll,
  events.publish,
  events.listTypes,
  accounts.get,
  accounts.change,
  apiKeys.list,
  apiKeys.create,
  apiKeys.revoke,
  users.list,
  users.create,
  users.get,
  users.change,
  users.remove,
  users.reset,
  sessions.list,
  sessions.end,
  audit.list,
  oauthApplications.list,
  oauthApplications.create,
  oauthApplications.get,
  oauthApplications.change,
  oauthApplications.remove,
  oauthApplications.rotate,
  oauthGrants.list,
  oauthGrants.get,
  oauthGrants.revoke,
];
