import { expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

test.each([
  ['before the e-mail is taken: it is sent once', true, 1],
  ['after it was taken, before that is recorded: it is sent again with the same link', 'when taken', 2],
] as const)('kill -9 of the server that sends a contact the link %s', async (_, hangs, times) => {
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
        'select id::text, tries, sent_at is not null as sent from notices where endpoint_id is not null',
      )
    )[0];
  try {
    const first = await folder.start();
    await until('e-mail to be on', async () => {
      const rows = await folder.query(`select from server_settings where key = 'chore e-mail'`);
      return rows.length > 0;
    });
    mail.hang(hangs);
    await first.api.patch('/v2/account', { contact_notices: {} });
    const made = await first.api.post(ENDPOINTS, {
      url: 'https://receiver.example.com/in',
      contact_email: 'ops@example.com',
    });
    expect(made.body.contact_status, made.text).toBe('waiting');
    await until('the e-mail to be in flight', () =>
      hangs === true ? mail.recipients.length > 0 : mail.taken.length > 0,
    );
    await first.kill();
    mail.hang(false);
    const second = await folder.start();
    expect(await noted()).toMatchObject({ tries: 1, sent: false });
    // the lease of the dead process expires
    await folder.query('update notices set leased_until = now()');
    await until('it to be recorded as sent', async () => (await noted())?.sent);
    const sent = mail.mailTo('ops@example.com', 'Confirm this address');
    expect(sent).toHaveLength(times);
    const ids = new Set(sent.map((each) => each.header('message-id')));
    expect(ids).toEqual(new Set([expect.stringContaining((await noted())?.id ?? '-')]));
    const links = new Set(sent.map(({ text }) => /\/notices\/confirm\?token=\w+/.exec(text)?.[0]));
    expect(links.size).toBe(1);
    const confirmed = await fetch(`${second.api.url}${[...links][0]}`, { method: 'POST' });
    expect(confirmed.status).toBe(200);
    expect((await second.api.get(`${ENDPOINTS}/${made.body.id}`)).body.contact_status).toBe('confirmed');
  } finally {
    await folder.remove();
    await mail.close();
  }
});
