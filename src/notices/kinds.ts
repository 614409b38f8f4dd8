import { type Capability, type Role, rolesWith } from '../contract/roles.ts';

/** The data for the text of an alert. Each kind uses some of it. */
export interface AlertData {
  /** The host of the endpoint's URL. */
  readonly host?: string;
  /** How close an endpoint is to being disabled. */
  readonly percent?: number;
  readonly reason?: 'failing' | 'gone' | 'requested';
  /** The name of an imported file; null = it has none. */
  readonly file?: string | null;
  readonly lines?: number;
  readonly message?: string;
  /** When a client certificate expires or expired: RFC 3339. The last day on which forms or the first of agreements are valid: YYYY-MM-DD. */
  readonly ends?: string;
  /** The number of forms. */
  readonly forms?: number;
  /** The number of agreements. */
  readonly agreements?: number;
  readonly isOver?: boolean;
  /** The name of a schedule or chore. */
  readonly name?: string;
  /** When a chore began to fail: RFC 3339. */
  readonly since?: string;
}

/** Alerts of one kind about one subject. */
export interface AlertGroup {
  /** The number of occurrences. */
  readonly count: number;
  /** The data of the latest. */
  readonly data: AlertData;
}

interface AlertText {
  /** As a heading and in the subject of an e-mail. */
  readonly label: string;
  /** When it is sent. */
  readonly meaning: string;
  /** Users who may do this get it by e-mail unless they choose otherwise; null = nobody does. */
  readonly notifies: Capability | null;
  /** The dashboard screen for a subject. */
  path(subject: string | null): string;
  /** One sentence. */
  line(group: AlertGroup): string;
}

const WHY_DISABLED = {
  failing: 'every attempt failed for five days',
  gone: 'it answered 410 (gone)',
  requested: 'it answered `webhook-delivery: disable`',
} as const;

