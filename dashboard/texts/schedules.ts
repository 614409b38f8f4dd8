import { count } from './common.ts';
import { methodNames } from './methods.ts';
import { roleCannot } from './roles.ts';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Schedules that prepare payouts. */
export const schedules = {
  title: 'Schedules',
  lead: 'A schedule prepares a payout on a set day. You review, pay and complete it.',
  new: 'New schedule',
  viewer: roleCannot('write', 'create or change schedules'),
  columns: {
    name: 'Schedule',
    due: 'Prepares a payout',
    next: 'Next',
    last: 'Last time',
    status: 'Status',
  },
  status: { on: 'On', off: 'Paused' },
  never: 'Not yet',
  empty: {
    title: 'No schedules yet',
    lead: 'A schedule prepares the payout of each week or month on a set day. Nothing counts as paid until you complete it.',
  },
  due: (every: 'week' | 'month', day: number) =>
    every === 'week'
      ? `Every ${WEEKDAYS[day - 1]}`
      : day > 28
        ? `On day ${day} of each month, or its last`
        : `On day ${day} of each month`,
  weekdays: WEEKDAYS,
  dayOfMonth: (day: number) => (day > 28 ? `${day}, or the last day` : String(day)),
  outcomes: { created: 'Payout prepared', empty: 'Nothing to pay', refused: 'Not prepared' },
  facts: {
    filters: 'Pays',
    minimum: 'Minimums',
    minimumKept: 'Applied',
    minimumIgnored: 'Ignored',
    madeBy: 'Payouts created by',
    changed: 'Last changed',
  },
  selection: {
    everybody: 'Everybody who is owed',
    method: (method: keyof typeof methodNames) => `paid by ${methodNames[method]}`,
    currency: (currency: string) => `in ${currency.toUpperCase()}`,
    program: (name: string) => `from ${name}`,
    search: (words: string) => `matching “${words}”`,
    others: (json: string) => `and the filters ${json}`,
  },
  openPayout: 'Open the payout',
  preparedBy: 'Prepared by schedule',
  deleted: 'one that was deleted',
  now: {
    title: 'If it ran now',
    pays: (affiliates: number) => `${count(affiliates, 'affiliate')} would be paid:`,
    nobody: 'There would be nothing to pay, so it would prepare no payout.',
    current: 'There is an unpaid payout. The schedule prepares no other until you complete or delete it.',
    openCurrent: 'Open the unpaid payout',
  },
  actions: { change: 'Change', pause: 'Pause', resume: 'Resume', remove: 'Delete' },
  creator:
    'Whoever changes a schedule is the creator of its next payouts. If payouts need a second person, somebody else approves them.',
  paused: 'Schedule paused',
  resumed: (day: string) => `Schedule resumed: next on ${day}`,
  form: {
    create: 'New schedule',
    change: (name: string) => `Change ${name}`,
    name: 'Name',
    every: 'How often',
    rhythms: { week: 'Each week', month: 'Each month' },
    weekday: 'Weekday',
    day: 'Day of the month',
    dayHint: 'The day begins at midnight in the time zone of the account.',
    method: 'Paid by',
    anyMethod: 'Any method',
    currency: 'Currency',
    anyCurrency: 'Any currency',
    program: 'Program',
    anyProgram: 'Any program',
    search: 'Only affiliates matching',
    searchHint: 'Words of a name, an e-mail address or a short name.',
    minimum: 'Also pay affiliates below their minimum',
    others: (json: string) => `These filters were set elsewhere and stay: ${json}`,
    save: 'Save schedule',
    doIt: 'Create schedule',
    saved: 'Schedule saved',
    created: (day: string) => `Schedule created: first on ${day}`,
  },
  removal: {
    title: (name: string) => `Delete the schedule ${name}?`,
    lead: 'It prepares no more payouts. Payouts that it prepared stay.',
    action: 'Delete schedule',
    done: 'Schedule deleted',
  },
};
