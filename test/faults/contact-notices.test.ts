import { expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { useMailing } from './support-mail.ts';

const { mail, api, noted, killWhileSending } = useMailing();

test.each([
  ['before the e-mail is taken: it is sent once', 'ada@example.com', true, 1],
  [
    'after it was taken, before that is recorded: it is sent again with the same link',
    'bob@example.com',
    'when taken',
    2,
  ],
] as const)('kill -9 of the server that sends a contact the link %s', async (_, email, hangs, times) => {
  let endpoint = '';
  await killWhileSending(hangs, async () => {
    await api.patch('/v2/account', { contact_notices: {} });
    const url = 'https://receiver.example.com/in';
    const made = await api.post(ENDPOINTS, { url, contact_email: email });
    expect(made.body.contact_status, made.text).toBe('waiting');
    endpoint = made.body.id;
  });
  const sent = mail.mailTo(email, 'Confirm this address');
  expect(sent).toHaveLength(times);
  const ids = new Set(sent.map((each) => each.header('message-id')));
  expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
  const links = new Set(sent.map(({ text }) => /\/notices\/confirm\?token=\w+/.exec(text)?.[0]));
  expect(links.size).toBe(1);
  expect((await fetch(`${api.url}${[...links][0]}`, { method: 'POST' })).status).toBe(200);
  expect((await api.get(`${ENDPOINTS}/${endpoint}`)).body.contact_status).toBe('confirmed');
});
