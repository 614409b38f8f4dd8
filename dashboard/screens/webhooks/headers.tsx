import { Button, IconButton } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.headers;

/** Changes to an endpoint's headers. Other headers stay; their values are never shown. */
export interface HeaderChanges {
  readonly removed: readonly string[];
  readonly added: readonly { readonly name: string; readonly value: string }[];
}

export const NO_CHANGES: HeaderChanges = { removed: [], added: [] };

/** The changes for the API; undefined when there are none. */
export function changedHeaders({ removed, added }: HeaderChanges): Record<string, string | null> | undefined {
  const entries = [
    ...removed.map((name) => [name, null] as const),
    ...added.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value] as const),
  ];
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The custom headers of an endpoint: existing ones by name, new ones with their values. */
export function HeadersField({
  names,
  changes,
  onChange,
}: {
  names: readonly string[];
  changes: HeaderChanges;
  onChange: (changes: HeaderChanges) => void;
}) {
  const { removed, added } = changes;
  const kept = names.filter((name) => !removed.includes(name));
  const write = (at: number, next: Partial<HeaderChanges['added'][number]>) =>
    onChange({ removed, added: added.map((each, index) => (index === at ? { ...each, ...next } : each)) });
  return (
    <fieldset className="own-headers">
      <legend>{texts.title}</legend>
      <p className="hint">{texts.hint}</p>
      <ul>
        {kept.map((name) => (
          <li key={name}>
            <code>{name}</code>
            <span className="soft">{texts.hidden}</span>
            <IconButton
              icon="trash"
              label={texts.remove(name)}
              onPress={() => onChange({ added, removed: [...removed, name] })}
            />
          </li>
        ))}
      </ul>
      {added.map(({ name, value }, at) => (
        <div className="form-grid" key={at}>
          <TextField label={texts.name} value={name} onChange={(next) => write(at, { name: next })} />
          <TextField label={texts.value} value={value} onChange={(next) => write(at, { value: next })} />
        </div>
      ))}
      <Button
        kind="quiet"
        icon="plus"
        onPress={() => onChange({ removed, added: [...added, { name: '', value: '' }] })}
      >
        {texts.add}
      </Button>
    </fieldset>
  );
}
