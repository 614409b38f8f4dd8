import { useEffect, useState } from 'react';
import { imports as texts } from '../../texts/imports.ts';

const SECOND_MS = 1000;
/** Shorter waits show no seconds. */
const SHORT_SECONDS = 3;

/** Says that a file is being processed, for how long, and how long that may take. */
export function Working({
  children,
  expected,
  isKept = false,
}: {
  children: string;
  /** Seconds. */
  expected?: number;
  /** Whether the browser asks before the page is closed. */
  isKept?: boolean;
}) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (!isKept) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isKept]);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="working">
      <p role="status">{children}</p>
      <progress aria-label={children} />
      {seconds > SHORT_SECONDS && (
        <p className="hint">
          {texts.working.seconds(seconds)}
          {expected !== undefined && ` ${texts.working.expected(expected)}`}
        </p>
      )}
    </div>
  );
}