const webhook = (subject: string | null) => (subject === null ? '/webhooks' : `/webhooks/${subject}`);
const many = (count: number, one: string, more: string) =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`;
/** RFC 3339 in UTC for people to read, such as 2026-12-01 10:00 UTC. */
const minuteOf = (instant: string) => `${instant.slice(0, 16).replace('T', ' ')} UTC`;

/** Every kind of alert: the one table that the server, the API, the dashboard and the documentation use. */
export const ALERTS = {
  endpoint_failing: {
    label: 'Endpoint failing',
    meaning: 'Every attempt fails, and the endpoint is 50, 70 or 90 % of the way to being disabled.',
    notifies: 'own',
    path: webhook,
    line: ({ data }) =>
      `Every attempt to ${data.host} fails. The endpoint is ${data.percent} % of the way to being disabled.`,
  },
  endpoint_disabled: {
    label: 'Endpoint disabled',
    meaning: 'An endpoint was disabled, because it kept failing, answered 410, or asked for it.',
    notifies: 'own',
    path: webhook,
    line: ({ data }) =>
      `The endpoint at ${data.host} was disabled, because ${WHY_DISABLED[data.reason ?? 'failing']}. Its events wait until you enable it.`,
  },
  endpoint_recovered: {
    label: 'Endpoint recovered',
    meaning: 'An endpoint that was failing, or was disabled for failing, accepts events again.',
    notifies: 'own',
    path: webhook,
    line: ({ data }) => `The endpoint at ${data.host} accepts events again.`,
  },
  deliveries_failed: {
    label: 'Deliveries failed',
    meaning: 'Events were not delivered after the last attempt.',
    notifies: 'own',
    path: webhook,
    line: ({ count, data }) =>
      `${many(count, 'event was', 'events were')} not delivered to ${data.host}, and no attempts are left.`,
  },
  certificate_ending: {
    label: 'Client certificate expiring',
    meaning: 'The client certificate of an endpoint expires within 30, 7 or 1 days, or has expired.',
    notifies: 'own',
    path: webhook,
    line: ({ data: { host, ends = '', isOver } }) =>
      `The client certificate of the endpoint at ${host} ${isOver ? 'expired' : 'expires'} at ${minuteOf(ends)}. Set the next one${
        isOver ? ': receivers that check it refuse deliveries' : ' before then'
      }.`,
  },
  payout_waiting: {
    label: 'Payout waiting',
    meaning: 'A payout has been unpaid for a day: complete it or delete it.',
    notifies: 'write',
    path: (subject) => `/payouts/${subject}`,
    line: () => 'A payout has been unpaid for a day. Complete it once it is paid, or delete it.',
  },
  approval_waiting: {
    label: 'Approval waiting',
    meaning: 'A payout, or a change of an approved payout, waits for a second person to approve it.',
    notifies: 'approve',
    path: (subject) => `/payouts/${subject}`,
    line: () => 'A payout waits for somebody who did not create it to approve it.',
  },
  payout_prepared: {
    label: 'Payout prepared',
    meaning: 'A schedule created a payout: check it, pay it and complete it.',
    notifies: 'write',
    path: (subject) => `/payouts/${subject}`,
    line: ({ data }) =>
      `The schedule ${data.name} created a payout. Complete it once it is paid, or delete it.`,
  },
  correction_received: {
    label: 'Correction by a bank',
    meaning:
      'A bank corrected where an affiliate is paid: accept or dismiss it within six banking days of the United States.',
    notifies: 'write',
    path: (subject) => `/payouts/${subject}`,
    line: ({ count, data }) =>
      `Banks sent ${many(count, 'correction', 'corrections')} of where affiliates are paid. Accept or dismiss ${count === 1 ? 'it' : 'them'} by ${data.ends}.`,
  },
  schedule_skipped: {
    label: 'Schedule without a payout',
    meaning: 'A schedule was due and created no payout: there was nothing to pay, or it was refused.',
    notifies: 'write',
    path: () => '/payouts',
    line: ({ data }) => `The schedule ${data.name} was due and created no payout: ${data.message}.`,
  },
  tax_forms_lapsing: {
    label: 'Tax forms lapsing',
    meaning: 'W-8 forms of affiliates lapse at the end of the year, in 90, 30 or 7 days: ask for new ones.',
    notifies: 'write',
    path: () => '/reports/tax-forms',
    line: ({ data: { forms = 0, ends } }) =>
      `The tax forms of ${many(forms, 'affiliate', 'affiliates')} are valid until ${ends}. Ask for new ones.`,
  },
  agreements_ending: {
    label: 'Self-billing agreements ending',
    meaning: 'Self-billing agreements of affiliates end in 90, 30 or 7 days: agree on new ones.',
    notifies: 'write',
    path: () => '/reports/tax-forms?view=ending',
    line: ({ data: { agreements = 0, ends } }) =>
      agreements === 1
        ? `The self-billing agreement of 1 affiliate ends on ${ends}. Agree on a new one.`
        : `The self-billing agreements of ${many(agreements, '', 'affiliates')} end soon, the first on ${ends}. Agree on new ones.`,
  },
  affiliate_notice_failed: {
    label: 'E-mail to an affiliate failed',
    meaning: 'An e-mail to an affiliate was refused, or could not be sent for about a day.',
    notifies: 'write',
    path: () => '/affiliates',
    line: ({ count }) =>
      `${many(count, 'e-mail to an affiliate', 'e-mails to affiliates')} could not be sent. payhook affiliates notices list --status failed shows why.`,
  },
  contact_notice_failed: {
    label: 'E-mail to the contact of an endpoint failed',
    meaning:
      'An e-mail to the contact of a webhook endpoint was refused, or could not be sent for about a day.',
    notifies: 'own',
    path: webhook,
    line: ({ count, data }) =>
      `${many(count, 'e-mail', 'e-mails')} to the contact of the endpoint at ${data.host} could not be sent. Check the address.`,
  },
  import_done: {
    label: 'Import done',
    meaning: 'A file with affiliates or commissions was imported.',
    notifies: null,
    path: () => '/import',
    line: ({ data }) =>
      `${data.file ?? 'A file'} was imported, with ${many(data.lines ?? 0, 'line', 'lines')}.`,
  },
  backup_failed: {
    label: 'Backup failed',
    meaning: 'A scheduled backup failed. Only the account created first is notified.',
    notifies: 'own',
    path: () => '/settings/system',
    line: ({ data }) => `The backup failed: ${data.message}. It is retried every ten minutes.`,
  },
  disk_almost_full: {
    label: 'Disk almost full',
    meaning:
      'Less than 2 GB is left on the disk of the data folder, or less than 10 % of a disk under 20 GB. Only the account created first is notified, and only with the embedded PostgreSQL.',
    notifies: 'own',
    path: () => '/settings/system',
    line: ({ data }) =>
      `The disk with the data folder is almost full: ${data.message}. When it is full, nothing can be stored.`,
  },
  chore_failing: {
    label: 'Chore failing',
    meaning:
      'A chore of the server, such as creating the tables for the next weeks, has failed for an hour. Only the account created first is notified.',
    notifies: 'own',
    path: () => '/settings/system',
    line: ({ data: { name, since = '', message } }) =>
      `The chore "${name}" has failed since ${minuteOf(since)}: ${message}. It is retried automatically; the log of the server has details.`,
  },
} as const satisfies Readonly<Record<string, AlertText>>;

export type AlertKind = keyof typeof ALERTS;
export const ALERT_KINDS = Object.keys(ALERTS) as AlertKind[];

/** The alerts about an endpoint that its contact gets too. */
export const CONTACT_ALERTS = [
  'endpoint_failing',
  'endpoint_disabled',
  'endpoint_recovered',
] as const satisfies readonly AlertKind[];

/** The texts of a kind, without the precise type of its row. */
export const textsOf = (kind: AlertKind): AlertText => ALERTS[kind];

/** The roles whose users get a kind by e-mail unless they choose otherwise. */
export function notifiedRoles(kind: AlertKind): readonly Role[] {
  const { notifies } = textsOf(kind);
  return notifies === null ? [] : rolesWith(notifies);
}

/** Messages that are sent separately and at once, and cannot be turned off. */
export type LetterKind = 'test' | 'invitation' | 'password_link';
