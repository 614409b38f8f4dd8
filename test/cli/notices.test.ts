import { expect, test } from 'vitest';
import { makeAffiliate } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const { run, runJson, runText } = commandsOf(world, api, useMachine());

test('e-mails to affiliates are switched on, previewed, listed and switched off', async () => {
  const change = (value: string) => run('account', 'change', '--affiliate-notices', value);
  expect(await runText('account', 'show')).toMatch(/E-mails to affiliates +none/);
  const on = await change('{"kinds": ["returned", "paid"], "language": "fr"}');
  expect(on, on.stderr).toMatchObject({ code: 0 });
  expect(on.stdout).toMatch(/E-mails to affiliates +paid, returned/);
  const french = await runText('affiliates', 'notices', 'preview', 'paid');
  expect(french).toContain('no: the server sends no e-mail');
  expect(french).toContain('Bonjour Ada,');
  expect(await runJson('affiliates', 'notices', 'preview', 'returned', '--language', 'de')).toMatchObject({
    ...{ object: 'affiliate_notice_preview', kind: 'returned', language: 'de', is_on: true },
  });
  const { id, email } = await makeAffiliate(api);
  await world.query(
    `insert into notices (account_id, kind, data, is_alone, affiliate_id, due_at, tries, failed_at, error)
     select account_id, 'paid', '{}', true, id, now_ms(), 1, now_ms(), '550 no such mailbox' from affiliates where id = $1::int8`,
    [id],
  );
  const failed = await runText('affiliates', 'notices', 'list', '--status', 'failed', '--affiliate', email);
  expect(failed).toMatch(new RegExp(`paid +${id} +no +failed +550 no such mailbox`));
  await world.query(
    `insert into notices (account_id, kind, data, is_alone, affiliate_id, due_at)
     select account_id, 'destination_changed', '{"to": "old@example.com"}', true, id, now_ms() + interval '1 hour'
     from affiliates where id = $1::int8`,
    [id],
  );
  expect(await runText('affiliates', 'notices', 'list', '--kind', 'destination_changed')).toMatch(
    new RegExp(`destination_changed +${id} +yes +waiting`),
  );
  expect(await runText('affiliates', 'notices', 'list', '--kind', 'returned')).not.toContain('550');
  expect(await change('none')).toMatchObject({ code: 0 });
  expect((await api.get('/v2/account')).body.affiliate_notices).toBeNull();
  expect(await change('{"kinds": ["other"]}')).toMatchObject({ code: 1 });
});
