import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumsOf } from '../../src/money/invoices/sums.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';

test('net, tax and rounding add up to the payment; the tax is that of the net amount', () =>
  expectProperty({
    ...{ name: 'sums of an invoice', cases: rounds(1500, 5000) },
    arbitrary: fc.tuple(fc.bigInt(1n, 10n ** 15n), fc.integer({ min: 0, max: 10_000 })),
    check([paid, rate]) {
      const { net, tax, rounding } = sumsOf(paid, rate);
      expect(net + tax + rounding).toBe(paid);
      expect(net >= 0n && tax >= 0n).toBe(true);
      expect(rounding === 0n || rounding === 1n).toBe(true);
      // EN 16931, BR-CO-17: half a minor unit is rounded up
      expect(tax).toBe((net * BigInt(rate) * 2n + 10_000n) / 20_000n);
      // no other net amount comes nearer
      const next = net + 1n;
      expect(next + (next * BigInt(rate) * 2n + 10_000n) / 20_000n > paid).toBe(true);
    },
  }));
