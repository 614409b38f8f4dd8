import { expect, test } from 'vitest';
import { hashSecret, isSecret, newSecret } from './secrets.ts';

test('a secret has its prefix, 43 random characters and a checksum, and is never the same twice', () => {
  const secrets = Array.from({ length: 200 }, () => newSecret('ph_'));
  expect(new Set(secrets).size).toBe(200);
  for (const secret of secrets) {
    expect(secret).toMatch(/^ph_[0-9A-Za-z]{49}$/);
    expect(isSecret('ph_', secret)).toBe(true);
  }
});

test('a secret with one character changed, missing, added or swapped is known for none', () => {
  const secret = newSecret('ph_');
  for (let index = 0; index < secret.length; index += 1) {
    const other = secret[index] === 'x' ? 'y' : 'x';
    expect(isSecret('ph_', secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false);
    expect(isSecret('ph_', secret.slice(0, index) + secret.slice(index + 1))).toBe(false);
    expect(isSecret('ph_', `${secret.slice(0, index)}x${secret.slice(index)}`)).toBe(false);
  }
  for (const text of ['', 'ph_', 'nonsense', ` ${secret}`, `${secret}\n`, secret.slice(3)])
    expect(isSecret('ph_', text)).toBe(false);
});

test('what is stored of a secret is 32 bytes that are the same each time', () => {
  const secret = newSecret('ph_');
  expect(hashSecret(secret)).toHaveLength(32);
  expect(hashSecret(secret)).toEqual(hashSecret(secret));
  expect(hashSecret(secret)).not.toEqual(hashSecret(`${secret}x`));
});
