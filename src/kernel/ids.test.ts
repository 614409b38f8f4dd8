import { expect, test } from 'vitest';
import {
  type AccountId,
  type CommissionId,
  idOf,
  numberIdOf,
  type PayoutId,
  type Uuid,
  uuidOf,
} from './ids.ts';

const UUID = '0192f8e5-c7a7-7b3e-9d01-92f8e5c7a7b3' as Uuid<'po'>;

test('an opaque id is its prefix and the digits of its UUID, and leads back to it', () => {
  const id = idOf('po', UUID);
  expect(id).toBe('po_0192f8e5c7a77b3e9d0192f8e5c7a7b3');
  expect(uuidOf('po', id)).toBe(UUID);
});

test.each([
  '',
  'po_',
  'po',
  UUID,
  `po_${UUID}`,
  idOf('com', UUID as string as CommissionId),
  idOf('po', UUID).toUpperCase(),
  `po_${idOf('po', UUID).slice(3).toUpperCase()}`,
  `${idOf('po', UUID)}0`,
  idOf('po', UUID).slice(0, -1),
  ` ${idOf('po', UUID)}`,
  `${idOf('po', UUID)}\n`,
  idOf('po', UUID).replace('0', '٠'),
])('%j is no payout id', (id) => {
  expect(uuidOf('po', id)).toBeNull();
});

test.each([
  ['1', 1],
  ['42', 42],
  ['9007199254740991', 9_007_199_254_740_991],
])('%s is a number id', (text, id) => {
  expect(numberIdOf(text)).toBe(id);
});

test.each([
  '',
  '0',
  '01',
  '-1',
  '+1',
  '1.0',
  '1e3',
  ' 1',
  '1 ',
  '1\n',
  '0x1',
  '١',
  '9007199254740992',
  '9'.repeat(400),
  'NaN',
])('%j is no number id', (text) => {
  expect(numberIdOf(text)).toBeNull();
});

test('the compiler keeps ids of different nouns apart', () => {
  const pay = (account: AccountId, payout: PayoutId) => [account, payout];
  const [account, payout] = [UUID as string as AccountId, UUID as PayoutId];
  expect(pay(account, payout)).toEqual([UUID, UUID]);
  // @ts-expect-error: a payout is not an account
  pay(payout, payout);
  // @ts-expect-error: the two are swapped
  pay(payout, account);
  // @ts-expect-error: an opaque id is not a UUID
  pay(account, idOf('po', payout));
  // @ts-expect-error: the UUID of a payout does not make a commission id
  idOf('com', payout);
  // @ts-expect-error: a string that was not parsed is not an id
  pay(account, 'po_0192f8e5c7a77b3e9d0192f8e5c7a7b3');
});
