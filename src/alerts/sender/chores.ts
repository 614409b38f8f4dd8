import type { Logger } from 'pino';
import type { Chore } from '../../db/chores.ts';
import { readNow } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { LOCKS, tryLock } from '../../db/locks.ts';
import type { Config } from '../../kernel/config.ts';
import type { Vault } from '../../kernel/vault.ts';
import { unlinked } from '../../notices/mail.ts';
import { dropEndedLetters, MAIL_CHORE, placeOfLink } from '../../notices/notices.ts';
import { type PapersOf, sendToAffiliates } from './affiliates.ts';
import { claimMessages, type Message, noteSent, noteUnsent } from './claim.ts';
import { composeMail } from './compose.ts';
import { sendToContacts } from './contacts.ts';
import { deleteOldNotices, notifyOfCertificates, notifyOfEndpoints, notifyOfPayouts } from './detect.ts';
import { createMailer, type Mailer, type Unsent } from './mail.ts';
import { createPoster, postMessage } from './post.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

interface Options {
  readonly db: Database;
  readonly log: Logger;
  readonly config: Config;
  readonly vault: Vault;
  /** The public address of the dashboard. */
  readonly base: string;
  /** Makes what is attached to notices; null = this process sends none to affiliates. */
  readonly papers: PapersOf | null;
}

/** The chores of alerts. E-mail, channels and notices to affiliates are sent independently. */
export function alertChores(options: Options): Chore[] {
  const { server, from } = options.config.mail;
  const mailer = server && from && createMailer(server, from);
  const { papers } = options;
  return [
    { name: 'endpoint alerts', everyMs: 30 * SECOND_MS, slice: notifyOfEndpoints },
    { name: 'certificate alerts', everyMs: 10 * MINUTE_MS, slice: notifyOfCertificates },
    { name: 'payout alerts', everyMs: 10 * MINUTE_MS, slice: notifyOfPayouts },
    { name: 'alert channels', everyMs: 5 * SECOND_MS, run: () => sendToChannels(options) },
    { name: 'old alerts', everyMs: 60 * MINUTE_MS, forget: deleteOldNotices },
    ...(mailer
      ? ([
          { name: MAIL_CHORE, everyMs: 2 * SECOND_MS, run: () => sendByMail(options, mailer) },
          { name: 'contact notices', everyMs: 5 * SECOND_MS, run: () => sendToContacts(options, mailer) },
        ] as const)
      : []),
    ...(mailer && papers
      ? [
          {
            name: 'affiliate notices',
            everyMs: 5 * SECOND_MS,
            run: () => sendToAffiliates({ ...options, papers }, mailer),
          } as const,
        ]
      : []),
  ];
}

/**
 * Claims messages that are due, sends them outside any transaction and records the results, until none is due. If the
 * process is killed between sending and recording, the message is sent again after its lease.
 */
async function sendAll(
  { db, log }: Options,
  way: 'mail' | 'channels',
  send: (message: Message) => Promise<Unsent>,
): Promise<void> {
  for (;;) {
    const messages = await db.transaction(async (tx) => {
      if (!(await tryLock(tx, LOCKS.chore(`claim ${way}`)))) return [];
      if (way === 'mail') await dropEndedLetters(tx);
      return claimMessages(tx, way);
    });
    if (messages.length === 0) return;
    await Promise.all(
      messages.map(async (message) => {
        const unsent = await send(message).catch((error: Error) => ({
          error: error.message,
          isFinal: false,
        }));
        await db.transaction<unknown>((tx) =>
          unsent === null ? noteSent(tx, message.lease) : noteUnsent(tx, message.lease, unsent),
        );
        if (unsent !== null) log.warn({ way, reason: unsent.error }, 'an alert could not be sent');
      }),
    );
  }
}

/** Sends due e-mail. */
export function sendByMail(options: Options, mailer: Mailer): Promise<void> {
  const { vault, base } = options;
  return sendAll(options, 'mail', async (message) => {
    const { account, recipient, link, id } = message;
    if (!('user' in recipient) || recipient.email === null)
      return { error: 'the user was removed', isFinal: true };
    const { name, email, user } = recipient;
    const opened = link && vault.open(link, placeOfLink(account, user));
    return mailer.send(
      { name: unlinked(name), email },
      composeMail(message, { name, base, link: opened }),
      id,
    );
  });
}

async function sendToChannels(options: Options): Promise<void> {
  const { db, config, vault, base } = options;
  const poster = createPoster(config.delivery);
  try {
    await sendAll(options, 'channels', async (message) => {
      const { recipient } = message;
      if (!('channel' in recipient)) return { error: 'the channel was deleted', isFinal: true };
      const nowMs = await readNow(db.reader);
      return postMessage(poster, { message, channel: recipient }, { vault, base, nowMs });
    });
  } finally {
    await poster.close();
  }
}
