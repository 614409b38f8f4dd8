import { useState } from 'react';
import type { NewWebhookEndpoint } from '../../../src/client/api.ts';
import { ENDPOINT_FIELDS } from '../../../src/client/fields.ts';
import { usePortal } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { TypesField } from './types.tsx';

const texts = webhooks.fields;

/** The form that adds an endpoint. */
export function CreateEndpoint({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (endpoint: NewWebhookEndpoint) => void;
}) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const offered = usePortal()?.event_types ?? null;
  const [types, setTypes] = useState<readonly string[] | null>(offered);
  const making = useWrite('createWebhookEndpoint');
  const body = { url: url.trim(), description: description.trim() || null, event_types: types };
  return (
    <Confirm
      title={webhooks.create.title}
      action={webhooks.create.action}
      isBusy={making.isPending}
      isDisabled={url.trim() === '' || types?.length === 0}
      error={making.error}
      onClose={onClose}
      onConfirm={() => making.mutate({ body }, { onSuccess: onMade })}
    >
      <TextField label={texts.url} hint={texts.urlHint} value={url} onChange={setUrl} hasFocus />
      <TextField
        label={ENDPOINT_FIELDS.description.label}
        value={description}
        onChange={setDescription}
        isOptional
      />
      <TypesField types={types} onChange={setTypes} />
    </Confirm>
  );
}
