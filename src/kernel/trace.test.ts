import { expect, test } from 'vitest';
import { traceOf } from './trace.ts';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const stateOf = (tracestate: string | string[] | undefined) =>
  traceOf({ traceparent: PARENT, tracestate })?.state;

test.each([
  'rojo=00f067aa0ba902b7',
  'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
  'fw529a3039@dt=FfAAAAEAAAABAAAA, , a=b ,\tc=!~',
  `a=${'x'.repeat(256)}`,
  Array.from({ length: 32 }, (_, index) => `k${index}=v`).join(','),
])('the tracestate %s is passed on as it came', (state) => {
  expect(stateOf(state)).toBe(state);
});

test.each([
  undefined,
  '',
  'no value',
  'a=',
  'A=b',
  'a=b=c',
  'a=ü',
  'a=b\nc=d',
  ' ='.repeat(3),
  `a=${'x'.repeat(257)}`,
  `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=${'x'.repeat(200)}`,
  Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(','),
])('the tracestate %s does not count, and the trace goes on', (state) => {
  expect(traceOf({ traceparent: PARENT, tracestate: state })).toEqual({ parent: PARENT, state: null });
});

test('without a well-formed traceparent a tracestate says nothing', () => {
  for (const traceparent of [undefined, '', `${PARENT}-more`, PARENT.replace('00-', 'ff-')])
    expect(traceOf({ traceparent, tracestate: 'a=b' })).toBeNull();
});
