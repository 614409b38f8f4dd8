import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { ENDPOINT_FIELDS, type FormField, type FormFields } from '../../../src/client/fields.ts';
import { useMay, usePortal } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Confirm, ConfirmEnd } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { changedIn, FieldInputs, factsOf, hasProblem, typedOf } from '../../parts/record-fields.tsx';
import { toast } from '../../parts/toast.tsx';
import { listed } from '../../texts/common.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { BatchFields, batchOf, batchText, isBatchGood } from './batch.tsx';
import { EndpointContact } from './contact.tsx';
import { ContentFilter, GivenFilter } from './content-filter.tsx';
import { EndpointEgress } from './egress.tsx';
import { changedHeaders, HeadersField, NO_CHANGES } from './headers.tsx';
import { EndpointSecret } from './secret.tsx';
import { EndpointToken } from './token.tsx';
import { TypesField } from './types.tsx';

/** The settings of an endpoint: events and payload, filter, outgoing requests, signature, and deletion. */
export function EndpointSettings({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const portal = usePortal();
  return (
    <div className="endpoint-form">
      {may.webhooks ? <Change endpoint={endpoint} /> : <Seen endpoint={endpoint} />}
      <EndpointContact endpoint={endpoint} />
      {portal === null ? <ContentFilter endpoint={endpoint} /> : <GivenFilter endpoint={endpoint} />}
      {portal === null && endpoint.delivery === 'push' && <EndpointEgress endpoint={endpoint} />}
      {may.webhooks && (
        <>
          {endpoint.delivery === 'pull' && <EndpointToken endpoint={endpoint.id} />}
          <EndpointSecret endpoint={endpoint} />
          <End endpoint={endpoint} />
        </>
      )}
    </div>
  );
}

/**
 * The fields that the caller can set. An endpoint that has an owner keeps it; a pull endpoint has no fields of requests; a portal has no
 * contact if nothing would be sent to it.
 */
function useFields({
  owner,
  delivery,
  contact_status: contact,
}: Pick<WebhookEndpoint, 'owner' | 'delivery' | 'contact_status'>): FormFields {
  const portal = usePortal();
  const all: [string, FormField][] = Object.entries(ENDPOINT_FIELDS);
  return Object.fromEntries(
    all.filter(
      ([name, { isOfPortal, acceptedBy }]) =>
        (portal === null || isOfPortal) &&
        (name !== 'owner' || owner === null) &&
        (name !== 'contact_email' || portal === null || contact !== 'off') &&
        (acceptedBy?.includes(delivery) ?? true),
    ),
  );
}

function Seen({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { event_types, batch, headers, delivery } = endpoint;
  const fields = useFields({ ...endpoint, owner: null });
  const ofRequests: [string, string][] = [
    [texts.batch.title, batch === null ? '—' : texts.batch.upTo(batch.max_events)],
    [texts.headers.title, headers.length === 0 ? '—' : listed(headers)],
  ];
  return (
    <Card>
      <Facts
        rows={[
          [texts.fields.types, event_types === null ? texts.allTypes : listed(event_types)],
          ...factsOf(fields, endpoint),
          ...(delivery === 'push' ? ofRequests : []),
        ]}
      />
    </Card>
  );
}

const originOf = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()).origin : null);

