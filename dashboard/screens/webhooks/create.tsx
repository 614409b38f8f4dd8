import { useState } from 'react';
import type { NewWebhookEndpoint } from '../../../src/client/api.ts';
import { ENDPOINT_FIELDS } from '../../../src/client/fields.ts';
import { usePortal } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { hintOf } from '../../parts/record-fields.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { TypesField } from './types.tsx';

const texts = webhooks.fields;

/** The form that adds an endpoint; `hasContact` if it asks for the contact. */
export function CreateEndpoint({
  hasContact,
  onClose,
  onMade,
}: {
  hasContact: boolean;
  onClose: () => void;
  onMade: (endpoint: NewWebhookEndpoint) => void;
}) {
  const [delivery, setDelivery] = useState<'push' | 'pull'>('push');
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [contact, setContact] = useState('');
  const offered = usePortal()?.event_types ?? null;
  const [types, setTypes] = useState<readonly string[] | null>(offered);
  const making = useWrite('createWebhookEndpoint');
  const place = delivery === 'pull' ? { delivery } : { url: url.trim() };
  const body = {
    ...place,
    description: description.trim() || null,
    contact_email: contact.trim() || null,
    event_types: types,
  };
  return (
    <Confirm
      title={webhooks.create.title}
      action={webhooks.create.action}
      isBusy={making.isPending}
      isDisabled={(delivery === 'push' && url.trim() === '') || types?.length === 0}
      error={making.error}
      onClose={onClose}
      onConfirm={() => making.mutate({ body }, { onSuccess: onMade })}
    >
      <SelectField
        label={webhooks.create.delivery}
        value={delivery}
        options={optionsOf(['push', 'pull'], webhooks.create.deliveries)}
        onChange={setDelivery}
      />
      {delivery === 'push' && (
        <TextField label={texts.url} hint={texts.urlHint} value={url} onChange={setUrl} hasFocus />
      )}
      <TextField
        label={ENDPOINT_FIELDS.description.label}
        value={description}
        onChange={setDescription}
        isOptional
      />
      {hasContact && (
        <TextField
          label={ENDPOINT_FIELDS.contact_email.label}
          hint={hintOf(ENDPOINT_FIELDS.contact_email.help)}
          type="email"
          value={contact}
          onChange={setContact}
          isOptional
        />
      )}
      <TypesField types={types} onChange={setTypes} />
    </Confirm>
  );
}
