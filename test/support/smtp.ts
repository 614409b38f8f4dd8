import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from './wire.ts';

/** A received e-mail. */
export interface TakenMail {
  readonly to: readonly string[];
  /** Headers and parts, with quoted-printable decoded. */
  readonly text: string;
  readonly subject: string;
  header(name: string): string | null;
}

/** A refusal of SMTP. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** A real SMTP server on 127.0.0.1. */
export interface MailReceiver {
  readonly port: number;
  readonly taken: TakenMail[];
  /** Recipients of every RCPT command, including refused ones. */
  readonly recipients: string[];
  /** Refuses every recipient from now on; null accepts them again. */
  refuse(how: Refusal | null): void;
  /** Stops answering messages until it is called with false; it either accepts them nevertheless, or does not. */
  hang(how: boolean | 'when taken'): void;
  /** The e-mails to an address with this text in their subject. */
  mailTo(address: string, subject: string): TakenMail[];
  /** Waits until there are this many of them; returns the last. */
  untilMail(address: string, subject: string, count?: number): Promise<TakenMail>;
  close(): Promise<void>;
}

/** Starts a server without TLS, unless the options say otherwise. */
export async function startMailReceiver(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const taken: TakenMail[] = [];
  const recipients: string[] = [];
  let refusal: Refusal | null = null;
  let hangs: boolean | 'when taken' = false;
  const mailTo = (address: string, subject: string) =>
    taken.filter((mail) => mail.to.includes(address) && mail.subject.includes(subject));
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    ...options,
    onRcptTo({ address }, _session, done) {
      recipients.push(address);
      if (refusal === null) done();
      else done(Object.assign(new Error(refusal.message), { responseCode: refusal.code }));
    },
    async onData(stream, { envelope }, done) {
      // null = the client disconnected in the middle of the message
      const message = await buffer(stream).catch(() => null);
      if (message === null) return;
      if (hangs === true) return;
      taken.push(mailOf(message.toString(), envelope.rcptTo));
      if (!hangs) done();
    },
  });
  // some tests make the client give up
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    taken,
    recipients,
    refuse: (how) => {
      refusal = how;
    },
    hang: (how) => {
      hangs = how;
    },
    mailTo,
    untilMail: (address, subject, count = 1) =>
      until(`${count} e-mails to ${address} about ${subject}`, () => mailTo(address, subject)[count - 1]),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function mailOf(text: string, to: readonly { readonly address: string }[]): TakenMail {
  const [head = ''] = text.split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const header = (name: string) =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
  return {
    to: to.map(({ address }) => address),
    subject: words(header('subject') ?? ''),
    text: decoded(text),
    header,
  };
}

/** A header without its encoded words (RFC 2047). */
const words = (text: string) =>
  text
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : decoded(word.replaceAll('_', ' ')),
    );

/** Without the line breaks and escapes of quoted-printable (RFC 2045 section 6.7). */
function decoded(text: string): string {
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