function Change({ endpoint }: { endpoint: WebhookEndpoint }) {
  const portal = usePortal();
  const saving = useWrite('changeWebhookEndpoint');
  const form = { fields: useFields(endpoint), currency: '' };
  const isPull = endpoint.delivery === 'pull';
  const before = endpoint.url ?? '';
  const [url, setUrl] = useState(before);
  const [values, setValues] = useState(() => typedOf(form, endpoint));
  const [batch, setBatch] = useState(() => batchText(endpoint.batch));
  const [types, setTypes] = useState(endpoint.event_types);
  const [headers, setHeaders] = useState(NO_CHANGES);
  const isGood =
    !hasProblem(form, values) && isBatchGood(batch) && (isPull || url.trim() !== '') && types?.length !== 0;
  const changed = changedHeaders(headers);
  const given = new Set(Object.keys(changed ?? {}).map((name) => name.toLowerCase()));
  const dropped =
    originOf(url) === originOf(before) ? [] : endpoint.headers.filter((name) => !given.has(name));
  if (endpoint.client_credentials && originOf(url) !== originOf(before)) dropped.push('authorization');
  const body = {
    ...changedIn(form, endpoint, values),
    event_types: types,
    ...(!isPull && { url: url.trim(), batch: batchOf(batch), headers: changed }),
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!isGood || saving.isPending) return;
    const saved = () => {
      setHeaders(NO_CHANGES);
      toast(texts.fields.saved);
    };
    saving.mutate({ path: [endpoint.id], body }, { onSuccess: saved });
  };
  return (
    <form onSubmit={save}>
      <Card>
        {!isPull && (
          <TextField label={texts.fields.url} hint={texts.fields.urlHint} value={url} onChange={setUrl} />
        )}
        {endpoint.owner !== null && portal === null && <Facts rows={[[texts.owner, endpoint.owner]]} />}
        <FieldInputs {...form} values={values} onChange={setValues} hasFocus={false} />
        {!isPull && <BatchFields text={batch} onChange={setBatch} />}
        <TypesField types={types} onChange={setTypes} />
        {!isPull && <HeadersField names={endpoint.headers} changes={headers} onChange={setHeaders} />}
        {dropped.length > 0 && <Notice tone="warn">{texts.headers.dropped(listed(dropped))}</Notice>}
        {saving.error && <Problem error={saving.error} />}
        <div className="buttons form-end">
          <Button kind="primary" type="submit" isBusy={saving.isPending} isDisabled={!isGood}>
            {texts.fields.save}
          </Button>
        </div>
      </Card>
    </form>
  );
}

const HELD = [
  { value: 'send', label: texts.enabling.options.send },
  { value: 'discard', label: texts.enabling.options.discard },
] as const;

function End({ endpoint: { id, status } }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'enable' | 'disable' | 'remove' | null>(null);
  const [held, setHeld] = useState<'send' | 'discard'>('send');
  const changing = useWrite('changeWebhookEndpoint');
  const query = { status: status === 'enabled' ? 'pending' : 'held', per_page: 1 } as const;
  const waiting = useRead('listEventsOfWebhookEndpoint', { path: [id], query }).data?.pagination.total ?? 0;
  const close = () => setOpen(null);
  const change = (body: { status: 'enabled' | 'disabled'; held?: typeof held }, done: string) =>
    changing.mutate(
      { path: [id], body },
      {
        onSuccess: () => {
          toast(done);
          close();
        },
      },
    );
  const enable = () => change({ status: 'enabled', held }, texts.enabled[waiting === 0 ? 'none' : held]);
  return (
    <Card>
      <div className="buttons">
        {status === 'enabled' ? (
          <Button onPress={() => setOpen('disable')}>{texts.disable}</Button>
        ) : (
          <Button isBusy={changing.isPending} onPress={() => (waiting === 0 ? enable() : setOpen('enable'))}>
            {texts.enable}
          </Button>
        )}
        {may.makeEndpoints && (
          <Button kind="danger" onPress={() => setOpen('remove')}>
            {texts.remove}
          </Button>
        )}
      </div>
      {open === 'enable' && (
        <Confirm
          title={texts.enable}
          action={texts.enabling[held](waiting)}
          isDangerous={held === 'discard'}
          isBusy={changing.isPending}
          error={changing.error}
          onClose={close}
          onConfirm={enable}
        >
          <SelectField
            label={texts.enabling.label(waiting)}
            hint={texts.enabling.hint[held]}
            value={held}
            options={HELD}
            onChange={setHeld}
          />
        </Confirm>
      )}
      {open === 'disable' && (
        <Confirm
          title={texts.disable}
          action={texts.disable}
          isBusy={changing.isPending}
          error={changing.error}
          onClose={close}
          onConfirm={() => change({ status: 'disabled' }, texts.disabled)}
        >
          <p>{texts.disabling}</p>
        </Confirm>
      )}
      {open === 'remove' && (
        <ConfirmEnd
          operation="deleteWebhookEndpoint"
          input={{ path: [id] }}
          title={texts.remove}
          action={texts.remove}
          done={texts.removed}
          onDone={() => void navigate({ to: '/webhooks' })}
          onClose={close}
        >
          <p>{texts.removing(texts.waitingEvents(waiting))}</p>
        </ConfirmEnd>
      )}
    </Card>
  );
}
