import { useState } from 'react';
import type { EventType } from '../../../src/client/api.ts';
import { useEventTypes } from '../../data/event-types.ts';
import { usePortal } from '../../data/me.ts';
import { EventTypeDetails } from '../../parts/event-type.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { events } from '../../texts/events.ts';
import { webhooks } from '../../texts/webhooks.ts';
import './webhooks.css';

const texts = webhooks.fields;

/** The types that an endpoint receives: a selection of known types and custom patterns. null = all. */
export function TypesField({
  types,
  onChange,
}: {
  types: readonly string[] | null;
  onChange: (types: readonly string[] | null) => void;
}) {
  const { types: catalogue, error } = useEventTypes();
  const portal = usePortal();
  const offered = portal?.event_types ?? null;
  const isSome = types !== null;
  const looks = portal && catalogue && <Looks catalogue={catalogue} offered={offered} />;
  if (offered !== null)
    return (
      <>
        <Offered offered={offered} types={types ?? []} catalogue={catalogue ?? []} onChange={onChange} />
        {looks}
      </>
    );
  return (
    <>
      <SelectField
        label={texts.types}
        value={isSome ? 'some' : 'all'}
        options={[
          { value: 'all', label: texts.everything },
          { value: 'some', label: texts.chosen },
        ]}
        onChange={(value) => onChange(value === 'all' ? null : [])}
      />
      {isSome && error && <Problem error={error} />}
      {isSome && catalogue && <Some catalogue={catalogue} types={types} onChange={onChange} />}
      {looks}
    </>
  );
}

/** Whether an entry of a subscription, such as `order.*`, matches a type. */
const covers = (entry: string, type: string): boolean =>
  entry === type || (entry.endsWith('*') && type.startsWith(entry.slice(0, -1)));

/** What the events look like that a portal offers: null = all. */
function Looks({
  catalogue,
  offered,
}: {
  catalogue: readonly EventType[];
  offered: readonly string[] | null;
}) {
  const shown = catalogue.filter(({ type }) => offered?.some((entry) => covers(entry, type)) ?? true);
  return shown.length === 0 ? null : (
    <fieldset className="types">
      <legend>{events.types.looks}</legend>
      {shown.map((type) => (
        <details key={type.type}>
          <summary>{type.type}</summary>
          <EventTypeDetails type={type} />
        </details>
      ))}
    </fieldset>
  );
}

/** The types that a portal offers, and the endpoint's other types. */
function Offered({
  offered,
  types,
  catalogue,
  onChange,
}: {
  offered: readonly string[];
  types: readonly string[];
  catalogue: readonly EventType[];
  onChange: (types: readonly string[]) => void;
}) {
  const [before] = useState(types);
  return (
    <fieldset className="types">
      <legend>{texts.types}</legend>
      {[...new Set([...offered, ...before])].map((type) => (
        <div key={type}>
          <Checkbox
            label={type}
            isChecked={types.includes(type)}
            onChange={(isOn) => onChange(isOn ? [...types, type] : types.filter((each) => each !== type))}
          />
          <p className="hint">{catalogue.find((each) => each.type === type)?.description}</p>
        </div>
      ))}
    </fieldset>
  );
}

/** A checkbox for each known type, and other subscriptions as text. */
function Some({
  catalogue,
  types,
  onChange,
}: {
  catalogue: readonly EventType[];
  types: readonly string[];
  onChange: (types: readonly string[]) => void;
}) {
  const [search, setSearch] = useState('');
  const known = new Set(catalogue.map(({ type }) => type));
  const chosen = new Set(types);
  const found = catalogue.filter(({ type, description }) =>
    `${type} ${description}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  const [own, setOwn] = useState(() => types.filter((type) => !known.has(type)).join('\n'));
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, type] : [...chosen].filter((each) => each !== type));
  const setOthers = (text: string) => {
    setOwn(text);
    onChange([...[...chosen].filter((type) => known.has(type)), ...text.split(/\s+/).filter(Boolean)]);
  };
  return (
    <>
      <TextField label={texts.find} value={search} onChange={setSearch} isOptional />
      <fieldset className="types">
        <legend className="hidden-text">{texts.types}</legend>
        {found.map(({ type, description }) => (
          <div key={type}>
            <Checkbox label={type} isChecked={chosen.has(type)} onChange={(isOn) => toggle(type, isOn)} />
            <p className="hint">{description}</p>
          </div>
        ))}
        {found.length === 0 && <p className="soft">{texts.noType}</p>}
      </fieldset>
      <TextArea
        label={texts.own}
        hint={texts.ownHint}
        value={own}
        onChange={setOthers}
        rows={2}
        isCode
        isOptional
      />
    </>
  );
}
