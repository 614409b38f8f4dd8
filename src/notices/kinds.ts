/** What the words of an alert need; each kind has some of it. */
export interface AlertData {
  /** The host of the endpoint's URL. */
  readonly host?: string;
  /** How far an endpoint is on its way to being disabled. */
  readonly percent?: number;
  readonly reason?: 'failing' | 'gone';
  /** The name of an imported file; null = it has none. */
  readonly file?: string | null;
  readonly lines?: number;
  readonly message?: string;
  /** When a client certificate ends, or has ended: RFC 3339. */
  readonly ends?: string;
  readonly isOver?: boolean;
  /** Of a schedule, or of a chore. */
  readonly name?: string;
  /** Since when a chore fails: RFC 3339. */
  readonly since?: string;
}

/** Alerts of one kind about one thing. */
export interface AlertGroup {
  /** How many things happened. */
  readonly count: number;
  /** Of the last of them. */
  readonly data: AlertData;
}

interface AlertText {
  /** As a heading and in the subject of an e-mail. */
  readonly label: string;
  /** When it is sent. */
  readonly meaning: string;
  /** The roles that are told by e-mail unless they choose otherwise. */
  readonly roles: readonly ('owner' | 'member' | 'viewer')[];
  /** The screen of the dashboard about a subject. */
  path(subject: string | null): string;
  /** One sentence. */
  line(group: AlertGroup): string;
}

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
    roles: ['owner'],
    path: webhook,
    line: ({ data }) =>
      `Every attempt to ${data.host} fails. The endpoint is ${data.percent} % of the way to being disabled.`,
  },
  endpoint_disabled: {
    label: 'Endpoint disabled',
    meaning: 'An endpoint was disabled, because it kept failing or answered 410.',
    roles: ['owner'],
    path: webhook,
    line: ({ data }) =>
      `The endpoint at ${data.host} was disabled, because ${
        data.reason === 'gone' ? 'it answered 410 (gone)' : 'every attempt failed for five days'
      }. Its events wait until you enable it.`,
  },
  endpoint_recovered: {
    label: 'Endpoint recovered',
    meaning: 'An endpoint that was failing, or was disabled for it, takes events again.',
    roles: ['owner'],
    path: webhook,
    line: ({ data }) => `The endpoint at ${data.host} takes events again.`,
  },
  deliveries_failed: {
    label: 'Deliveries failed',
    meaning: 'Events were not delivered, and no attempts are left.',
    roles: ['owner'],
    path: webhook,
    line: ({ count, data }) =>
      `${many(count, 'event was', 'events were')} not delivered to ${data.host}, and no attempts are left.`,
  },
  certificate_ending: {
    label: 'Client certificate ending',
    meaning: 'The client certificate of an endpoint ends within 30, 7 or 1 days, or has ended.',
    roles: ['owner'],
    path: webhook,
    line: ({ data: { host, ends = '', isOver } }) =>
      `The client certificate of the endpoint at ${host} ${isOver ? 'ended' : 'ends'} at ${minuteOf(ends)}. Set the next one${
        isOver ? ': receivers that check it refuse what is sent' : ' before then'
      }.`,
  },
  payout_waiting: {
    label: 'Payout waiting',
    meaning: 'A payout has been unpaid for a day: complete it or delete it.',
    roles: ['owner', 'member'],
    path: (subject) => `/payouts/${subject}`,
    line: () => 'A payout has been unpaid for a day. Complete it once it is paid, or delete it.',
  },
  approval_waiting: {
    label: 'Approval waiting',
    meaning: 'A payout, or what it became since it was approved, waits for a second person to approve it.',
    roles: ['owner', 'member'],
    path: (subject) => `/payouts/${subject}`,
    line: () => 'A payout waits for somebody who did not create it to approve it.',
  },
  payout_prepared: {
    label: 'Payout prepared',
    meaning: 'A schedule created a payout: look at it, pay it and complete it.',
    roles: ['owner', 'member'],
    path: (subject) => `/payouts/${subject}`,
    line: ({ data }) =>
      `The schedule ${data.name} created a payout. Complete it once it is paid, or delete it.`,
  },
  schedule_skipped: {
    label: 'Schedule without a payout',
    meaning: 'A schedule was due and created no payout: there was nothing to pay, or it was refused.',
    roles: ['owner', 'member'],
    path: () => '/payouts',
    line: ({ data }) => `The schedule ${data.name} was due and created no payout: ${data.message}.`,
  },
  import_done: {
    label: 'Import done',
    meaning: 'A file with affiliates or commissions was imported.',
    roles: [],
    path: () => '/import',
    line: ({ data }) =>
      `${data.file ?? 'A file'} was imported, with ${many(data.lines ?? 0, 'line', 'lines')}.`,
  },
  backup_failed: {
    label: 'Backup failed',
    meaning: 'A scheduled backup failed. Only the account that was made first is notified.',
    roles: ['owner'],
    path: () => '/settings/system',
    line: ({ data }) => `The backup failed: ${data.message}. It is tried again every ten minutes.`,
  },
  disk_almost_full: {
    label: 'Disk almost full',
    meaning:
      'The disk with the data folder has less than 2 GB left, or a tenth of a small one. Only the account that was made first is notified.',
    roles: ['owner'],
    path: () => '/settings/system',
    line: ({ data }) =>
      `The disk with the data folder is almost full: ${data.message}. When it is full, nothing can be stored any more.`,
  },
  chore_failing: {
    label: 'Chore failing',
    meaning:
      'A chore of the server, such as making the tables for the weeks to come, has failed for an hour. Only the account that was made first is notified.',
    roles: ['owner'],
    path: () => '/settings/system',
    line: ({ data: { name, since = '', message } }) =>
      `The chore "${name}" has failed since ${minuteOf(since)}: ${message}. It is tried again by itself; the log of the server says more.`,
  },
} as const satisfies Readonly<Record<string, AlertText>>;

export type AlertKind = keyof typeof ALERTS;
export const ALERT_KINDS = Object.keys(ALERTS) as AlertKind[];

/** The words of a kind, without the precise type of its row. */
export const textsOf = (kind: AlertKind): AlertText => ALERTS[kind];

/** Messages that are sent alone and at once: nobody chooses them. */
export type LetterKind = 'test' | 'invitation' | 'password_link';
