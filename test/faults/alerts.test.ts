import { expect, test } from 'vitest';
import { startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

interface Noted {
  readonly id: string;
  readonly tries: number;
  readonly sent: boolean;
}

test.each([
  ['before a message is taken: it is sent once', true, 1],
  ['after a message was taken, before that is recorded: it is sent again under the same id', 'when taken', 2],
] as const)('kill -9 %s', async (_, hangs, times) => {
  const mail = await startMailReceiver();
  const folder = dataFolder({
    settings: {
      SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
      SMTP_FROM: 'pay@example.com',
      AUTHORIZE_URL: 'http://pay.example.com',
    },
  });
  try {
    const first = await folder.start();
    await until('e-mail to be on', async () => {
      const rows = await folder.query(`select from server_settings where key = 'chore e-mail'`);
      return rows.length > 0;
    });
    mail.hang(hangs);
    const invited = await first.api.post('/v2/users', {
      email: 'ada@example.com',
      name: 'Ada',
      role: 'member',
    });
    expect(invited.body.is_emailed, invited.text).toBe(true);
    await until('the message to be in flight', () =>
      hangs === true ? mail.recipients.length > 0 : mail.taken.length > 0,
    );
    await first.kill();
    mail.hang(false);
    const noted = async () =>
      (await folder.query<Noted>('select id::text, tries, sent_at is not null as sent from notices'))[0];

    await folder.start();
    expect(await noted()).toMatchObject({ tries: 1, sent: false });
    // the lease of the dead process expires
    await folder.query('update notices set leased_until = now()');
    await until('it to be recorded as sent', async () => (await noted())?.sent);
    expect(mail.mailTo('ada@example.com', 'You are invited')).toHaveLength(times);
    const ids = new Set(mail.taken.map((each) => each.header('message-id')));
    expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
    expect((await noted())?.tries).toBe(2);
  } finally {
    await folder.remove();
    await mail.close();
  }
});
