import { useState } from 'react';
import type { WebhookEndpointSecret } from '../../../src/client/api.ts';
import { clock } from '../../data/preferences.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { SelectField } from '../../parts/field.tsx';
import { exact } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { Secret, SecretOnce } from '../../parts/secret.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.secret;
const OVERLAPS = ['86400', '3600', '604800', '0'] as const;

/** The secret that signs: shown when one asks, and changed with a time in which both hold. */
export function EndpointSecret({ endpoint }: { endpoint: string }) {
  const [isShown, setShown] = useState(false);
  const [isAsked, ask] = useState(false);
  const [made, setMade] = useState<WebhookEndpointSecret | null>(null);
  const zone = clock.use();
  const path: [string] = [endpoint];
  const { data, error } = useRead('getWebhookEndpointSecret', { path }, { isEnabled: isShown });
  const until = data?.previous_secret_expires_at;
  return (
    <Card title={texts.title}>
      {error && <Problem error={error} />}
      {isShown && data?.secret && <Secret label={texts.label}>{data.secret}</Secret>}
      {isShown && until && <p className="hint">{texts.overlap(exact(until, zone))}</p>}
      <div className="buttons form-end">
        {!isShown && <Button onPress={() => setShown(true)}>{texts.show}</Button>}
        <Button onPress={() => ask(true)}>{texts.rotate}</Button>
      </div>
      {isAsked && (
        <Rotate
          endpoint={endpoint}
          onClose={() => ask(false)}
          onMade={(secret) => {
            ask(false);
            setMade(secret);
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={texts.rotated}
          lead={texts.keep}
          label={texts.label}
          secret={made.secret}
          onClose={() => setMade(null)}
        />
      )}
    </Card>
  );
}

function Rotate({
  endpoint,
  onClose,
  onMade,
}: {
  endpoint: string;
  onClose: () => void;
  onMade: (secret: WebhookEndpointSecret) => void;
}) {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('86400');
  const rotating = useWrite('rotateWebhookEndpointSecret');
  const body = { overlap_seconds: Number(overlap) };
  return (
    <Confirm
      title={texts.rotate}
      action={texts.rotate}
      isDangerous
      isBusy={rotating.isPending}
      error={rotating.error}
      onClose={onClose}
      onConfirm={() => rotating.mutate({ path: [endpoint], body }, { onSuccess: onMade })}
    >
      <p>{overlap === '0' ? texts.rotatingNow : texts.rotating}</p>
      <SelectField
        label={texts.overlapField}
        value={overlap}
        options={OVERLAPS.map((value) => ({ value, label: texts.overlaps[value] }))}
        onChange={setOverlap}
      />
    </Confirm>
  );
}
