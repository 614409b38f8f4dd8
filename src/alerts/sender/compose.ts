import { type AlertKind, type LetterKind, textsOf } from '../../notices/kinds.ts';
import { bodyOf, type Mail, oneLine, type Paragraph, unlinked } from '../../notices/mail.ts';
import type { Message, NoticeGroup } from './claim.ts';

/** A line of a message, with the screen it refers to. */
interface Line {
  readonly kind: AlertKind;
  readonly subject: string | null;
  readonly count: number;
  readonly text: string;
  readonly url: string;
}

/** The content of a message, independent of its format. */
export interface Composed {
  /** What happened, without the account's name, so that no user controls the subject of an e-mail. */
  readonly heading: string;
  /** The same with the account's name. */
  readonly title: string;
  readonly lines: readonly Line[];
  /** The number of omitted lines. */
  readonly more: number;
}

const MOST_LINES = 30;

const isAlert = (group: NoticeGroup): group is NoticeGroup & { kind: AlertKind } => !isLetter(group.kind);
const isLetter = (kind: NoticeGroup['kind']): kind is LetterKind =>
  kind === 'test' || kind === 'invitation' || kind === 'password_link';

/** The title and lines of an alert message. `base` is the public address of the dashboard. */
export function composeAlerts({ accountName, groups }: Message, base: string): Composed {
  const alerts = groups.filter(isAlert);
  const labels = [...new Set(alerts.map(({ kind }) => textsOf(kind).label))];
  const what = alerts.length === 0 ? 'Test alert' : alerts.length === 1 ? labels[0] : labels.join(', ');
  const count = alerts.length > 1 ? `${alerts.length} alerts: ` : '';
  const heading = `${count}${what}`;
  return {
    heading,
    title: oneLine(`${accountName}: ${heading}`),
    lines: alerts.slice(0, MOST_LINES).map(({ kind, subject, count: times, data }) => ({
      kind,
      subject,
      count: times,
      text: oneLine(textsOf(kind).line({ count: times, data })),
      url: base + textsOf(kind).path(subject),
    })),
    more: Math.max(0, alerts.length - MOST_LINES),
  };
}

/** An e-mail to a user: alerts, a test, or a message with this link. */
export function composeMail(
  message: Message,
  { name, base, link }: { name: string; base: string; link: string | null },
): Mail {
  const settings = `${base}/settings/alerts`;
  const account = unlinked(message.accountName);
  const kind = message.groups[0]?.kind;
  if (kind === 'invitation' || kind === 'password_link') {
    return mail(name, null, {
      subject:
        kind === 'invitation'
          ? 'You are invited to an account on Payhook'
          : 'Choose a new password for Payhook',
      paragraphs: [
        {
          text:
            kind === 'invitation'
              ? `you are invited to join ${account} on Payhook. This link works once, for 7 days:`
              : `somebody requested a link to choose a new password for ${account} on Payhook. It works once, for a day. If you did not expect it, ignore it: your password stays.`,
          url: link ?? '',
        },
      ],
    });
  }
  if (kind === 'test') {
    const text = `this is the test you requested: alerts of ${account} reach you here.`;
    return mail(name, settings, { subject: 'Payhook: Test alert', paragraphs: [{ text }] });
  }
  const { heading, lines, more } = composeAlerts(message, base);
  const rest = more === 0 ? [] : [{ text: `And ${more} more, shown in the dashboard.`, url: base }];
  return mail(name, settings, {
    subject: `Payhook: ${heading}`,
    paragraphs: [{ text: `this happened in ${account}:` }, ...lines, ...rest],
  });
}

function mail(
  name: string,
  settings: string | null,
  { subject, paragraphs }: { subject: string; paragraphs: readonly Paragraph[] },
): Mail {
  const greeting = `Hello ${unlinked(name)},`;
  const all: readonly Paragraph[] = [
    { text: greeting },
    ...paragraphs,
    ...(settings === null ? [] : [{ text: 'Choose your alerts:', url: settings }]),
  ];
  return { subject, ...bodyOf(all, 'en'), settings };
}

/** The body of a Slack message: the escapes are those of "Formatting text for app surfaces". */
export function composeSlack(message: Message, base: string): string {
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const { title, lines, more } = composeAlerts(message, base);
  const rest = more === 0 ? [] : [`• And ${more} more: ${base}`];
  const items = lines.map(({ text, url }) => `• ${escaped(text)} <${url}|Open>`);
  return JSON.stringify({ text: [`*${escaped(title)}*`, ...items, ...rest].join('\n') });
}

/** The body for a webhook of alerts. */
export function composeWebhook(
  message: Message,
  { base, account }: { base: string; account: string },
): string {
  const { title, lines, more } = composeAlerts(message, base);
  return JSON.stringify({
    object: 'alerts',
    account: { id: account, name: message.accountName },
    title,
    alerts: lines.map(({ text, ...line }) => ({ ...line, message: text })),
    more_count: more,
  });
}
