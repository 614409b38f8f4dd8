import { Dialog } from '../parts/overlay.tsx';
import { common } from '../texts/common.ts';
import { ENTRIES } from './navigation.ts';

/** The keys that work on every screen. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const texts = common.shortcuts;
  const rows = [
    ...texts.rows,
    ...ENTRIES.map(({ letter, title }) => [`g  ${letter}`, texts.goTo(title)] as const),
  ];
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <dl className="keys">
        {rows.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
