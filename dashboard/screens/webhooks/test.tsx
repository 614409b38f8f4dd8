import { useState } from 'react';
import type { WebhookEvent } from '../../../src/client/api.ts';
import { useEventTypes } from '../../data/event-types.ts';
import { useWrite } from '../../data/queries.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { JsonField, objectOf, problemOfObject } from '../../parts/json-field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.testing;
const TEST = 'webhook_endpoint.test';
const OWN = '';

/** Sends a test event of any type to one endpoint, with the example data, edited or not. */
export function SendTest({
  endpoint,
  onClose,
  onSent,
}: {
  endpoint: string;
  onClose: () => void;
  onSent: (event: WebhookEvent) => void;
}) {
  const [choice, setChoice] = useState(TEST);
  const [own, setOwn] = useState('');
  const [text, setText] = useState('{}');
  const catalogue = useEventTypes().types ?? [];
  const sending = useWrite('testWebhookEndpoint');
  const isPlain = choice === TEST;
  const exampleOf = (type: string) => catalogue.find((each) => each.type === type)?.example;
  const choose = (type: string) => {
    setChoice(type);
    setText(JSON.stringify(exampleOf(type)?.data ?? {}, null, 2));
  };
  const isGood = isPlain || ((choice !== OWN || own.trim() !== '') && problemOfObject(text) === null);
  const send = () => {
    const { changes } = exampleOf(choice) ?? {};
    const body = isPlain
      ? {}
      : { type: choice === OWN ? own.trim() : choice, data: objectOf(text), ...(changes && { changes }) };
    sending.mutate({ path: [endpoint], body }, { onSuccess: onSent });
  };
  return (
    <Confirm
      title={webhooks.test}
      action={texts.action}
      isBusy={sending.isPending}
      isDisabled={!isGood}
      error={sending.error}
      onClose={onClose}
      onConfirm={send}
    >
      <SelectField
        label={webhooks.log.type}
        value={choice}
        options={[
          { value: TEST, label: TEST },
          ...catalogue.flatMap(({ type }) => (type === TEST ? [] : [{ value: type, label: type }])),
          { value: OWN, label: texts.own },
        ]}
        onChange={choose}
      />
      {choice === OWN && (
        <TextField label={texts.ownType} hint={texts.ownHint} value={own} onChange={setOwn} />
      )}
      {isPlain ? (
        <p className="hint">{texts.plain}</p>
      ) : (
        <JsonField label={texts.data} hint={texts.signed} value={text} onChange={setText} />
      )}
    </Confirm>
  );
}
