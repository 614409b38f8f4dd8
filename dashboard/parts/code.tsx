import { useState } from 'react';
import { common } from '../texts/common.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { plain, pretty } from './plain.ts';

/** A text that somebody sent: never markup, indented when it is JSON, raw when one asks. What is copied does nothing either. */
export function Code({ label, children }: { label: string; children: string }) {
  const [isRaw, setRaw] = useState(false);
  const indented = pretty(children);
  const shown = plain(isRaw ? children : (indented ?? children));
  return (
    <div className="code-block">
      <div className="buttons">
        {indented !== null && indented !== children && (
          <Button kind="quiet" onPress={() => setRaw(!isRaw)}>
            {isRaw ? common.pretty : common.raw}
          </Button>
        )}
        <Button kind="quiet" icon="copy" onPress={() => copyText(plain(children))}>
          {common.copy}
        </Button>
      </div>
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached with the keyboard
        tabIndex={0}
      >
        <pre>{shown}</pre>
      </section>
    </div>
  );
}
