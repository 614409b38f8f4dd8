import { useState } from 'react';
import type { ApplicationKind, NewOAuthApplication, Scope } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { Checkbox, optionsOf, SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { settings } from '../../texts/settings.ts';

const texts = settings.applications;

// scopes that allow an operation of the API come first
const SCOPES: readonly Scope[] = [
  'affiliates',
  'webhooks',
  'analytics',
  'reports',
  'account',
  'users',
  'customers',
  'checkouts',
  'subscriptions',
  'subscription_metered_billing',
  'integrations',
  'orders',
  'payments',
  'paymentplans',
  'promos',
  'products',
];

/** The form that registers an application. */
export function Register({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (application: NewOAuthApplication) => void;
}) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<ApplicationKind>('confidential');
  const [redirects, setRedirects] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const registering = useWrite('createOAuthApplication');
  const uris = redirects.split(/\s+/).filter(Boolean);
  return (
    <Confirm
      title={texts.register}
      action={texts.registerAction}
      isBusy={registering.isPending}
      isDisabled={name.trim() === '' || uris.length === 0 || scopes.length === 0}
      error={registering.error}
      onClose={onClose}
      onConfirm={() =>
        registering.mutate({ body: { name, kind, redirect_uris: uris, scopes } }, { onSuccess: onMade })
      }
    >
      <TextField label={texts.name} hint={texts.nameHint} value={name} onChange={setName} hasFocus />
      <SelectField
        label={texts.kind}
        value={kind}
        options={optionsOf(['confidential', 'public'], texts.kinds)}
        onChange={setKind}
      />
      <TextArea
        label={texts.redirects}
        hint={texts.redirectsHint}
        value={redirects}
        onChange={setRedirects}
        isCode
      />
      <fieldset className="scopes">
        <legend>{texts.scopes}</legend>
        {SCOPES.map((scope) => (
          <Checkbox
            key={scope}
            label={scope}
            isChecked={scopes.includes(scope)}
            onChange={(isOn) => setScopes(SCOPES.filter((s) => (s === scope ? isOn : scopes.includes(s))))}
          />
        ))}
      </fieldset>
      <p className="hint">{texts.scopesHint}</p>
    </Confirm>
  );
}
