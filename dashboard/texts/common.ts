/** Texts of the shell and of the parts. Functions where a text has figures in it. */
export const common = {
  product: 'Payhook',
  skip: 'Skip to the content',
  navigation: 'Main',
  menu: 'Menu',
  close: 'Close',
  cancel: 'Cancel',
  back: 'Back',
  copy: 'Copy',
  copied: 'Copied',
  copyId: (id: string) => `Copy ${id}`,
  copyAsCurl: 'Copy as curl',
  copiedCurl: 'Copied. Put an API key in place of $PAYHOOK_API_KEY.',
  pretty: 'Indented',
  raw: 'Raw',
  download: 'Download',
  kept: 'I have kept it',
  shownBefore: 'It was shown before, and is not kept anywhere. Make another one.',
  optional: 'optional',
  more: 'More actions',
  search: 'Search',
  filters: (set: number) => (set === 0 ? 'Filters' : `Filters (${set})`),
  all: 'All',
  none: 'None',
  nothing: '—',
  loading: 'Loading…',
  stillWaiting: 'Still waiting for the answer of the server. Large sums take a moment.',
  importFile: 'Import a file',
  refresh: 'Show',
  fresh: (count: number) => `${count.toLocaleString()} new`,
  live: 'Live',
  showAll: (bytes: string) => `Show all of it (${bytes} kB)`,
  selectAll: 'Select all',
  selectRow: (name: string) => `Select ${name}`,
  sortBy: (title: string) => `Sort by ${title}`,
  json: {
    mistake: (line: number, column: number, expected: string) =>
      `Line ${line}, column ${column}: ${expected} is expected here.`,
    expected: {
      value: 'a value',
      item: 'a value or ]',
      member: 'a name in double quotes or }',
      name: 'a name in double quotes',
      another: 'another name (this one was there before)',
      colon: 'a colon',
      next: 'a comma or the closing bracket',
      end: 'nothing more',
    },
    noObject: 'It must be an object: { … }.',
  },
  pager: {
    label: 'Pages',
    range: (from: string, to: string, total: string) => `${from}–${to} of ${total}`,
    previous: 'Previous page',
    next: 'Next page',
    size: 'Rows a page',
  },
  chart: {
    asTable: 'As a table',
    asChart: 'As a chart',
    when: 'When',
    hint: 'The arrow keys go from one interval to the next; t shows all figures as a table.',
  },
  errors: {
    title: 'That did not work',
    retry: 'Try again',
    request: 'Request',
    meaning: {
      role_too_low: 'Your role may read only. An owner or a member of the account can do this.',
      full_access_required: 'Only an owner of the account can do this.',
      insufficient_scope: 'This sign-in is not allowed to do this.',
      unknown_route: 'The server does not know this address. It may be older than this page: reload it.',
      internal_error:
        'This is a mistake of the server, not yours. Its log has the cause under the request below.',
      not_found: 'It was deleted, or it belongs to another account.',
      payout_changed:
        'Somebody or something changed the payout since you opened it. Look at what changed, then go on.',
    } as Readonly<Record<string, string>>,
    unchanged: 'Nothing was changed.',
  },
  connection: {
    lost: 'The server does not answer. What you entered is kept, and this page goes on by itself.',
  },
  session: {
    title: 'Your session has ended',
    lead: 'Sign in again to go on where you were. What you entered is kept.',
    email: 'E-mail address',
    password: 'Password',
    submit: 'Sign in',
    wrong: 'The e-mail address or the password is wrong.',
    limited: 'Signing in is paused after too many attempts. Try again in a few minutes.',
  },
  notFound: {
    title: 'There is no such page',
    lead: 'The address leads nowhere. It may have been mistyped, or what it named was deleted.',
    action: 'Go to the start',
  },
  user: {
    label: 'account and settings',
    own: 'Your account',
    reference: 'API reference',
    shortcuts: 'Keyboard shortcuts',
    signOut: 'Sign out',
    switchTo: 'Switch account',
    theme: 'Theme',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    clock: 'Times',
    clocks: { local: 'Local time', utc: 'UTC' },
  },
  roles: { owner: 'Owner', member: 'Member', viewer: 'Viewer' },
  commands: {
    title: 'Go to anything',
    placeholder: 'A name, an e-mail address, an order, an id, an action…',
    goTo: (title: string) => `Go to ${title}`,
    nothing: 'Nothing is called that.',
    actions: {
      edit: 'Edit this affiliate',
      adjust: 'Adjust the balance of this affiliate',
      pause: 'Pause or resume payouts of this affiliate',
      files: 'Payment files of this payout',
      complete: 'Complete this payout',
      payout: 'New payout',
      theme: (name: string) => `Theme: ${name}`,
      clock: (name: string) => `Times: ${name}`,
      account: (name: string) => `Switch to ${name}`,
    },
    hint: '↑ ↓ to choose, Enter to open, Esc to close',
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    rows: [
      ['⌘ K / Ctrl K', 'Go to anything'],
      ['/', 'Search this list'],
      ['j  k', 'Next and previous row'],
      ['Enter', 'Open the row'],
      ['Esc', 'Close what is open'],
      ['←  →', 'Read a chart, an interval at a time'],
      ['t', 'Show the figures of a chart as a table'],
      ['?', 'This help'],
    ] as readonly (readonly [string, string])[],
    goTo: (title: string) => `Go to ${title}`,
  },
};

/** `1 affiliate`, `2 affiliates`; the number as the reader writes it. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}
