import { useEffect, useState } from 'react';
import { imports as texts } from '../../texts/imports.ts';

const SECOND_MS = 1000;
/** Shorter waits show no seconds. */
const SHORT_SECONDS = 3;

/** Says that a file is being processed, and for how long. */
export function Working({ children }: { children: string }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="working">
      <p role="status">{children}</p>
      <progress aria-label={children} />
      {seconds > SHORT_SECONDS && <p className="hint">{texts.working.seconds(seconds)}</p>}
    </div>
  );
}
