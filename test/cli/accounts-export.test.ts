import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AFFILIATES, COMMISSIONS, type Json } from '../api/fixtures.ts';
import { settingsOf } from '../support/database-url.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { fill } from './backup-support.ts';
import { runOn } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();

const linesOf = (folder: string, name: string): Json[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test("an export has every record of one account as the API shows it, no secret, and no other account's records", async () => {
  await fill(world, api);
  const other = await world.otherAccount('Neighbour');
  await fill(world, other);
  const made = await api.post('/v2/webhook-endpoints', {
    url: 'https://example.com/hook',
    headers: { 'x-key': 'sealed-header-value' },
  });
  const body = '{"type":"order.created","data":{\r\n "amount": 12345678901234567890 }}';
  await api.request('POST', '/v2/events', { body, headers: { 'content-type': 'application/json' } });
  await makeEndpoint(api);
  const { id } = (await api.get('/v2/account')).body;
  const folder = join(machine.folder, 'everything');
  const ran = await runOn(machine)(['accounts', 'export', id, folder, '--json'], {
    env: await settingsOf(world),
  });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const manifest = ran.json();
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(manifest);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder).sort()).toEqual(
    ['manifest.json', ...manifest.files.map(({ name }: Json) => name)].sort(),
  );
  for (const { name, records, sha256 } of manifest.files) {
    const bytes = readFileSync(join(folder, name));
    expect([linesOf(folder, name).length, createHash('sha256').update(bytes).digest('hex')], name).toEqual([
      records,
      sha256,
    ]);
  }
  for (const [name, path] of [
    ['commissions.jsonl', COMMISSIONS],
    ['payouts.jsonl', `${AFFILIATES}/payouts`],
    ['webhook-endpoints.jsonl', '/v2/webhook-endpoints'],
    ['invoices.jsonl', `${AFFILIATES}/invoices`],
    ['programs.jsonl', `${AFFILIATES}/programs`],
    ['audit-log.jsonl', '/v2/audit-log'],
  ] as const)
    expect(linesOf(folder, name), name).toEqual((await api.get(`${path}?sort=id&per_page=100`)).body.data);
  const all = manifest.files.map(({ name }: Json) => readFileSync(join(folder, name), 'utf8')).join('');
  expect(all).toContain('12345678901234567890');
  const otherId = (await other.get('/v2/account')).body.id;
  for (const absent of [otherId, made.body.secret, 'whsec_', 'sealed-header-value', '"hash"'])
    expect(all).not.toContain(absent);
  expect(linesOf(folder, 'deliveries.jsonl').some(({ attempts }) => attempts.length > 0)).toBe(true);

  const again = await runOn(machine)(['accounts', 'export', id, folder], { env: await settingsOf(world) });
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('exists: name a folder that does not'),
  });
});
