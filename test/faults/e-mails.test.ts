import { expect, test } from 'vitest';
import { completePayout, ENDPOINTS, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { isLong, longRun } from '../support/depth.ts';
import { useMailing } from './support-mail.ts';

const { mail, api, query, noted, killWhileSending } = useMailing();

const MOMENTS = [
  ['before an e-mail is taken: it is sent once', 'ada@example.com', true, 1],
  [
    'after an e-mail was taken, before that is recorded: it is sent again under the same id',
    'bob@example.com',
    'when taken',
    2,
  ],
] as const;
// one sender sends them all, and what holds after this moment holds before it too
const [, AFTER] = MOMENTS;

const ids = () => new Set(mail.taken.map((each) => each.header('message-id')));
const idOfNewest = async () => new Set([expect.stringContaining((await noted())?.id ?? '-')]);

longRun.test.each(MOMENTS)(
  'kill -9 of the server that sends a contact the link %s',
  async (_, email, hangs, times) => {
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
    expect(ids()).toEqual(await idOfNewest());
    const links = new Set(sent.map(({ text }) => /\/notices\/confirm\?token=\w+/.exec(text)?.[0]));
    expect(links.size).toBe(1);
    expect((await fetch(`${api.url}${[...links][0]}`, { method: 'POST' })).status).toBe(200);
    expect((await api.get(`${ENDPOINTS}/${endpoint}`)).body.contact_status).toBe('confirmed');
  },
);

test.each(isLong ? MOMENTS : [AFTER])(
  'kill -9 of the server that sends a notice to an affiliate %s',
  async (_, email, hangs, times) => {
    await killWhileSending(hangs, async () => {
      await api.patch('/v2/account', { affiliate_notices: { kinds: ['paid'] } });
      const { id } = await makeAffiliate(api, { email });
      await makeCommission(api, id, { amount: 1000 });
      await completePayout(api, await makePayout(api));
      await query('update notices set due_at = now() where sent_at is null');
    });
    expect(mail.mailTo(email, 'You were paid')).toHaveLength(times);
    expect(ids()).toEqual(await idOfNewest());
  },
);

// last, because whom it invites may get other alerts
longRun.test.each(MOMENTS)('kill -9 of the server that sends an alert %s', async (_, email, hangs, times) => {
  await killWhileSending(hangs, async () => {
    const invited = await api.post('/v2/users', { email, name: 'Ada', role: 'member' });
    expect(invited.body.is_emailed, invited.text).toBe(true);
  });
  expect(mail.mailTo(email, 'You are invited')).toHaveLength(times);
  expect(ids()).toEqual(await idOfNewest());
  expect((await noted())?.tries).toBe(2);
});
