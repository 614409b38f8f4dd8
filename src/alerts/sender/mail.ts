import type { Transporter } from 'nodemailer';
import { type MailServer, senderOf } from '../../kernel/mail-server.ts';
import type { Mail } from '../../notices/mail.ts';

/** The result of sending a message; null = accepted. */
export type Unsent = { readonly error: string; readonly isFinal: boolean } | null;

/** Sends e-mail through one SMTP server. */
export interface Mailer {
  /** Never rejects, and respects its time limit. `id` is the same when a message is sent again. */
  send(to: { readonly email: string; readonly name: string }, mail: Mail, id: string): Promise<Unsent>;
}

const STEP_MS = 10_000;
const LIMIT_MS = 40_000;

/** Creates a mailer; `from` is an address, or a name with one. `authorities` are PEM certificates to trust instead of Node's. */
export function createMailer(
  { host, port, isTls, needsTls, user, password }: MailServer,
  from: string,
  authorities?: string,
): Mailer {
  let transport: Transporter | undefined;
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer'); // loaded for the first message
    return createTransport({
      host,
      port,
      secure: isTls,
      requireTLS: needsTls,
      ignoreTLS: !isTls && !needsTls,
      ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
      ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
      dnsTimeout: STEP_MS,
      connectionTimeout: STEP_MS,
      greetingTimeout: STEP_MS,
      socketTimeout: STEP_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }
  return {
    async send({ email, name }, { subject, text, html, ...mail }, id) {
      transport ??= await open();
      const { settings, isOneClick, fromName, replyTo, files = [] } = mail;
      const sent = transport.sendMail({
        from: fromName === undefined ? from : { name: fromName, address: senderOf(from).address },
        ...(replyTo ? { replyTo: { name: '', address: replyTo } } : {}),
        // passed as parts, not as one string to parse: a name cannot add an address
        to: { address: email, name },
        subject,
        text,
        html,
        messageId: `<${id}@payhook>`,
        headers: {
          'auto-submitted': 'auto-generated',
          ...(settings === null ? {} : { 'list-unsubscribe': `<${settings}>` }),
          ...(isOneClick ? { 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' } : {}),
        },
        attachments: files.map(({ name: filename, type, content }) => ({
          filename,
          contentType: type,
          content,
        })),
      });
      try {
        await withinLimit(sent);
        return null;
      } catch (error) {
        return unsentOf(error as Error & { code?: string; responseCode?: number });
      }
    },
  };
}

/** A server that sends a byte now and then would never hit the timeout of a single step. */
async function withinLimit(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the SMTP server took too long')), LIMIT_MS);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A 5xx reply about the message or its recipient is final (RFC 5321 section 4.2.1). Problems of the server may be fixed
 * later.
 */
function unsentOf({ message, code, responseCode = 0 }: Error & { code?: string; responseCode?: number }) {
  const isFinal = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return { error: message.replaceAll(/\s+/g, ' ').slice(0, 300), isFinal };
}
