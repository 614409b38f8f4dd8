import type { Static } from 'typebox';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { extended, fromJson, type Json, toJson } from '../kernel/json.ts';
import { columnsOf } from './records.ts';
import { created, done, ok, page, readRoute, writeRoute } from './route.ts';
import { type List, listOf, strict } from './schemas.ts';

const payout = strict({ id: Type.String(), amount: Type.Integer() });
const refund = strict({ id: Type.String(), reason: Type.String() });
const payoutWithFee = strict({ id: Type.String(), amount: Type.Integer(), fee: Type.Integer() });
type Payout = Static<typeof payout>;
type PayoutWithFee = Static<typeof payoutWithFee>;

const aPayout: Json<Payout> = toJson({ id: 'po_1', amount: 5000 });
const common = {
  operation: 'get',
  path: '/v2/payouts/{id}',
  scope: 'affiliates',
  needs: 'read',
  summary: '',
} as const;
const list = { id: 'p.id', sort: { id: 'p.id' }, filters: {} };

test('columns are those of the schema, each named like its field', () => {
  expect(columnsOf(payout, { id: "public_id('po', p.id)", amount: 'p.amount' }).sql).toBe(
    `public_id('po', p.id) as "id",p.amount as "amount"`,
  );
  // @ts-expect-error: amount has no column
  columnsOf(payout, { id: 'p.id' });
  // @ts-expect-error: the schema knows no reason
  columnsOf(payout, { id: 'p.id', amount: 'p.amount', reason: 'p.reason' });
});

test('the fields of an extended record come first', () => {
  const withFee: Json<PayoutWithFee> = extended(aPayout, { fee: toJson(25) });
  expect(withFee).toBe('{"id":"po_1","amount":5000,"fee":25}');
  expect(fromJson(withFee).fee).toBe(25);
  // @ts-expect-error: the fee is missing
  const without: Json<PayoutWithFee> = extended(aPayout, {});
  // @ts-expect-error: amount is there already
  const twice: Json<PayoutWithFee> = extended(aPayout, { fee: toJson(25), amount: toJson(1) });
  return [without, twice];
});

test('the compiler checks a response against what the route declares', () => {
  const aPage = { json: '' as Json<List<Payout>>, total: 0n };
  readRoute({ ...common, returns: { 200: payout }, handle: async () => ok(aPayout) });
  readRoute({ ...common, list, returns: { 200: listOf(payout) }, handle: async () => page(aPage) });
  // @ts-expect-error: a payout is no refund
  readRoute({ ...common, returns: { 200: refund }, handle: async () => ok(aPayout) });
  // @ts-expect-error: the fee is missing
  readRoute({ ...common, returns: { 200: payoutWithFee }, handle: async () => ok(aPayout) });
  const withFee = toJson<PayoutWithFee>({ id: 'po_1', amount: 5000, fee: 25 });
  // @ts-expect-error: the route declares no fee
  readRoute({ ...common, returns: { 200: payout }, handle: async () => ok(withFee) });
  // @ts-expect-error: a text that nobody made is no record
  readRoute({ ...common, returns: { 200: payout }, handle: async () => ok('{}') });
  // @ts-expect-error: a page of payouts is no page of refunds
  readRoute({ ...common, list, returns: { 200: listOf(refund) }, handle: async () => page(aPage) });
  // @ts-expect-error: a page is no record
  readRoute({ ...common, list, returns: { 200: payout }, handle: async () => page(aPage) });
  // @ts-expect-error: no route declares 201 here
  readRoute({ ...common, returns: { 200: payout }, handle: async () => created(aPayout) });
  // @ts-expect-error: there is a body
  readRoute({ ...common, returns: { 200: payout }, handle: async () => done() });
});

test('handlers get a list and an upload where the route declares them, and nowhere else', () => {
  const returns = { 200: payout };
  const ofPage = (at: { page: string }) => toJson<Payout>({ id: at.page, amount: 1 });
  const ofFile = (given: { bytes: number }) => toJson<Payout>({ id: 'po_1', amount: given.bytes });
  readRoute({ ...common, returns, list, handle: async ({ list }) => ok(ofPage(list)) });
  // @ts-expect-error: the route is no list
  readRoute({ ...common, returns, handle: async ({ list }) => ok(ofPage(list)) });
  const write = { ...common, method: 'POST', returns } as const;
  writeRoute({ ...write, upload: 'text/csv', handle: async ({ upload }) => ok(ofFile(upload)) });
  // @ts-expect-error: the route takes no file
  writeRoute({ ...write, handle: async ({ upload }) => ok(ofFile(upload)) });
});
