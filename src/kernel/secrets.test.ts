import { expect, test } from 'vitest';
import { cellOf, hashSecret, isSecret, newSecret } from './secrets.ts';

test('a secret has its prefix, 43 random characters and a checksum, and is never the same twice', () => {
  const secrets = Array.from({ length: 200 }, () => newSecret('ph_', 0));
  expect(new Set(secrets).size).toBe(200);
  for (const secret of secrets) {
    expect(secret).toMatch(/^ph_[0-9A-Za-z]{49}$/);
    expect(isSecret('ph_', secret)).toBe(true);
  }
});

test('a secret with one character changed, missing, added or swapped is known for none', () => {
  const secret = newSecret('ph_', 0);
  for (let index = 0; index < secret.length; index += 1) {
    const other = secret[index] === 'x' ? 'y' : 'x';
    expect(isSecret('ph_', secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false);
    expect(isSecret('ph_', secret.slice(0, index) + secret.slice(index + 1))).toBe(false);
    expect(isSecret('ph_', `${secret.slice(0, index)}x${secret.slice(index)}`)).toBe(false);
  }
  for (const text of ['', 'ph_', 'nonsense', ` ${secret}`, `${secret}\n`, secret.slice(3)])
    expect(isSecret('ph_', text)).toBe(false);
});

test('a secret names its cell, which its checksum covers; without one it is of cell 0', () => {
  for (const cell of [1, 7, 31, 9999]) {
    const secret = newSecret('pha_', cell);
    expect(secret).toMatch(new RegExp(`^pha_${cell}_[0-9A-Za-z]{49}$`));
    expect([isSecret('pha_', secret), isSecret('ph_', secret), cellOf(secret)]).toEqual([true, false, cell]);
    expect(isSecret('pha_', secret.replace(`_${cell}_`, `_${cell + 1}_`))).toBe(false);
    expect(isSecret('pha_', secret.replace(`_${cell}_`, '_'))).toBe(false);
  }
  const secret = newSecret('ph_', 0);
  expect(cellOf(secret)).toBe(0);
  expect(isSecret('ph_', secret.replace('ph_', 'ph_0_'))).toBe(false);
  expect(['', 'nonsense', 'ph_01_x', 'ph_12345_x', 'ph_-1_x'].map(cellOf)).toEqual([0, 0, 0, 0, 0]);
});

test('what is stored of a secret is 32 bytes that are the same each time', () => {
  const secret = newSecret('ph_', 0);
  expect(hashSecret(secret)).toHaveLength(32);
  expect(hashSecret(secret)).toEqual(hashSecret(secret));
  expect(hashSecret(secret)).not.toEqual(hashSecret(`${secret}x`));
});
