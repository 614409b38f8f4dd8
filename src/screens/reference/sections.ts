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
        tags: ['payouts', 'reports'],
        lead:
          'A payout freezes what is owed at one moment, so that the list you send to the bank is the list you tick off ' +
          'afterwards. Preview it, create it, download the file, send the money, complete it affiliate by affiliate.\n\n' +
          'An account has at most one unpaid payout. A payout that is paid never changes: its sums, lines and files stay ' +
          'the same for ever. Who was left out, and why, is stored with it.',
      },
      {
        slug: 'affiliates',
        title: 'Affiliates',
        tags: ['affiliates'],
        lead:
          'Affiliates are the people and companies who earn commissions. Each has an e-mail address that is unique in the ' +
          'account, and may have your own `external_id`.\n\nA change of name or destination shows in the unpaid payout at ' +
          'once; lines of a paid one keep what they were paid to.',
      },
      {
        slug: 'programs',
        title: 'Programs',
        tags: ['programs'],
        lead:
          'A program groups commissions and gives new ones their hold: the days before they can be paid, in which an ' +
          'order may still be sent back.',
      },
      {
        slug: 'commissions',
        title: 'Commissions',
        tags: ['commissions'],
        lead:
          'A commission is what an affiliate earned by one sale. Send them in one by one, up to 1,000 at once, or as a CSV ' +
          'file of any size. The `external_id` is yours and unique: the same again changes nothing.\n\nA commission is ' +
          '`pending` while it is on hold, then `unpaid`, then `paid` or `voided`. What was paid is never changed; a refund ' +
          'after payment makes a clawback that the next payout takes into account.',
      },
      {
        slug: 'refunds',
        title: 'Refunds',
        tags: ['refunds'],
        lead:
          'A shop knows orders and no commissions. This takes back what was earned by an order or a line of it, whether it is ' +
          'paid yet or not; what has not come in yet is taken when it does. A refund that was a mistake is reversed while no ' +
          'payout was paid less because of it. One commission is refunded at `refundCommission`.',
      },
    ],
  },
  {
    title: 'Webhooks',
    sections: [
      {
        slug: 'webhook-endpoints',
        title: 'Webhook endpoints',
        tags: ['webhook-endpoints', 'webhook-events'],
        lead:
          'An endpoint is an address of yours that events are sent to: signed as Standard Webhooks says, at least once, ' +
          'repeated over three days until it answers 2xx.\n\nEvery attempt is logged with what was sent and what came ' +
          'back. An event can be sent again by hand; what happens while an endpoint is disabled is held for it.',
      },
      {
        slug: 'events',
        title: 'Events',
        tags: ['events', 'event-types'],
        lead:
          'An event is stored in the transaction of the change it tells of: both are there, or neither. Payhook publishes ' +
          'the types below; your platform publishes its own through the same endpoints, signed and retried alike.',
      },
    ],
  },
  {
    title: 'Account and access',
    sections: [
      {
        slug: 'account',
        title: 'Account and API keys',
        tags: ['me', 'account', 'api-keys'],
        lead:
          'The account is the merchant: its settings hold for everything in it. An account may have several named API ' +
          'keys; each opens everything the account has. Give every program its own, so that one can be revoked alone.',
      },
      {
        slug: 'users',
        title: 'Users and sessions',
        tags: ['users', 'sessions'],
        lead:
          'People sign in with a role: an owner may do everything, a member everything but keys, users and applications, a ' +
          'viewer may look. Each browser they are signed in with is a session, which can be ended from here.',
      },
      {
        slug: 'oauth',
        title: 'OAuth applications',
        tags: ['oauth-applications', 'oauth-grants'],
        lead:
          'An application of somebody else works with the data of a merchant who allowed it, within the scopes the ' +
          'merchant ticked. Register it here and send merchants to `/oauth/authorize`; what they granted, and who ended ' +
          'it, is listed and revoked here.',
      },
      {
        slug: 'audit-log',
        title: 'Audit log',
        tags: ['audit-log'],
        lead: 'Who did what, and when. An entry is written in the transaction of the change and never altered.',
      },
    ],
  },
];

export const SECTIONS: readonly Section[] = GROUPS.flatMap(({ sections }) => sections);

/** The address of a section's page, or of the overview. */
export const addressOf = (section: Pick<Section, 'slug'> | null): string =>
  section === null ? '/docs' : `/docs/${section.slug}`;
