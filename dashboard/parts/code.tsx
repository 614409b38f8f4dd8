import { useMemo, useState } from 'react';
import { common } from '../texts/common.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { whole } from './format.ts';
import { plain, pretty } from './plain.ts';
import { saveFile } from './save.ts';

/** The number of characters shown at first: layout of more is slow. */
const SHOWN = 32_768;

/** Text from outside: never rendered as markup, indented when it is JSON, raw on demand. Copying it is safe too. */
export function Code({
  label,
  copyLabel = common.copy,
  fileName,
  children,
}: {
  label: string;
  copyLabel?: string;
  /** Offers a download of the text, to the byte, under this name. */
  fileName?: string;
  children: string;
}) {
  const [isRaw, setRaw] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const indented = useMemo(() => pretty(children), [children]);
  const shown = useMemo(() => plain(isRaw ? children : (indented ?? children)), [isRaw, children, indented]);
  const isCut = !isWhole && shown.length > SHOWN;
  return (
    <div className="code-block">
      <div className="buttons">
        {indented !== null && indented !== children && (
          <Button kind="quiet" onPress={() => setRaw(!isRaw)}>
            {isRaw ? common.pretty : common.raw}
          </Button>
        )}
        <Button kind="quiet" icon="copy" onPress={() => copyText(plain(children))}>
          {copyLabel}
        </Button>
        {fileName && (
          <Button
            kind="quiet"
            icon="download"
            onPress={() => saveFile({ blob: new Blob([children]), name: fileName })}
          >
            {common.download}
          </Button>
        )}
      </div>
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard
        tabIndex={0}
      >
        <pre>{isCut ? `${shown.slice(0, SHOWN)}…` : shown}</pre>
      </section>
      {isCut && (
        <Button kind="quiet" onPress={() => setWhole(true)}>
          {common.showAll(whole(Math.ceil(shown.length / 1000)))}
        </Button>
      )}
    </div>
  );
}
