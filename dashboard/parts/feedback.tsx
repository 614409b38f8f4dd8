import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '../../src/client/errors.ts';
import { common } from '../texts/common.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** An empty list: what it is for, and the next step. */
export function Empty({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <div className="soft">{children}</div>}
      {actions && <div className="buttons">{actions}</div>}
    </div>
  );
}

/** A list that is empty because of its filters. */
export function NoMatch({ title, onClear }: { title: string; onClear: () => void }) {
  return (
    <Empty icon="search" title={title} actions={<Button onPress={onClear}>{common.clearFilters}</Button>} />
  );
}

/** An error: what happened, what it means, and the request id in the server's log. `onRetry` reads again. */
export function Problem({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const { reason, requestId } = error instanceof ApiError ? error : { reason: null, requestId: null };
  const isGone = reason === 'resource_missing';
  const isFailure = reason === 'internal_error';
  const meaning = isFailure && onRetry ? common.errors.unread : common.errors.meaning[reason ?? ''];
  return (
    <div className="notice bad" role="alert">
      <Icon name="alert" />
      <div>
        <p>
          <b>{isFailure ? common.errors.failed : sentence(error.message)}</b>
        </p>
        {meaning && <p>{meaning}</p>}
        {requestId && (
          <p className="small">
            {common.errors.request} <code>{requestId}</code>
          </p>
        )}
      </div>
      {onRetry && !isGone && <Button onPress={onRetry}>{common.errors.retry}</Button>}
    </div>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** A note above the content it is about. */
export function Notice({
  tone = 'info',
  children,
  actions,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  children: ReactNode;
  actions?: ReactNode;
}) {
  const icon = { info: 'info', good: 'check', warn: 'alert', bad: 'alert' } as const;
  return (
    <div className={`notice ${tone}`} role={tone === 'info' ? undefined : 'status'}>
      <Icon name={icon[tone]} />
      <div>{children}</div>
      {actions}
    </div>
  );
}

const LONG_MS = 10_000;

/** A note that the server is still working, shown after a while. */
export function Waiting() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="hint" role="status">
      {isLong ? common.stillWaiting : <span className="hidden-text">{common.loading}</span>}
    </p>
  );
}

/** A placeholder with the height of `lines` lines. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className="skeleton">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="bone" />
      ))}
      <Waiting />
    </div>
  );
}
