import { describe, expect, test } from 'vitest';
import { Failure } from '../../kernel/errors.ts';
import { FILTER_FIELDS, readFilters } from './filters.ts';

const refusalOf = (input: unknown): string => {
  try {
    readFilters(input, 'UTC');
  } catch (error) {
    if (error instanceof Failure) return error.reason;
    throw error;
  }
  return 'none';
};

describe('filters', () => {
  test.each([[undefined], [null], [{}], [[]], [{ status: 'unpaid' }], [{ status: { eq: 'unpaid' } }]])(
    '%j mean no filters',
    (input) => {
      const { normal, affiliate, commissionBound, commissionOther, total } = readFilters(input, 'UTC');
      expect(normal).toBeNull();
      expect([affiliate, commissionBound, commissionOther, total].flat()).toEqual([]);
    },
  );

  test('list the references to look up', () => {
    const filters = readFilters({ affiliate_id: { in: [3, 1], ne: 2 }, program_id: 5 }, 'UTC');
    expect([filters.affiliateIds.toSorted(), filters.programIds]).toEqual([[1, 2, 3], [5]]);
    expect(filters.namesAffiliateStatus).toBe(false);
    expect(readFilters({ affiliate_status: 'active' }, 'UTC').namesAffiliateStatus).toBe(true);
  });

  test('put every value into a parameter, never into the query text', () => {
    const evil = "'; drop table payouts; --";
    const filters = readFilters(
      { order_id: evil, product_id: [evil], occurred_at: { gte: '2025-01-01' } },
      'UTC',
    );
    for (const condition of filters.commissionOther) expect(condition.sql).not.toContain('drop table');
    expect(filters.commissionOther.flatMap(({ values }) => values).flat()).toContain(evil);
  });

  test('read again give the same: the normalised form is its own', () => {
    const input = {
      currency: ['USD', 'eur'],
      affiliate_id: 7,
      total: { gte: 1, lt: 5 },
      occurred_at: { lte: '2025-01-01' },
    };
    const { normal } = readFilters(input, 'UTC');
    expect(readFilters(normal, 'UTC').normal).toEqual(normal);
  });

  test('list each field with its operators for the reference', () => {
    expect(
      Object.fromEntries(FILTER_FIELDS.map(({ name, operators }) => [name, operators.join(' ')])),
    ).toEqual({
      affiliate_id: 'eq ne in nin',
      program_id: 'eq ne in nin',
      product_id: 'eq ne in nin',
      order_id: 'eq ne in nin',
      payout_method: 'eq ne in nin',
      affiliate_status: 'eq ne in nin',
      type: 'eq ne in nin',
      is_ready_for_payout: 'eq',
      currency: 'eq in',
      total: 'eq gt gte lt lte',
      occurred_at: 'gt gte lt lte',
    });
  });
});

describe('a span', () => {
  test.each([
    [{ gte: '2025-01-02', lte: '2025-01-01' }, 'invalid_filter'],
    [{ gt: '2025-01-01', lte: '2025-01-01' }, 'invalid_filter'],
    [{ gte: '2025-01-01', lt: '2025-01-01' }, 'invalid_filter'],
    [{ gt: '2025-01-01', lt: '2025-01-02' }, 'invalid_filter'],
    [{ gte: '2025-01-01', lte: '2025-01-01' }, 'none'],
    [{ gte: '2025-01-01', lt: '2025-01-02' }, 'none'],
    [{ gt: '2025-01-01', lt: '2025-01-03' }, 'none'],
    [{ gte: '2025-01-01T00:00:00Z', lte: '2025-01-01T00:00:00Z' }, 'none'],
    [{ gt: '2025-01-01T00:00:00Z', lt: '2025-01-01T00:00:00.001Z' }, 'invalid_filter'],
    [{ gte: '2025-01-01T01:00:00+02:00', lte: '2024-12-31T23:00:00Z' }, 'none'],
    [{ gte: '2025-01-03', gt: '2025-01-01', lte: '2025-01-02' }, 'invalid_filter'],
  ])('of time %j: %s', (occurred_at, reason) => {
    expect(refusalOf({ occurred_at })).toBe(reason);
  });

  test.each([
    [{ gte: 5, lte: 5 }, 'none'],
    [{ gte: 6, lte: 5 }, 'invalid_filter'],
    [{ gt: 5, lte: 5 }, 'invalid_filter'],
    [{ gt: 5, lt: 5 }, 'invalid_filter'],
    [{ gte: -5, lt: 0 }, 'none'],
    [{ eq: 5 }, 'none'],
  ])('of totals %j: %s', (total, reason) => {
    expect(refusalOf({ currency: 'usd', total })).toBe(reason);
  });
});
