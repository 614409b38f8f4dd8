import { describe, expect, test } from 'vitest';
import { eventsOf, type Json, nothingChanges } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { runJson, run, runText, refuse } = commandsOf(world, api, machine);

const EXACT = '{"n": 12345678901234567890.10}';
const FILE = `\uFEFF{"type":"order.created","data":${EXACT},"external_id":"a"}\r\n
{"ordering_key":"order:7","data":{},"type":"order.paid"}`;

describe('events publish-batch', () => {
  test('publishes the lines of a file in order, with long numbers unchanged, and prints their ids', async () => {
    machine.write('events.jsonl', FILE);
    const [first = '', second = '', ...rest] = (
      await runText('events', 'publish-batch', 'events.jsonl')
    ).split('\n');
    expect([first, second, rest]).toEqual([
      expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      [''],
    ]);
    expect((await api.get(`/v2/events/${first}`)).text).toContain(`"data":${EXACT}`);
    expect((await api.get(`/v2/events/${second}`)).body).toMatchObject({
      type: 'order.paid',
      ordering_key: 'order:7',
    });
    const again = await runJson('events', 'publish-batch', 'events.jsonl');
    expect(again.object).toBe('event_batch');
    expect(again.items.map((item: Json) => item.status)).toEqual([200, 201]);
    expect(again.items[0].event.id).toBe(first);
    expect(await eventsOf(world, api)).toHaveLength(3);
  });

  test('names the line that the server refuses, and publishes nothing', async () => {
    const lines = [
      '{"type":"order.created","data":{}}',
      '',
      '{"type":"order","data":{}}',
      '{"type":"payout.x","data":{}}',
    ];
    machine.write('bad.jsonl', lines.join('\n'));
    const message = '2 of 3 items are bad, nothing was written: line 3: type must be a dotted name';
    await refuse(1, message, 'events', 'publish-batch', 'bad.jsonl');
    await refuse(1, 'line 4: type: events under payout.', 'events', 'publish-batch', 'bad.jsonl');
    await nothingChanges(world, async () => {
      const ran = await run('events', 'publish-batch', 'bad.jsonl', '--json');
      expect(ran.error).toMatchObject({ code: 'bad_request', reason: 'invalid_items' });
    });
  });

  test.each([
    ['lacks a field', '{"type":"order.created"}', 'line 2: data is required'],
    ['lacks two', '{"external_id":"1"}', 'line 2: type, data are required'],
    ['has an unknown field', '{"type":"a.b","data":{},"colour":1}', 'line 2: unknown field colour'],
    ['has two', '{"type":"a.b","data":{},"colour":1,"size":2}', 'line 2: unknown field colour, size'],
  ])('names the line and its fields when the line %s', async (_, line, message) => {
    machine.write('bad.jsonl', `\n${line}`);
    await nothingChanges(world, async () => {
      const { stderr } = await run('events', 'publish-batch', 'bad.jsonl');
      expect(stderr).toContain(`: ${message}\n`);
    });
  });

  test.each([
    ['no events', ' \n\n', 'file.jsonl has no events'],
    ['a line that is not JSON', '{"type":"a.b","data":{}}\n{"type":', 'line 2 of file.jsonl is not JSON'],
    [
      'a line with two events',
      '{"type":"a.b","data":{}},{"type":"a.b","data":{}}',
      'line 1 of file.jsonl is not JSON',
    ],
    ['a line that is not an object', '[]', 'line 1 of file.jsonl must be a JSON object'],
    ['a repeated key', '{"type":"a.b","data":{},"data":{"a":1}}', 'line 1 of file.jsonl: data:'],
    [
      '1,001 events',
      '{"type":"a.b","data":{}}\n'.repeat(1001),
      'file.jsonl has 1001 events, and a batch at most 1000',
    ],
  ])('refuses a file with %s', async (_, text, message) => {
    machine.write('file.jsonl', text);
    await refuse(2, message, 'events', 'publish-batch', 'file.jsonl');
  });

  test('reports a missing file', () =>
    refuse(1, 'none.jsonl: there is no such file', 'events', 'publish-batch', 'none.jsonl'));
});
