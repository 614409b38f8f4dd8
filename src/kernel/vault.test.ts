import { expect, test } from 'vitest';
import { fingerprintOf, vaultOf } from './vault.ts';

const KEY = 'a secret key that is long enough';
const OTHER = 'another secret key, long enough';
const named = fingerprintOf(KEY);
const vault = vaultOf(() => [KEY]);

test('a sealed secret opens again, and no two seals are the same', () => {
  const sealed = vault.seal('whsec_ü', 'here', named);
  expect(vault.open(sealed, 'here')).toBe('whsec_ü');
  expect(sealed.toString('latin1')).not.toContain('whsec_');
  expect(vault.seal('whsec_ü', 'here', named).equals(sealed)).toBe(false);
});

test('it opens nowhere else, with no other key, and not after a change of any byte', () => {
  const sealed = vault.seal('secret', 'here', named);
  expect(() => vault.open(sealed, 'there')).toThrow();
  expect(() => vaultOf(() => [OTHER]).open(sealed, 'here')).toThrow();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => vault.open(changed, 'here'), `byte ${index}`).toThrow();
  }
  expect(() => vault.open(Buffer.alloc(0), 'here')).toThrow();
});

test('a key that another process put there later is found, and both open', () => {
  const keys = [KEY];
  const running = vaultOf(() => keys);
  const before = running.seal('before', 'here', named);
  const after = vaultOf(() => [OTHER]).seal('after', 'here', fingerprintOf(OTHER));
  expect(() => running.open(after, 'here')).toThrow(/does not hold the secret key/);
  keys.unshift(OTHER);
  expect([running.open(before, 'here'), running.open(after, 'here')]).toEqual(['before', 'after']);
});
