import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { selection } from '../payouts/record.ts';

const every = Type.Enum(['week', 'month'], { title: 'ScheduleRhythm' });
const DAY =
  'week: 1 (Monday) to 7; month: 1 to 31, or the last day of a shorter month. The day is in the account’s time zone and ' +
  'begins at midnight there';
const isActive = Type.Boolean({ description: 'false: it creates no payouts until it is activated' });

/** A schedule that prepares payouts. */
export const schedule = strict(
  {
    id: Type.String({ examples: ['psc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('payout_schedule'),
    name: Type.String(),
    every,
    day: Type.Integer({ description: DAY }),
    filters: Type.Unsafe<unknown>({ description: 'as given; null = none' }),
    search: Type.String(),
    ignore_minimum: Type.Boolean(),
    is_active: isActive,
    made_by: Type.String({ description: 'who last changed it, and so counts as the creator of its payouts' }),
    next_on: nullable(Type.String({ description: 'the next due day; null while inactive' })),
    last_run: nullable(
      strict(
        {
          due_on: Type.String({ description: 'the last due day' }),
          ran_at: timestamp,
          outcome: Type.Enum(['created', 'empty', 'refused'], {
            title: 'ScheduleOutcome',
            description: 'empty: there was nothing to pay; refused: see `reason`',
          }),
          reason: nullable(Type.String({ description: 'why it created no payout' })),
          payout_id: nullable(
            Type.String({ description: 'the payout it created, which may have been deleted since' }),
          ),
        },
        { title: 'ScheduleRun' },
      ),
    ),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'PayoutSchedule' },
);
export type Schedule = Static<typeof schedule>;

/** Its columns, over `payout_schedules s`. */
export const record = columnsOf(schedule, {
  id: "public_id('psc', s.id)",
  object: "'payout_schedule'",
  name: 's.name',
  every: 's.every',
  day: 's.day',
  filters: 's.filters',
  search: 's.search',
  ignore_minimum: 's.ignore_minimum',
  is_active: 's.is_active',
  made_by: 's.maker_id',
  next_on: 'case when s.is_active then s.next_on end',
  last_run: `case when s.last_on is not null then json_build_object('due_on', s.last_on, 'ran_at', iso(s.last_at),
    'outcome', s.last_outcome, 'reason', s.last_reason, 'payout_id', public_id('po', s.last_payout_id)) end`,
  created_at: 'iso(s.created_at)',
  updated_at: 'iso(s.updated_at)',
});

const { filters, search, ignore_minimum } = selection.properties;
const dayInput = Type.Integer({ minimum: 1, maximum: 31, description: DAY });

/** The input of a schedule. */
export const newSchedule = strict({
  name: text(200),
  every,
  day: dayInput,
  filters,
  search,
  ignore_minimum,
  is_active: Type.Optional(isActive),
});
export type NewSchedule = Static<typeof newSchedule>;

/** The changeable fields of a schedule. */
export const scheduleChange = strict({
  name: Type.Optional(text(200)),
  every: Type.Optional(every),
  day: Type.Optional(dayInput),
  filters,
  search,
  ignore_minimum,
  is_active: Type.Optional(isActive),
});
export type ScheduleChange = Static<typeof scheduleChange>;
