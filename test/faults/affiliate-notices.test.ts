import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

test.each([
  ['before the e-mail is taken: it is sent once', true, 1],
  ['after it was taken, before that is recorded: it is sent again under the same id', 'when taken', 2],
] as const)('kill -9 of the server that sends a notice to an affiliate %s', async (_, hangs, times) => {
  const mail = await startMailReceiver();
  const folder = dataFolder({
    settings: {
      SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
      SMTP_FROM: 'pay@example.com',
      AUTHORIZE_URL: 'http://pay.example.com',
    },
  });
  const noted = async () =>
    (
      await folder.query<{ id: string; tries: number; sent: boolean }>(
        'select id::text, tries, sent_at is not null as sent from notices where affiliate_id is not null',
      )
    )[0];
  try {
    const first = await folder.start();
    await until('e-mail to be on', async () => {
      const rows = await folder.query(`select from server_settings where key = 'chore e-mail'`);
      return rows.length > 0;
    });
    await first.api.patch('/v2/account', { affiliate_notices: { kinds: ['paid'] } });
    const { id } = await makeAffiliate(first.api, { email: 'ada@example.com' });
    await makeCommission(first.api, id, { amount: 1000 });
    await completePayout(first.api, await makePayout(first.api));
    mail.hang(hangs);
    await folder.query('update notices set due_at = now()');
    await until('the e-mail to be in flight', () =>
      hangs === true ? mail.recipients.length > 0 : mail.taken.length > 0,
    );
    await first.kill();
    mail.hang(false);
    await folder.start();
    expect(await noted()).toMatchObject({ tries: 1, sent: false });
    // the lease of the dead process expires
    await folder.query('update notices set leased_until = now()');
    await until('it to be recorded as sent', async () => (await noted())?.sent);
    expect(mail.mailTo('ada@example.com', 'You were paid')).toHaveLength(times);
    const ids = new Set(mail.taken.map((each) => each.header('message-id')));
    expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
  } finally {
    await folder.remove();
    await mail.close();
  }
});
