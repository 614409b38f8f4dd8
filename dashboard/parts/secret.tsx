import { common } from '../texts/common.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { Notice } from './feedback.tsx';
import { Dialog } from './overlay.tsx';

/** A text that can be copied and is never wrapped. */
export function Secret({ label, children }: { label: string; children: string }) {
  return (
    <div className="secret">
      <input
        className="input code"
        readOnly
        aria-label={label}
        value={children}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon="copy" onPress={() => copyText(children)}>
        {common.copy}
      </Button>
    </div>
  );
}

/**
 * A secret or link that is shown once, until the user confirms having stored it. `null`: a replayed response, which
 * does not contain it.
 */
export function SecretOnce({
  title,
  lead,
  label,
  secret,
  onClose,
}: {
  title: string;
  lead: string;
  label: string;
  secret: string | null;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="warn">{secret === null ? common.shownBefore : lead}</Notice>
      {secret !== null && <Secret label={label}>{secret}</Secret>}
      <div className="buttons">
        <Button kind="primary" onPress={onClose}>
          {common.kept}
        </Button>
      </div>
    </Dialog>
  );
}
