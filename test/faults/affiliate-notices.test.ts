import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { useMailing } from './support-mail.ts';

const { mail, api, query, noted, killWhileSending } = useMailing();

test.each([
  ['before the e-mail is taken: it is sent once', 'ada@example.com', true, 1],
  [
    'after it was taken, before that is recorded: it is sent again under the same id',
    'bob@example.com',
    'when taken',
    2,
  ],
] as const)(
  'kill -9 of the server that sends a notice to an affiliate %s',
  async (_, email, hangs, times) => {
    await killWhileSending(hangs, async () => {
      await api.patch('/v2/account', { affiliate_notices: { kinds: ['paid'] } });
      const { id } = await makeAffiliate(api, { email });
      await makeCommission(api, id, { amount: 1000 });
      await completePayout(api, await makePayout(api));
      await query('update notices set due_at = now()');
    });
    expect(mail.mailTo(email, 'You were paid')).toHaveLength(times);
    const ids = new Set(mail.taken.map((each) => each.header('message-id')));
    expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
  },
);
