import { useState } from 'react';
import type { Event } from '../../../src/client/api.ts';
import { useEventTypes } from '../../data/event-types.ts';
import { useWrite } from '../../data/queries.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { JsonField, objectOf, problemOfObject } from '../../parts/json-field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { events } from '../../texts/events.ts';

const texts = events.publish;
const NONE = '';

/** The form that publishes an event. */
export function Publish({ onClose, onDone }: { onClose: () => void; onDone: (event: Event) => void }) {
  const [type, setType] = useState('');
  const [externalId, setExternalId] = useState('');
  const [orderingKey, setOrderingKey] = useState('');
  const [owner, setOwner] = useState('');
  const [tags, setTags] = useState('');
  const [text, setText] = useState('{}');
  const [example, setExample] = useState(NONE);
  const catalogue = useEventTypes().types ?? [];
  const publishing = useWrite('publishEvent');
  const begin = (chosen: string) => {
    setExample(chosen);
    const data = catalogue.find((each) => each.type === chosen)?.example?.data ?? {};
    setText(JSON.stringify(data, null, 2));
  };
  const publish = () => {
    const id = externalId.trim();
    const key = orderingKey.trim();
    const given = tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    const body = {
      type: type.trim(),
      data: objectOf(text),
      ...(id === '' ? {} : { external_id: id }),
      ...(key === '' ? {} : { ordering_key: key }),
      ...(owner.trim() === '' ? {} : { owner: owner.trim() }),
      ...(given.length === 0 ? {} : { tags: given }),
    };
    publishing.mutate({ body }, { onSuccess: onDone });
  };
  return (
    <Confirm
      title={texts.title}
      action={texts.action}
      isBusy={publishing.isPending}
      isDisabled={type.trim() === '' || problemOfObject(text) !== null}
      error={publishing.error}
      onClose={onClose}
      onConfirm={publish}
    >
      <p className="soft">{texts.lead}</p>
      <TextField label={events.type} hint={texts.typeHint} value={type} onChange={setType} hasFocus />
      <TextField
        label={events.externalId}
        hint={texts.externalHint}
        value={externalId}
        onChange={setExternalId}
        isOptional
      />
      <TextField
        label={events.orderingKey}
        hint={texts.orderingHint}
        value={orderingKey}
        onChange={setOrderingKey}
        maxLength={255}
        isOptional
      />
      <TextField
        label={events.owner}
        hint={texts.ownerHint}
        value={owner}
        onChange={setOwner}
        maxLength={255}
        isOptional
      />
      <TextField label={events.tags} hint={texts.tagsHint} value={tags} onChange={setTags} isOptional />
      <SelectField
        label={texts.begin}
        value={example}
        options={[
          { value: NONE, label: texts.beginEmpty },
          ...catalogue.map(({ type: each }) => ({ value: each, label: each })),
        ]}
        onChange={begin}
      />
      <JsonField label={texts.data} value={text} onChange={setText} />
    </Confirm>
  );
}
