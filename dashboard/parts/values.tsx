import { Fragment, useEffect, useState } from 'react';
import { visible } from '../../src/kernel/visible.ts';
import { clock } from '../data/preferences.ts';
import { serverNow } from '../data/server-time.ts';
import { common } from '../texts/common.ts';
import { type Amount, dayAndTime, exact, figures, relative } from './format.ts';
import { Icon, type IconName } from './icon.tsx';

/** Longer figures are smaller on narrow screens. */
const MOST_CHARACTERS = 14;

/** An amount with its currency. */
export function Money({ amount, currency, isStrong = false }: Amount & { isStrong?: boolean }) {
  const text = figures({ amount, currency });
  const look = [isStrong ? 'strong' : '', text.length > MOST_CHARACTERS ? 'long' : ''];
  return (
    <span className={['money', ...look].filter(Boolean).join(' ')}>
      {text} <span className="currency">{currency.toUpperCase()}</span>
    </span>
  );
}

/** Amounts in several currencies, one below the other; they are never added up. */
export function Moneys({ amounts, isStrong = false }: { amounts: readonly Amount[]; isStrong?: boolean }) {
  if (amounts.length === 0) return <span className="soft">{common.nothing}</span>;
  return (
    <span className="moneys">
      {amounts.map((each) => (
        <Money key={each.currency} isStrong={isStrong} amount={each.amount} currency={each.currency} />
      ))}
    </span>
  );
}

const MINUTE_MS = 60_000;

/** An instant as relative time, with the exact one on hover and focus; or as date and time. */
export function Time({
  at,
  isAbsolute = false,
  isFocusable = false,
}: {
  at: string | null;
  isAbsolute?: boolean;
  /** Not in tables, where the keyboard would stop at every row. */
  isFocusable?: boolean;
}) {
  const zone = clock.use();
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (isAbsolute) return;
    const timer = setInterval(() => setNow(serverNow()), MINUTE_MS);
    return () => clearInterval(timer);
  }, [isAbsolute]);
  if (at === null) return <span className="soft">{common.nothing}</span>;
  return (
    <time className="time" dateTime={at} data-tip={exact(at, zone)} tabIndex={isFocusable ? 0 : undefined}>
      {isAbsolute ? dayAndTime(at, zone) : relative(at, now)}
    </time>
  );
}

export type Tone = 'neutral' | 'info' | 'good' | 'warn' | 'bad';

const SIGNS: Readonly<Record<Tone, IconName>> = {
  neutral: 'pause',
  info: 'clock',
  good: 'check',
  warn: 'alert',
  bad: 'cross',
};

/** A status up to this length stays on one line, even on narrow screens. */
const SHORT = 16;

/** A status: text with an icon, never colour alone. */
export function Status({ tone, label, icon }: { tone: Tone; label: string; icon?: IconName }) {
  return (
    <span className={`status ${tone}${label.length > SHORT ? '' : ' short'}`}>
      <Icon name={icon ?? SIGNS[tone]} />
      {label}
    </span>
  );
}

/** A URL, an e-mail address or a dotted name: a long one breaks after its separators, not within a word. */
export function Path({ children }: { children: string }) {
  return (
    <bdi className="name">
      {visible(children)
        .split(/(?<=[/.?&=_:@-])(?=\w)/)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  );
}

/** An id in a table, on one line: a long one is cut off, and whole on hover. */
export function LineId({ children }: { children: string }) {
  return (
    <code className="line-id" title={children}>
      {children}
    </code>
  );
}

/** A text with commands and settings in backticks. */
export function Prose({ children }: { children: string }) {
  return (
    <>
      {children.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}

/** The name of a person: isolated in its own text direction, which it cannot leave, and never rendered as markup. */
export function Name({ children }: { children: string }) {
  return <bdi className="name">{visible(children)}</bdi>;
}
