import { escapeHtml, escapeValue } from '../kernel/html.ts';
import { visible } from '../kernel/visible.ts';

/** A file attached to an e-mail. */
export interface MailFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** An e-mail, without its sender. */
export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Where the reader chooses what they get; null = this message cannot be turned off. */
  readonly settings: string | null;
  /** A POST to `settings` is enough to get no more (RFC 8058). */
  readonly isOneClick?: boolean;
  /** The name of the sender, instead of that of SMTP_FROM. */
  readonly fromName?: string;
  /** Where answers go, if not to the sender. */
  readonly replyTo?: string | null;
  readonly files?: readonly MailFile[];
}

export interface Paragraph {
  readonly text: string;
  readonly url?: string;
}

/** Text on one line without invisible characters, safe for a header. */
export const oneLine = (text: string) => visible(text.replaceAll(/\s+/g, ' ')).trim();

/**
 * Keeps mail programs from turning a text of a user into a link, by inserting word joiners (U+2060) into anything that looks
 * like an address. Names from before the rule against web addresses may contain one.
 */
export const unlinked = (name: string) => oneLine(name).replaceAll(/[.:/@](?=\S)/g, '$&\u2060');

/** The two forms of an e-mail's body. */
export function bodyOf(paragraphs: readonly Paragraph[], language: string): Pick<Mail, 'text' | 'html'> {
  const html = paragraphs.map(({ text, url }) => {
    const anchor = url === undefined ? '' : `<br><a href="${escapeValue(url)}">${escapeHtml(url)}</a>`;
    return `<p>${escapeHtml(text)}${anchor}</p>`;
  });
  return {
    text: `${paragraphs.map(({ text, url }) => (url === undefined ? text : `${text}\n${url}`)).join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><body>${html.join('\n')}</body></html>`,
  };
}

/** What a text has in braces, by name; null = not known. */
export type Values = Readonly<Record<string, string | null>>;

/** A text with its values; null if one of them is not known. Values are not searched for braces. */
export function filled(text: string, values: Values): string | null {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.some((name) => values[name] == null)) return null;
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
