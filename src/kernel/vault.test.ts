import { expect, test } from 'vitest';
import { vaultOf } from './vault.ts';

const vault = vaultOf('a secret key that is long enough');

test('a sealed secret opens again, and no two seals are the same', () => {
  const sealed = vault.seal('whsec_ü', 'here');
  expect(vault.open(sealed, 'here')).toBe('whsec_ü');
  expect(sealed.toString('latin1')).not.toContain('whsec_');
  expect(vault.seal('whsec_ü', 'here').equals(sealed)).toBe(false);
});

test('it opens nowhere else, with no other key, and not after a change of any byte', () => {
  const sealed = vault.seal('secret', 'here');
  expect(() => vault.open(sealed, 'there')).toThrow();
  expect(() => vaultOf('another secret key, long enough').open(sealed, 'here')).toThrow();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => vault.open(changed, 'here'), `byte ${index}`).toThrow();
  }
  expect(() => vault.open(Buffer.alloc(0), 'here')).toThrow();
});
