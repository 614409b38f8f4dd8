import { expect, onTestFinished, test } from 'vitest';
import { type Answer, json, stub } from '../client/support.ts';
import { runOn } from './here.ts';
import { startMachine } from './support.ts';

test('an interrupted export leaves no file', async () => {
  const payout = { id: 'po_1', number: 1, revision: 1, affiliates: [], totals: [] };
  const cut: Answer = (_, response) => {
    const name = 'payout-1-r1-2026-09-15.csv';
    response.writeHead(200, { 'content-disposition': `attachment; filename="${name}"`, etag: '"1"' });
    response.write('payout_id,payout_status\r\n', () => response.destroy());
  };
  const { url } = await stub(json(200, payout), cut);
  const machine = startMachine();
  onTestFinished(() => machine.close());
  const env = { PAYHOOK_URL: url, PAYHOOK_API_KEY: 'x' };
  const ran = await runOn(machine)(['payouts', 'export', 'po_1'], { env });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(/^payhook: the download was cut off: .+\n$/);
  expect(machine.files()).toEqual([]);
});

test('an ill-formed id is a usage error, and no request is sent', async () => {
  const { url, seen } = await stub(json(200, {}));
  const machine = startMachine();
  onTestFinished(() => machine.close());
  const env = { PAYHOOK_URL: url, PAYHOOK_API_KEY: 'x' };
  for (const id of ['', '..']) {
    const ran = await runOn(machine)(['payouts', 'delete', id, '--yes'], { env });
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^payhook: payout_id must be an id, not .+\n$/),
    });
  }
  expect(seen).toEqual([]);
});

test('a command identifies itself', async () => {
  const { url, seen } = await stub(json(200, { data: [], pagination: { pages: 0 } }));
  const machine = startMachine();
  onTestFinished(() => machine.close());
  await runOn(machine)(['keys', 'list'], { env: { PAYHOOK_URL: url, PAYHOOK_API_KEY: 'x' } });
  expect(seen[0]).toMatchObject({
    url: '/v2/api-keys',
    headers: { 'user-agent': 'payhook-cli' },
  });
});
