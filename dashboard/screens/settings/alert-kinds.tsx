import type { AlertKind, AlertSettings } from '../../../src/client/api.ts';
import { Checkbox } from '../../parts/field.tsx';

/** A checkbox for every kind of alert, with when it is sent. */
export function KindChoice({
  kinds,
  chosen,
  onChange,
}: {
  kinds: AlertSettings['alerts'];
  chosen: ReadonlySet<AlertKind>;
  onChange: (chosen: ReadonlySet<AlertKind>) => void;
}) {
  return (
    <ul className="alert-kinds">
      {kinds.map(({ kind, label, meaning }) => (
        <li key={kind}>
          <Checkbox
            label={label}
            isChecked={chosen.has(kind)}
            onChange={(isChecked) => {
              const next = new Set(chosen);
              if (isChecked) next.add(kind);
              else next.delete(kind);
              onChange(next);
            }}
          />
          <p className="hint">{meaning}</p>
        </li>
      ))}
    </ul>
  );
}
