import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** A drop target for a file. Files dropped anywhere on the page are handled by `useDroppedFile`. */
export function Drop({
  title,
  hint,
  problem,
  isOver,
  children,
}: {
  title: string;
  hint: string;
  /** Why the dropped item was not accepted. */
  problem: string | null;
  /** Whether something is being dragged over the page. */
  isOver: boolean;
  /** The button that opens the file dialog. */
  children: ReactNode;
}) {
  return (
    <div className={isOver ? 'empty drop over' : 'empty drop'}>
      <span className="empty-icon">
        <Icon name="import" />
      </span>
      <h2>{title}</h2>
      <p className="soft">{hint}</p>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {children}
    </div>
  );
}

/** A button that opens the file dialog. */
export function ChooseFile({
  label,
  accept,
  title,
  isPrimary = false,
  onFile,
}: {
  label: string;
  /** The `accept` attribute of the input. */
  accept: string;
  title?: string;
  isPrimary?: boolean;
  onFile: (file: File) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        aria-label={label}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          // choosing the same file again must fire a change event
          event.currentTarget.value = '';
          if (file) onFile(file);
        }}
      />
      <Button
        kind={isPrimary ? 'primary' : 'plain'}
        icon="file"
        title={title}
        onPress={() => input.current?.click()}
      >
        {label}
      </Button>
    </>
  );
}

/** The state of dragging files over a page. */
interface Dropped {
  readonly isOver: boolean;
  /** Why the last drop was not accepted: several items, or not a file. */
  readonly problem: 'several' | 'noFile' | null;
}

/** Handles files dropped on the page, which the browser would otherwise open. */
export function useDroppedFile(onFile: (file: File) => void): Dropped {
  const [dropped, setDropped] = useState<Dropped>({ isOver: false, problem: null });
  const latest = useRef(onFile);
  latest.current = onFile;
  useEffect(() => {
    // a drag enters the next element before it leaves the previous one
    let depth = 0;
    const move = (step: 1 | -1) => {
      depth += step;
      setDropped({ isOver: depth > 0, problem: null });
    };
    const end = new AbortController();
    const listen = (
      name: 'dragenter' | 'dragleave' | 'dragover' | 'drop',
      hear: (event: DragEvent) => void,
    ) => window.addEventListener(name, hear, { signal: end.signal });
    listen('dragenter', () => move(1));
    listen('dragleave', () => move(-1));
    listen('dragover', (event) => event.preventDefault());
    listen('drop', (event) => {
      event.preventDefault();
      depth = 0;
      const [file, ...others] = event.dataTransfer?.files ?? [];
      const problem = file === undefined ? 'noFile' : others.length > 0 ? 'several' : null;
      setDropped({ isOver: false, problem });
      if (file && problem === null) latest.current(file);
    });
    return () => end.abort();
  }, []);
  return dropped;
}
