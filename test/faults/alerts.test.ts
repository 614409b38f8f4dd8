import { expect, test } from 'vitest';
import { useMailing } from './support-mail.ts';

const { mail, api, noted, killWhileSending } = useMailing();

test.each([
  ['before a message is taken: it is sent once', 'ada@example.com', true, 1],
  [
    'after a message was taken, before that is recorded: it is sent again under the same id',
    'bob@example.com',
    'when taken',
    2,
  ],
] as const)('kill -9 %s', async (_, email, hangs, times) => {
  await killWhileSending(hangs, async () => {
    const invited = await api.post('/v2/users', { email, name: 'Ada', role: 'member' });
    expect(invited.body.is_emailed, invited.text).toBe(true);
  });
  expect(mail.mailTo(email, 'You are invited')).toHaveLength(times);
  const ids = new Set(mail.taken.map((each) => each.header('message-id')));
  expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
  expect((await noted())?.tries).toBe(2);
});
