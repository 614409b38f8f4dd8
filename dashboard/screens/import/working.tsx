import { useEffect, useState } from 'react';
import { useImportProgress } from '../../data/imports.ts';
import { sending } from '../../data/send-file.ts';
import { size } from '../../parts/format.ts';
import { imports as texts } from '../../texts/imports.ts';

const SECOND_MS = 1000;
/** Shorter waits show no seconds. */
const SHORT_SECONDS = 3;

/** The progress of a file: stage, elapsed time, and expected time. */
export function Working({
  children,
  file,
  progressKey,
  lines,
  expected,
  isKept = false,
}: {
  children: string;
  file: File;
  /** The `progress_key` of the request. */
  progressKey: string;
  /** The number of lines in the file, once known. */
  lines?: number | undefined;
  /** Seconds. */
  expected?: number;
  /** Whether the browser asks before closing the page. */
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
  const { share, text } = useHowFar(file, { key: progressKey, lines, isAsked: seconds > 0 });
  return (
    <div className="working">
      <p role="status">{children}</p>
      <progress aria-label={children} {...(share === null ? {} : { value: share })} />
      {seconds > 0 && text !== null && <p className="hint">{text}</p>}
      {seconds > SHORT_SECONDS && (
        <p className="hint">
          {texts.working.seconds(seconds)}
          {expected !== undefined && ` ${texts.working.expected(expected)}`}
        </p>
      )}
    </div>
  );
}

/** The progress of the request, in words and, if known, as a share of the current stage. */
function useHowFar(
  file: File,
  { key, lines, isAsked }: { key: string; lines: number | undefined; isAsked: boolean },
): { readonly share: number | null; readonly text: string | null } {
  const upload = sending.use();
  const sent = upload?.file === file ? upload.sent : file.size;
  const isSent = sent >= file.size;
  const { data } = useImportProgress(key, isAsked && isSent);
  const { working } = texts;
  if (!isSent) return { share: sent / file.size, text: working.sending(size(sent), size(file.size)) };
  if (data?.stage == null) return { share: null, text: null };
  if (data.stage === 'writing') return { share: null, text: working.writing(lines) };
  if (data.stage !== 'reading' || data.lines_read === null)
    return { share: null, text: working.stages[data.stage] };
  const share = lines === undefined ? null : Math.min(1, data.lines_read / lines);
  return { share, text: working.read(data.lines_read, lines) };
}
