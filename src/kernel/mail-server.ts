import { isEmail } from './email.ts';
import { nameProblem } from './names.ts';

/** An SMTP server (RFC 5321), as SMTP_URL names it. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly isTls: boolean;
  /** STARTTLS, or nothing is sent. */
  readonly needsTls: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

const PORTS = { 'smtp:': 587, 'smtps:': 465 };

/** The server of a URL; undefined when it is none. */
export function mailServerOf(text: string): MailServer | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return undefined;
  const isPlain = search === '?tls=off' && protocol === 'smtp:';
  if (hostname === '' || (search !== '' && !isPlain) || hash !== '' || !/^\/?$/.test(pathname))
    return undefined;
  const [user, secret] = [decoded(username), decoded(password)];
  if (user === undefined || secret === undefined) return undefined;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[protocol] : Number(port),
    isTls: protocol === 'smtps:',
    needsTls: protocol === 'smtp:' && !isPlain,
    user: user === '' ? null : user,
    password: secret === '' ? null : secret,
  };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Whether a text can be the sender of e-mail: an address, or a name with one in angle brackets. */
export function isSender(text: string): boolean {
  const [, name, address = ''] = /^([^<>"\\,;]*)<([^<>]*)>$/.exec(text) ?? [];
  return name === undefined ? isEmail(text) : isEmail(address) && nameProblem(name) === null;
}

/** The name and the address of a sender; an empty name if it has none. */
export function senderOf(text: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = text] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  return { name: name.trim(), address };
}
