import { describeRole, ROLE_NAMES } from '../../contract/roles.ts';

/** A page of the reference: the operations of these tags. */
export interface Section {
  readonly slug: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** What it is about, with `code` in it; paragraphs stand apart. */
  readonly lead: string;
}

/** Sections that belong together in the navigation. */
export interface SectionGroup {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** The pages of the reference, in the order in which somebody new reads them. */
export const GROUPS: readonly SectionGroup[] = [
  {
    title: 'Affiliates and money',
    sections: [
      {
        slug: 'payouts',
        title: 'Payouts',
        tags: ['payouts'],
        lead:
          'A payout freezes what you owe at one moment. The list you send to the bank is the list you tick off ' +
          'afterwards. Preview it, create it, download the file, send the money, complete it affiliate by affiliate.\n\n' +
          'An account has at most one unpaid payout. A paid payout never changes: its sums, lines and files stay ' +
          'the same forever. It also stores who was left out, and why.',
      },
      {
        slug: 'reports',
        title: 'Schedules, invoices and reports',
        tags: ['payout-schedules', 'invoices', 'reports'],
        lead:
          'A schedule prepares a payout on a day of each week or month, and a person completes it. Invoices are those that ' +
          'you write in the name of affiliates who agreed. Reports say what was paid in a time, for the books and for tax forms.',
      },
      {
        slug: 'affiliates',
        title: 'Affiliates',
        tags: ['affiliates'],
        lead:
          'Affiliates are the people and companies who earn commissions. Each has an e-mail address that is unique in the ' +
          'account, and may have your own `external_id`.\n\nA change of name or destination shows in the unpaid payout at ' +
          'once. Lines of a paid payout keep the name and destination they were paid to.',
      },
      {
        slug: 'programs',
        title: 'Programs',
        tags: ['programs'],
        lead:
          'A program groups commissions and sets the hold of new ones: the days before they can be paid, during which an ' +
          'order may still be returned.',
      },
      {
        slug: 'commissions',
        title: 'Commissions',
        tags: ['commissions'],
        lead:
          'A commission is what an affiliate earns from one sale. Send them in one by one, up to 1,000 at once, or as a CSV ' +
          'file of any size. The `external_id` is yours and unique: sending it again changes nothing.\n\nA commission is ' +
          '`pending` while it is on hold, then `unpaid`, then `paid` or `voided`. A paid commission never changes; a refund ' +
          'after payment creates a clawback, which is subtracted from the next payout.',
      },
      {
        slug: 'analytics',
        title: 'Analytics',
        tags: ['analytics'],
        lead:
          'Sums over time, for charts: what was earned, refunded and paid, by day, week or month of the time zone of the ' +
          'account; how webhook deliveries went and how long receivers took, by minute, hour or day. They are kept next to the ' +
          'records and exact at any moment, however many records there are; percentiles are off by at most 9 %.',
      },
      {
        slug: 'imports',
        title: 'Imports',
        tags: ['imports'],
        lead:
          'A file of another product goes in as it is. Preview says how it would be read: its encoding and separator, what ' +
          'each column is, and what must be asked because money depends on it. An import takes guesses only when you say so.' +
          '\n\nEach import is a record: who, which file, how it was read, the result of each line. It can be undone while ' +
          'nothing of it is in use: what came in as paid goes with it.',
      },
      {
        slug: 'refunds',
        title: 'Refunds',
        tags: ['refunds'],
        lead:
          'A shop knows orders, not commissions. A refund takes back what was earned from an order or a line of it, whether it is ' +
          'paid yet or not. A commission that comes in later is refunded then. A mistaken refund can be reversed as long as no ' +
          'payout was paid less because of it. `refundCommission` refunds a single commission.',
      },
    ],
  },
  {
    title: 'Webhooks',
    sections: [
      {
        slug: 'webhook-endpoints',
        title: 'Webhook endpoints',
        tags: ['webhook-endpoints', 'webhook-events', 'portal-links'],
        lead:
          'An endpoint is an address of yours that events are sent to: signed (Standard Webhooks), at least once, ' +
          'retried over three days until it answers 2xx.\n\nEvery attempt is logged with its request and its ' +
          'answer. You can send an event again manually. While an endpoint is disabled, its events are held. A pull endpoint has no ' +
          'address: consumers claim its events and acknowledge them.\n\nA ' +
          'portal link lets whoever receives at an endpoint look after it, and see nothing else of the account.',
      },
      {
        slug: 'events',
        title: 'Events',
        tags: ['events', 'event-types'],
        lead:
          'An event is stored in the transaction of the change it reports: both exist, or neither. Payhook publishes ' +
          'the types below. Your platform can publish its own to the same endpoints, signed and retried in the same way.',
      },
    ],
  },
  {
    title: 'Account and access',
    sections: [
      {
        slug: 'account',
        title: 'Account and API keys',
        tags: ['me', 'actors', 'account', 'api-keys', 'system'],
        lead:
          'The account is the merchant. Its settings apply to everything in it. An account may have several named API ' +
          'keys; each gives full access to the account. Give every program its own key, so that you can revoke one alone.',
      },
      {
        slug: 'alerts',
        title: 'Alerts',
        tags: ['alerts', 'alert-channels'],
        lead:
          'Alerts notify people of what needs them: an endpoint that keeps failing, deliveries without attempts left, a payout ' +
          'that waits. Each person chooses what comes by e-mail; an account has channels that are notified by webhook or in ' +
          'Slack.\n\nWhat happens within a minute is one message, and a recipient gets at most 6 in an hour.',
      },
      {
        slug: 'users',
        title: 'Users and sessions',
        tags: ['users', 'sessions'],
        lead: `People sign in with a role. ${ROLE_NAMES.map((role) => `${describeRole(role)}.`).join(' ')} Each browser where they are signed in is a session, which can be ended here.`,
      },
      {
        slug: 'oauth',
        title: 'OAuth applications',
        tags: ['oauth-applications', 'oauth-grants'],
        lead:
          'An application made by somebody else works with the data of a merchant who allowed it, within the scopes the ' +
          'merchant ticked. Register it here and send merchants to `/oauth/authorize`. What they granted, and who ended ' +
          'it, is listed and revoked here.',
      },
      {
        slug: 'audit-log',
        title: 'Audit log',
        tags: ['audit-log'],
        lead: 'Shows who did what, and when. An entry is written in the transaction of the change and never altered.',
      },
    ],
  },
];

export const SECTIONS: readonly Section[] = GROUPS.flatMap(({ sections }) => sections);

/** The address of a section's page, or of the overview. */
export const addressOf = (section: Pick<Section, 'slug'> | null): string =>
  section === null ? '/docs' : `/docs/${section.slug}`;
