import * as affiliateNotices from '../alerts/affiliates/routes.ts';
import * as channels from '../alerts/channels/routes.ts';
import * as alerts from '../alerts/settings/routes.ts';
import * as catalogue from '../catalogue/routes.ts';
import type { Route } from '../contract/route.ts';
import * as affiliates from '../money/affiliates/routes.ts';
import * as analytics from '../money/analytics/routes.ts';
import * as commissions from '../money/commissions/routes.ts';
import * as destinations from '../money/destinations/routes.ts';
import * as imports from '../money/imports/routes.ts';
import * as invoices from '../money/invoices/routes.ts';
import * as paymentFiles from '../money/payment-files/routes.ts';
import * as payouts from '../money/payouts/routes.ts';
import * as payoutSignals from '../money/payouts/signal-routes.ts';
import * as programs from '../money/programs/routes.ts';
import * as refunds from '../money/refunds/routes.ts';
import * as reports from '../money/reports/routes.ts';
import * as summaries from '../money/reports/summary-routes.ts';
import * as usTax from '../money/reports/us-tax-routes.ts';
import * as results from '../money/results/routes.ts';
import * as returns from '../money/returns/routes.ts';
import * as schedules from '../money/schedules/routes.ts';
import * as taxProfiles from '../money/tax-profiles/routes.ts';
import * as accounts from '../people/accounts/routes.ts';
import * as actors from '../people/actors/routes.ts';
import * as oauthApplications from '../people/applications/routes.ts';
import * as audit from '../people/audit/routes.ts';
import * as oauthGrants from '../people/grants/routes.ts';
import * as apiKeys from '../people/keys/routes.ts';
import * as me from '../people/me/routes.ts';
import * as sessions from '../people/sessions/routes.ts';
import * as system from '../people/system/routes.ts';
import * as users from '../people/users/routes.ts';
import * as deliveryAnalytics from '../webhooks/analytics/routes.ts';
import * as claims from '../webhooks/claims/routes.ts';
import * as webhookEndpoints from '../webhooks/endpoints/routes.ts';
import * as events from '../webhooks/events/routes.ts';
import * as webhookEvents from '../webhooks/log/routes.ts';
import * as portalLinks from '../webhooks/portal/routes.ts';
import * as recoveries from '../webhooks/recoveries/routes.ts';

/** Every endpoint, in the order of the reference. The server and the description are built from this list. */
export const ROUTES: readonly Route[] = [
  payouts.list,
  payouts.create,
  payouts.previewOne,
  payouts.previewAffiliates,
  payouts.previewExcluded,
  payouts.previewSignalsOf,
  payouts.getCurrent,
  payouts.get,
  payouts.complete,
  payouts.approval,
  payouts.approve,
  payouts.reject,
  payouts.remove,
  schedules.list,
  schedules.create,
  schedules.get,
  schedules.change,
  schedules.remove,
  payouts.download,
  payouts.affiliates,
  payouts.commissions,
  payouts.exclusions,
  payoutSignals.list,
  payoutSignals.download,
  payoutSignals.reviewRoute,
  returns.returned,
  returns.list,
  returns.undo,
  invoices.issue,
  invoices.list,
  invoices.get,
  invoices.download,
  invoices.archive,
  paymentFiles.overview,
  paymentFiles.download,
  results.take,
  results.list,
  results.verifications,
  summaries.summary,
  summaries.summaryFile,
  summaries.entries,
  reports.paid,
  reports.paidRows,
  usTax.report,
  usTax.reportRows,
  usTax.reportExport,
  reports.statement,
  reports.statementFile,
  affiliates.list,
  affiliates.balances,
  analytics.commissions,
  deliveryAnalytics.deliveries,
  affiliates.create,
  imports.importAffiliates,
  affiliates.get,
  affiliates.change,
  affiliates.erase,
  affiliates.getOwn,
  affiliates.put,
  destinations.get,
  destinations.put,
  destinations.useName,
  destinations.listCorrections,
  destinations.accept,
  destinations.dismiss,
  destinations.remove,
  affiliateNotices.list,
  affiliateNotices.preview,
  taxProfiles.list,
  taxProfiles.get,
  taxProfiles.put,
  taxProfiles.remove,
  programs.list,
  programs.create,
  programs.get,
  programs.change,
  commissions.list,
  commissions.create,
  commissions.createMany,
  imports.importCommissions,
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
  imports.preview,
  imports.create,
  imports.badLines,
  imports.progress,
  imports.list,
  imports.mappings,
  imports.get,
  imports.undo,
  webhookEndpoints.list,
  webhookEndpoints.create,
  webhookEndpoints.get,
  webhookEndpoints.change,
  webhookEndpoints.getOwn,
  webhookEndpoints.put,
  webhookEndpoints.remove,
  webhookEndpoints.secret,
  webhookEndpoints.rotate,
  webhookEndpoints.confirmContact,
  webhookEndpoints.test,
  webhookEndpoints.tryFilter,
  claims.claim,
  claims.acknowledge,
  claims.extend,
  claims.makeToken,
  portalLinks.create,
  portalLinks.list,
  portalLinks.revoke,
  recoveries.recover,
  recoveries.discard,
  recoveries.preview,
  recoveries.list,
  recoveries.get,
  recoveries.cancel,
  webhookEvents.listOfEndpoint,
  webhookEvents.get,
  webhookEvents.retry,
  webhookEvents.listAll,
  events.list,
  events.publish,
  events.publishMany,
  events.get,
  catalogue.listTypes,
  catalogue.get,
  catalogue.put,
  catalogue.remove,
  me.get,
  actors.get,
  alerts.get,
  alerts.set,
  alerts.test,
  channels.list,
  channels.create,
  channels.get,
  channels.change,
  channels.remove,
  channels.test,
  system.get,
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
  users.erase,
  users.reset,
  sessions.list,
  sessions.end,
  sessions.listOwn,
  sessions.endOwn,
  sessions.endOthers,
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
