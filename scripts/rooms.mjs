// The rooms (folders of src): the content of each, and which rooms it may import. A room within a room may also import
// what the enclosing room may. `imports.mjs` enforces this and proves that there are no cycles of rooms.

/**
 * [room, its content, the rooms it may import, its public files]. A noun is a room with routes or a service: other rooms import
 * its `service`, `record` and `fields`, and the files that its line names.
 */
export const ROOMS = [
  ['kernel', 'errors, ids, money, time, CSV, strict JSON, secrets, settings: imports no other room', []],
  ['metrics', 'the table of instruments, and how code notes on them; spans of traces', ['kernel']],
  ['db', 'connections, migrations, SQL functions, partitions', ['kernel']],
  ['terms', 'rules of payments, bank accounts, taxes and countries', ['kernel']],
  ['erasure', 'finding a person in texts and removing them; the progress of erasures', ['db', 'kernel']],
  ['threads', 'threads next to the event loop: tasks, the pool that runs them, turns, files', ['kernel']],
  ['db/embedded', 'the embedded PostgreSQL: start, stop, ownership, password', []],
  [
    'contract',
    'the definition of an endpoint: route, access, lists, headers, cookies, shared schemas',
    ['threads', 'db', 'terms', 'kernel'],
  ],
  [
    'outbox',
    'publish(tx, event): events, their deliveries and counts, written with the change',
    ['db', 'metrics', 'kernel'],
  ],

  [
    'notices',
    'notify(tx, notices): alerts, written with the change; kinds',
    ['contract', 'db', 'terms', 'kernel'],
  ],

  [
    'papers',
    'documents for people to keep: PDF with the fonts for any script, and a page to print',
    ['threads', 'contract', 'kernel'],
  ],

  ['people', 'accounts, users and their access', ['notices', 'contract', 'erasure', 'db', 'terms', 'kernel']],
  [
    'people/accounts',
    'accounts, their settings and their removal',
    ['people/keys'],
    ['debtor', 'originator'],
  ],
  [
    'people/users',
    'users, invitations, passwords',
    ['people/accounts', 'people/audit', 'people/grants', 'people/sessions'],
    ['choice', 'credentials', 'links', 'passwords', 'people'],
  ],
  ['people/sessions', 'sessions in a browser', ['people/audit']],
  ['people/keys', 'API keys', []],
  ['people/applications', 'OAuth applications', ['people/grants']],
  ['people/grants', 'the access that users granted to applications', []],
  ['people/audit', 'the audit log', []],
  ['people/actors', 'the names of actors in records', ['people/audit']],
  ['people/me', 'the caller of a request', ['people/audit', 'people/users']],
  ['people/system', 'the state of the installation', []],

  [
    'money',
    'the amounts owed and paid to affiliates',
    ['people', 'papers', 'threads', 'outbox', 'notices', 'contract', 'erasure', 'db', 'terms', 'kernel'],
  ],
  ['money/ledger', 'what the nouns share: books, membership, arrivals, totals', []],
  ['money/files', 'reading and writing CSV', []],
  ['money/workbooks', 'reading sheets of workbooks (.xlsx, .ods)', []],
  ['money/programs', 'affiliate programs', []],
  [
    'money/affiliates',
    'affiliates, their search and import',
    ['money/commissions', 'money/ledger', 'money/files', 'money/refunds'],
    ['import', 'import-format', 'search', 'undo'],
  ],
  [
    'money/destinations',
    'where affiliates are paid: bank accounts, sealed',
    ['money/affiliates', 'money/files', 'money/ledger'],
    ['import', 'import-cells', 'sealed'],
  ],
  [
    'money/tax-profiles',
    'the tax details of affiliates: names, addresses, tax ids (sealed), forms',
    ['money/affiliates', 'money/files', 'money/ledger'],
    ['import', 'import-cells', 'sealed'],
  ],
  [
    'money/refund-lines',
    'the lines of a refund by order, and commissions created after it',
    ['money/ledger'],
  ],
  [
    'money/commissions',
    'commissions and adjustments: create, hold, void',
    ['money/ledger', 'money/files', 'money/refund-lines'],
    ['import', 'import-format', 'list', 'state', 'store', 'undo'],
  ],
  [
    'money/refunds',
    'refunds and their reversal',
    ['money/commissions', 'money/ledger', 'money/refund-lines'],
  ],
  [
    'money/payouts',
    'preview, create, complete',
    ['money/affiliates', 'money/commissions', 'money/ledger', 'money/files'],
    ['approval', 'csv', 'imported-payouts'],
  ],
  [
    'money/payment-files',
    'the files for banks and providers, one source file per format',
    ['money/destinations', 'money/files', 'money/ledger', 'money/payouts'],
    ['sent'],
  ],
  [
    'money/results',
    'result files of banks and providers: read, compared with a payout, proposed',
    ['money/ledger', 'money/payment-files', 'money/payouts'],
  ],
  ['money/schedules', 'schedules that prepare payouts', ['money/ledger', 'money/payouts']],
  [
    'money/invoices',
    'invoices in the name of affiliates, and credit notes',
    ['money/ledger', 'money/files', 'money/payouts', 'money/tax-profiles'],
    ['issue'],
  ],
  [
    'money/returns',
    'returned payments',
    ['money/commissions', 'money/invoices', 'money/ledger', 'money/payouts'],
  ],
  ['money/analytics', 'commissions over time', ['money/ledger']],
  [
    'money/reports',
    'paid and owed amounts, and lists for tax forms',
    ['money/affiliates', 'money/ledger', 'money/files', 'money/tax-profiles'],
  ],

  [
    'money/imports',
    'files of any format: dialect, mapping, progress, result and undo',
    [
      'money/affiliates',
      'money/commissions',
      'money/destinations',
      'money/ledger',
      'money/files',
      'money/payouts',
      'money/tax-profiles',
      'money/workbooks',
    ],
  ],

  [
    'webhooks',
    'events, and the endpoints that receive them',
    ['people', 'outbox', 'notices', 'contract', 'erasure', 'db', 'metrics', 'kernel'],
  ],
  [
    'webhooks/types',
    'event types: their names, the subscriptions that match them, own ones with the schema of their data',
    [],
    ['changes', 'types', 'validation'],
  ],
  [
    'webhooks/log',
    'deliveries and their attempts',
    ['webhooks/forms', 'webhooks/types'],
    ['filters', 'list'],
  ],
  ['webhooks/analytics', 'deliveries over time', ['webhooks/log']],
  [
    'webhooks/events',
    "published events, and publishing a platform's own",
    ['webhooks/log', 'webhooks/types'],
  ],
  ['webhooks/filters', 'conditions on the payload', []],
  ['webhooks/signing', 'signature schemes: Standard Webhooks, others, your own', []],
  ['webhooks/forms', 'the form of the body: whole, thin, a CloudEvent, an array of several', []],
  ['webhooks/egress', 'egress routes of an endpoint: proxies, client certificates, client credentials', []],
  [
    'webhooks/endpoints',
    'the receivers of events',
    [
      'webhooks/log',
      'webhooks/egress',
      'webhooks/filters',
      'webhooks/forms',
      'webhooks/signing',
      'webhooks/types',
    ],
    ['contact', 'portal', 'public-keys'],
  ],
  [
    'webhooks/claims',
    'events that consumers take from pull endpoints',
    ['webhooks/endpoints', 'webhooks/engine', 'webhooks/forms', 'webhooks/types'],
  ],
  [
    'webhooks/portal',
    'links that open a portal of endpoints',
    ['webhooks/endpoints', 'webhooks/filters', 'webhooks/types'],
  ],
  [
    'webhooks/recoveries',
    'sending many events again',
    ['webhooks/endpoints', 'webhooks/log', 'webhooks/types'],
  ],
  [
    'webhooks/engine',
    'claim, send, settle: its README has the states',
    ['webhooks/egress', 'webhooks/forms', 'webhooks/signing'],
  ],

  [
    'catalogue',
    'the data and an example of every event type',
    ['money', 'webhooks', 'outbox', 'contract', 'db', 'kernel'],
  ],

  [
    'screens',
    'pages rendered by the server',
    ['cells', 'catalogue', 'money', 'webhooks', 'people', 'notices', 'outbox', 'contract', 'db', 'kernel'],
  ],
  ['screens/html', 'escaping, the page around a screen, its style', []],
  ['screens/dashboard', 'the files of the built dashboard', []],
  ['screens/reference', 'the reference at /docs', ['screens/html']],
  [
    'alerts',
    'alerts to people and channels, and sending them',
    ['webhooks', 'notices', 'contract', 'db', 'kernel'],
  ],
  ['alerts/settings', 'the alerts that a user gets by e-mail', []],
  ['alerts/channels', 'webhooks and Slack channels that get alerts', ['alerts/settings'], ['target']],
  ['alerts/affiliates', 'e-mails to affiliates: their list and preview', [], ['compose']],
  [
    'alerts/sender',
    'from notices to messages: look, claim, compose, send',
    ['alerts/affiliates', 'alerts/channels'],
  ],
  ['oauth', 'the authorization server', ['screens', 'people', 'contract', 'db', 'kernel']],
  [
    'http',
    'the transport: server, authentication, transactions, the list of all endpoints',
    [
      'catalogue',
      'screens',
      'alerts',
      'oauth',
      'money',
      'webhooks',
      'people',
      'outbox',
      'contract',
      'erasure',
      'db',
      'metrics',
      'kernel',
    ],
  ],
  ['http/openapi', 'the OpenAPI description, generated from the endpoints', []],
  [
    'cells',
    'the databases of an installation: the directory, opening them, their accounts',
    ['people', 'db', 'kernel'],
  ],
  [
    'app',
    'a running program: platform, data folder, secret keys, chores, readiness, metrics',
    [
      'cells',
      'http',
      'oauth',
      'alerts',
      'money',
      'webhooks',
      'people',
      'papers',
      'outbox',
      'notices',
      'threads',
      'erasure',
      'db',
      'metrics',
      'kernel',
    ],
  ],
  ['app/backup', 'backup into one file, and restore from it', []],

  ['client', 'the typed client of our API', ['kernel']],
  [
    'cli',
    'the commands, which go through the client',
    ['app', 'cells', 'client', 'contract', 'terms', 'kernel'],
  ],
  ['cli/terminal', 'tables, progress, colours, times and amounts for people', []],
  ['cli/command', 'what commands share: sessions, lists, errors, files', ['cli/terminal']],
  ['cli/completion', 'completion of shells', ['cli/command']],
  [
    'cli/finders',
    'from what a person types to an id, and from an id to a name',
    ['cli/command', 'cli/terminal'],
  ],
  ['cli/imports', 'files with affiliates or commissions', ['cli/command', 'cli/finders', 'cli/terminal']],
  ['cli/commissions', 'payhook commissions', ['cli/command', 'cli/finders', 'cli/imports', 'cli/terminal']],
  [
    'cli/affiliates',
    'payhook affiliates',
    ['cli/command', 'cli/commissions', 'cli/finders', 'cli/imports', 'cli/terminal'],
  ],
  [
    'cli/payouts',
    'payhook payouts',
    ['cli/affiliates', 'cli/command', 'cli/commissions', 'cli/finders', 'cli/terminal'],
  ],
  ['cli/schedules', 'payhook schedules', ['cli/command', 'cli/finders', 'cli/payouts', 'cli/terminal']],
  ['cli/invoices', 'payhook invoices', ['cli/command', 'cli/finders', 'cli/terminal']],
  ['cli/programs', 'payhook programs', ['cli/command', 'cli/finders', 'cli/terminal']],
  ['cli/refunds', 'payhook refunds', ['cli/command', 'cli/commissions', 'cli/finders', 'cli/terminal']],
  ['cli/analytics', 'payhook analytics', ['cli/command', 'cli/finders', 'cli/terminal']],
  ['cli/reports', 'payhook reports', ['cli/command', 'cli/finders', 'cli/terminal']],
  [
    'cli/relay',
    'payhook relay: rows of another database, published as events',
    ['cli/command', 'cli/terminal'],
  ],
  ['cli/mcp', 'payhook mcp: the API as tools of an assistant', ['cli/command']],
  ['cli/webhooks', 'payhook webhooks, events and listen', ['cli/command', 'cli/finders', 'cli/terminal']],
  [
    'cli/people',
    'payhook account, accounts, users, sessions, keys, oauth-…, audit-log',
    ['cli/command', 'cli/finders', 'cli/terminal'],
  ],
  [
    'cli/system',
    'payhook serve, worker, doctor, secret-key, service, …',
    ['cli/command', 'cli/demo', 'cli/terminal'],
  ],
  ['cli/demo', 'payhook demo', ['cli/command', 'cli/terminal']],
];

/** The same for the dashboard, which is a separate program and reaches everything else through the API. */
export const DASHBOARD_ROOMS = [
  ['texts', 'every text that people read', ['src']],
  ['data', 'requests to the API, the session, the preferences of the user', ['src']],
  ['parts', 'the design system', ['data', 'texts', 'src']],
  ['app', 'what is around every screen', ['parts', 'data', 'texts', 'src']],
  [
    'screens',
    'one folder per noun, one file per screen; nouns do not import each other',
    ['app', 'parts', 'data', 'texts', 'src'],
  ],
  ['', 'the entry point: the routes of all screens, and the build', ['screens', 'app', 'data']],
];

/** What the dashboard may import from the server: the types, fields and errors of the client; roles; money, time and its zones, text that is safe to show, countries, payments and taxes. */
export const FOR_DASHBOARD =
  /^src\/(client\/(api|errors|fields|retry)|contract\/roles|kernel\/(money|time|visible|zones)|terms\/(countries|payment-answers|payment-reference|payments|payout-signals|taxes|with-tax))\.ts$/;
