import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { approve, signInUser } from '../api/approval-support.ts';
import { completePayout, makeAffiliate, makeCommission, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf, runHere } from './here.ts';

const world = useWorld();
const api = useAccount(world);
const { run, runText } = commandsOf(world, api);

test('payouts show says how many people must approve, who has, who can, and why others cannot', async () => {
  const [ann, bob] = [await signInUser(world, api), await signInUser(world, api)];
  for (const [{ id }, name] of [
    [ann, 'Ann Ames'],
    [bob, 'Bob Bell'],
  ] as const) {
    await api.patch(`/v2/users/${id}`, { name });
  }
  await api.patch('/v2/account', { approval: 'second_person' });
  const { id: affiliate } = await makeAffiliate(api);
  await makeCommission(api, affiliate);
  await makePayout(api);
  const changed = await ann.send('PATCH', `/v2/affiliates/${affiliate}`, {
    body: { paypal_email: 'elsewhere@example.com' },
  });
  expect(changed.status, changed.text).toBe(200);
  const before = await runText('payouts', 'show', 'current');
  expect(before).toContain('Two people must approve it: a key or a command that belongs to nobody');
  expect(before).toContain('Can approve: Bob Bell');
  expect(before).toMatch(/Cannot approve: Ann Ames: they changed the name, .+ \(Ann Ames, /);
  expect(before).toContain('Too few people can approve it: delete it and create it again');
  const payout = (await api.get(`${PAYOUTS}/current`)).body;
  await approve(bob, payout);
  const after = await runText('payouts', 'show', 'current');
  expect(after).toContain('Approved by Bob Bell: 1 of 2');
  expect(after).not.toContain('Can approve');
});

test('a key that may not add a person learns who may', async () => {
  await api.patch('/v2/account', { approval: 'second_person' });
  const refused = await run(...['users', 'invite', 'eve@example.com', '--name', 'Eve', '--role', 'owner']);
  expect(refused.code).toBe(1);
  expect(refused.error).toMatchObject({ reason: 'owner_required' });
  expect(refused.stderr).toContain('only an owner who is signed in, or the operator with the command line');
});

test('a return that a gateway did not answer is reported as unknown, and its external_id books it once', async () => {
  const { id: affiliate } = await makeAffiliate(api);
  await makeCommission(api, affiliate);
  const paid = await completePayout(api, await makePayout(api));
  // forwards everything, and answers a write in place of the server
  const gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { authorization = '', 'content-type': type, 'idempotency-key': key } = request.headers;
      const answer = await fetch(`${world.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: {
          authorization,
          ...(type ? { 'content-type': type } : {}),
          ...(key ? { 'idempotency-key': String(key) } : {}),
        },
        body: chunks.length > 0 ? Buffer.concat(chunks) : null,
      });
      if (request.method === 'GET') {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        return response.end(await answer.text());
      }
      return response.writeHead(500).end('<h1>Gateway Error</h1>');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => gateway.once('listening', listening));
  const { port } = gateway.address() as AddressInfo;
  const book = ['payouts', 'returned', String(paid.number), String(affiliate), '--reason', 'closed'];
  const part = ['--currency', 'usd', '--amount', '1.00', '--external-id', 'bank-1', '--yes'];
  const through = await runHere([...book, ...part], {
    env: { PAYHOOK_URL: `http://127.0.0.1:${port}`, PAYHOOK_API_KEY: api.key },
  });
  gateway.closeAllConnections();
  await new Promise((closed) => gateway.close(closed));
  expect(through.code).toBe(1);
  expect(through.error).toMatchObject({ code: 'outcome_unknown' });
  expect(through.stderr).toContain('it is not known whether the request was carried out');
  await runText(...book, ...part);
  const path = `${PAYOUTS}/${paid.id}/affiliates/${affiliate}/returned`;
  expect((await api.get(path)).body.data.map(({ amount }: { amount: number }) => amount)).toEqual([100]);
});
