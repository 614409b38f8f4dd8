import { useState } from 'react';
import type { EventType } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { TextField } from '../../parts/field.tsx';
import { JsonField, objectOf, problemOfObject } from '../../parts/json-field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { events } from '../../texts/events.ts';

const texts = events.types.form;

const shown = (value: object | null | undefined) => (value ? JSON.stringify(value, null, 2) : '');
const isGood = (text: string) => text.trim() === '' || problemOfObject(text) === null;
const given = (text: string) => (text.trim() === '' ? null : objectOf(text));

/** The form of an own event type; without one, of a new type. */
export function OwnType({
  type,
  onClose,
  onDone,
}: {
  type: EventType | null;
  onClose: () => void;
  onDone: (name: string) => void;
}) {
  const [name, setName] = useState(type?.type ?? '');
  const [description, setDescription] = useState(type?.description ?? '');
  const [group, setGroup] = useState(type?.group ?? '');
  const [deprecation, setDeprecation] = useState(type?.deprecation ?? '');
  const [schema, setSchema] = useState(shown(type?.data_schema));
  const [example, setExample] = useState(shown(type?.example?.data));
  const saving = useWrite('putEventType');
  const save = () => {
    const body = {
      description: description.trim(),
      group: group.trim() || null,
      deprecation: deprecation.trim() || null,
      data_schema: given(schema),
      data_example: given(example),
    };
    saving.mutate(
      { path: [name.trim()], body },
      {
        onSuccess: (stored) => {
          toast(texts.saved);
          onDone(stored.type);
        },
      },
    );
  };
  return (
    <Confirm
      title={type ? texts.change : texts.create}
      action={texts.save}
      isBusy={saving.isPending}
      isDisabled={name.trim() === '' || description.trim() === '' || !isGood(schema) || !isGood(example)}
      error={saving.error}
      onClose={onClose}
      onConfirm={save}
    >
      {type === null && (
        <TextField
          label={events.type}
          hint={events.publish.typeHint}
          value={name}
          onChange={setName}
          maxLength={100}
          hasFocus
        />
      )}
      <TextField
        label={events.types.when}
        hint={texts.descriptionHint}
        value={description}
        onChange={setDescription}
        maxLength={500}
      />
      <TextField label={texts.group} value={group} onChange={setGroup} maxLength={100} isOptional />
      <TextField
        label={texts.deprecation}
        hint={texts.deprecationHint}
        value={deprecation}
        onChange={setDeprecation}
        maxLength={500}
        isOptional
      />
      <JsonField
        label={texts.schema}
        hint={texts.schemaHint}
        value={schema}
        onChange={setSchema}
        rows={8}
        isOptional
      />
      <JsonField
        label={texts.example}
        hint={texts.exampleHint}
        value={example}
        onChange={setExample}
        rows={6}
        isOptional
      />
    </Confirm>
  );
}
