import { expect, test } from 'vitest';
import type { AccountId } from './ids.ts';
import { fingerprintOf, vaultOf } from './vault.ts';

const KEY = 'a secret key that is long enough';
const OTHER = 'another secret key, long enough';
const named = fingerprintOf(KEY);
const vault = vaultOf(() => [KEY]);
const HERE = { account: '019c0000-0000-7000-8000-000000000001' as AccountId, place: 'here' };
const ELSEWHERE = { ...HERE, account: '019c0000-0000-7000-8000-000000000002' as AccountId };

test('a sealed secret opens again, and no two seals are the same', () => {
  const sealed = vault.seal('whsec_ü', HERE, named);
  expect(vault.open(sealed, HERE)).toBe('whsec_ü');
  expect(sealed.toString('latin1')).not.toContain('whsec_');
  expect(vault.seal('whsec_ü', HERE, named).equals(sealed)).toBe(false);
});

test('it opens nowhere else, with no other key, and not after a change of any byte', () => {
  const sealed = vault.seal('secret', HERE, named);
  expect(() => vault.open(sealed, { ...HERE, place: 'there' })).toThrow();
  expect(() => vault.open(sealed, ELSEWHERE)).toThrow();
  expect(() => vaultOf(() => [OTHER]).open(sealed, HERE)).toThrow();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => vault.open(changed, HERE), `byte ${index}`).toThrow();
  }
  expect(() => vault.open(Buffer.alloc(0), HERE)).toThrow();
});

test('a key that another process put there later is found, and both open', () => {
  const keys = [KEY];
  const running = vaultOf(() => keys);
  const before = running.seal('before', HERE, named);
  const after = vaultOf(() => [OTHER]).seal('after', HERE, fingerprintOf(OTHER));
  expect(() => running.open(after, HERE)).toThrow(/does not hold the secret key/);
  keys.unshift(OTHER);
  expect([running.open(before, HERE), running.open(after, HERE)]).toEqual(['before', 'after']);
});

test('what earlier versions sealed still opens', () => {
  const second = Buffer.from(
    '028d483a69ed04878e3440effaecaf55a661b9d6d804b7e15f8422ce8673da5a17a12f8d53ebf453a62df1114b53a2f6f7',
    'hex',
  );
  const first = Buffer.from(
    '01070707070707070707070707d81a17f764e1f31a3383d74506d5850cfc063ba3e0bcf76011274e11',
    'hex',
  );
  expect([vault.open(second, HERE), vault.open(first, HERE)]).toEqual(['of version 2', 'of version 1']);
});
