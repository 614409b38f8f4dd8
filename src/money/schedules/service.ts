import type { Principal } from '../../contract/route.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, uuidOf } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { nameFrom } from '../../kernel/names.ts';
import { dayOf } from '../../kernel/zones.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { personBehind } from '../ledger/person-behind.ts';
import { checkSelection } from '../payouts/service.ts';
import { nextDay } from './days.ts';
import type { NewSchedule, Schedule, ScheduleChange } from './record.ts';
import { deleteSchedule, lockSchedule, readSchedule, type Which, writeSchedule } from './store.ts';

const missing = () => fail('resource_missing', 'no such schedule');

function which(account: AccountId, scheduleId: string): Which {
  const id = uuidOf('psc', scheduleId);
  if (id === null) throw missing();
  return { account, id };
}

/** A schedule. Throws `resource_missing`. */
export async function getSchedule(db: Reader, account: AccountId, id: string): Promise<Json<Schedule>> {
  const json = await readSchedule(db, which(account, id));
  if (json === null) throw missing();
  return json;
}

/** Creates a schedule, first due after today. Throws `invalid_body` and the reasons of filters. */
export async function createSchedule(
  tx: Tx,
  principal: Principal,
  input: NewSchedule,
): Promise<Json<Schedule>> {
  return write(tx, principal, null, {
    filters: null,
    search: '',
    ignore_minimum: false,
    is_active: true,
    ...input,
  });
}

/**
 * Changes a schedule. The author of the change counts as the creator of its next payouts; otherwise a user could change
 * another user's schedule and approve its payouts. Throws `resource_missing`, `invalid_body` and the reasons of filters.
 */
export async function changeSchedule(
  tx: Tx,
  principal: Principal,
  scheduleId: string,
  input: ScheduleChange,
): Promise<Json<Schedule>> {
  const place = which(principal.account, scheduleId);
  const before = await lockSchedule(tx, place);
  if (before === null) throw missing();
  if (Object.values(input).every((value) => value === undefined)) return before;
  const { name, every, day, filters, search, ignore_minimum, is_active } = fromJson(before);
  return write(tx, principal, place.id, {
    name,
    every,
    day,
    filters,
    search,
    ignore_minimum,
    is_active,
    ...input,
  });
}

async function write(
  tx: Tx,
  principal: Principal,
  id: Which['id'] | null,
  input: Required<Omit<NewSchedule, 'filters'>> & Pick<NewSchedule, 'filters'>,
): Promise<Json<Schedule>> {
  const { account } = principal;
  const name = nameFrom(input.name);
  if (input.every === 'week' && input.day > 7) {
    throw fail('invalid_body', 'day must be 1 (Monday) to 7 with every week');
  }
  const { filters, search, ignore_minimum } = input;
  await checkSelection(tx, account, { filters, search, ignore_minimum });
  const today = dayOf(await readNow(tx), await zoneOf(tx, account));
  const stored = { ...input, name, filters: filters ?? null, next_on: nextDay(input, today) };
  return writeSchedule(tx, id, stored, { principal, user: await personBehind(tx, account, principal) });
}

/** Deletes a schedule. Its payouts stay. Throws `resource_missing`. */
export async function removeSchedule(tx: Tx, account: AccountId, scheduleId: string): Promise<void> {
  if (!(await deleteSchedule(tx, which(account, scheduleId)))) throw missing();
}
