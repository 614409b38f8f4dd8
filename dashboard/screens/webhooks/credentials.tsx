import { useState } from 'react';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../../src/client/api.ts';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { egress as texts } from '../../texts/egress.ts';

const WAYS = ['basic', 'body'] as const;

/** The dialog for the OAuth client credentials of an endpoint. */
export function ChangeCredentials({
  before,
  isBusy,
  error,
  onClose,
  onSave,
}: {
  before: WebhookEndpoint['client_credentials'];
  isBusy: boolean;
  error: Error | null;
  onClose: () => void;
  onSave: (body: ChangeWebhookEndpointBody) => void;
}) {
  const [url, setUrl] = useState(before?.token_url ?? '');
  const [client, setClient] = useState(before?.client_id ?? '');
  const [secret, setSecret] = useState('');
  const [scope, setScope] = useState(before?.scope ?? '');
  const [audience, setAudience] = useState(before?.audience ?? '');
  const [authentication, setAuthentication] = useState(before?.authentication ?? 'basic');
  const isSame = url.trim() === before?.token_url && client.trim() === before.client_id;
  const client_credentials = {
    token_url: url.trim(),
    client_id: client.trim(),
    client_secret: secret || undefined,
    scope: scope.trim() || null,
    audience: audience.trim() || null,
    authentication,
  };
  return (
    <Confirm
      title={texts.changeCredentials}
      action={texts.save}
      isBusy={isBusy}
      isDisabled={url.trim() === '' || client.trim() === '' || (secret === '' && !isSame)}
      error={error}
      onClose={onClose}
      onConfirm={() => onSave({ client_credentials })}
    >
      <p>{texts.credentialsLead}</p>
      <TextField label={texts.tokenUrl} value={url} onChange={setUrl} />
      <TextField label={texts.client} value={client} onChange={setClient} />
      <TextField
        label={texts.clientSecret}
        hint={isSame ? texts.secretStays : texts.secretHint}
        value={secret}
        onChange={setSecret}
      />
      <TextField label={texts.scope} hint={texts.scopeHint} value={scope} onChange={setScope} isOptional />
      <TextField label={texts.audience} value={audience} onChange={setAudience} isOptional />
      <SelectField
        label={texts.authentication}
        value={authentication}
        options={optionsOf(WAYS, texts.authentications)}
        onChange={setAuthentication}
      />
    </Confirm>
  );
}
