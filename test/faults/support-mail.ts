import { afterAll, beforeAll, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { type MailReceiver, startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn } from '../support/world.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

/** A stored notice. */
interface Noted {
  readonly id: string;
  readonly tries: number;
  readonly sent: boolean;
}

/** A server that sends e-mail, for the tests of a file: each continues on the server that the previous one started. */
export interface Mailing {
  readonly mail: MailReceiver;
  readonly api: Api;
  query: DataFolder['query'];
  /** The newest notice. */
  noted(): Promise<Noted | undefined>;
  /**
   * Kills the server while the e-mail that `send` causes is in flight: before the receiver takes it (`true`), or before the server
   * records that (`when taken`). Starts the server again and waits until it has sent the e-mail.
   */
  killWhileSending(hangs: true | 'when taken', send: () => Promise<unknown>): Promise<void>;
}

export function useMailing(): Mailing {
  let mail: MailReceiver;
  let folder: DataFolder;
  let server: ServerProcess;
  beforeAll(async () => {
    mail = await startMailReceiver();
    folder = dataFolder({
      isShared: true,
      settings: {
        SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
        SMTP_FROM: 'pay@example.com',
        AUTHORIZE_URL: 'http://pay.example.com',
      },
    });
    server = await folder.start();
    await until('e-mail to be on', async () => {
      const rows = await folder.query(`select from server_settings where key = 'chore e-mail'`);
      return rows.length > 0;
    });
  });
  afterAll(async () => {
    await folder?.remove();
    await mail?.close();
  });
  const noted = async () => {
    const [newest] = await folder.query<Noted>(
      'select id::text, tries, sent_at is not null as sent from notices order by notices.id desc limit 1',
    );
    return newest;
  };
  return {
    mail: standIn(() => mail),
    api: standIn(() => server.api),
    query: (text) => folder.query(text),
    noted,
    async killWhileSending(hangs, send) {
      mail.taken.length = 0;
      mail.recipients.length = 0;
      mail.hang(hangs);
      await send();
      await until('the e-mail to be in flight', () =>
        hangs === true ? mail.recipients.length > 0 : mail.taken.length > 0,
      );
      await server.kill();
      mail.hang(false);
      server = await folder.start();
      expect(await noted()).toMatchObject({ tries: 1, sent: false });
      // the lease of the dead process expires
      await folder.query('update notices set leased_until = now() where sent_at is null');
      await until('it to be recorded as sent', async () => (await noted())?.sent);
    },
  };
}
