import { useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { clock } from '../../data/preferences.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { optionsOf, SelectField } from '../../parts/field.tsx';
import { exact } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { Secret, SecretOnce } from '../../parts/secret.tsx';
import { toast } from '../../parts/toast.tsx';
import { signing as signingTexts } from '../../texts/signing.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { ChangeSigning } from './signing.tsx';

const texts = webhooks.secret;
const { schemes } = signingTexts;
const OVERLAPS = ['86400', '3600', '604800', '0'] as const;
type Overlap = (typeof OVERLAPS)[number];

/** A new secret; null = a replayed answer, which does not contain it. */
interface Made {
  readonly secret: string | null;
}

/** The signature of an endpoint: shows the secret, and rotates it with an overlap. */
export function EndpointSecret({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, signing, second_signature: second } = endpoint;
  const [isShown, setShown] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const zone = clock.use();
  const path: [string] = [id];
  const { data, error } = useRead('getWebhookEndpointSecret', { path }, { isEnabled: isShown });
  const ending = useWrite('changeWebhookEndpoint');
  const hasKeys = signing === 'ed25519';
  const label = hasKeys ? texts.keyLabel : texts.label;
  return (
    <Card title={texts.title}>
      {error && <Problem error={error} />}
      {ending.error && <Problem error={ending.error} />}
      <p>
        {texts.signedAs} <b>{schemes[signing]}</b>
      </p>
      {second && (
        <Notice
          actions={
            <Button
              isBusy={ending.isPending}
              onPress={() => ending.mutate({ path, body: { second_signature: null } })}
            >
              {texts.endSecond}
            </Button>
          }
        >
          {texts.second(schemes[second.signing], exact(second.expires_at, zone))}
        </Notice>
      )}
      {isShown && data?.secret && <Secret label={label}>{data.secret}</Secret>}
      {isShown && data?.public_keys_url && <Secret label={texts.keysUrl}>{data.public_keys_url}</Secret>}
      <div className="buttons form-end">
        {!isShown && <Button onPress={() => setShown(true)}>{hasKeys ? texts.showKey : texts.show}</Button>}
        <Button onPress={() => setChanging(true)}>{signingTexts.change}</Button>
        <Button onPress={() => setOpen(true)}>{texts.rotate}</Button>
      </div>
      {isOpen && (
        <Rotate
          endpoint={id}
          onClose={() => setOpen(false)}
          onMade={(secret) => {
            setOpen(false);
            setMade(secret);
          }}
        />
      )}
      {isChanging && (
        <ChangeSigning
          endpoint={endpoint}
          onClose={() => setChanging(false)}
          onChanged={(newSecret) => {
            setChanging(false);
            if (newSecret === undefined) setShown(true);
            else setMade({ secret: newSecret });
            toast(signingTexts.changed);
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={hasKeys ? texts.newKey : texts.rotated}
          lead={texts.keep}
          label={label}
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
  onMade: (made: Made) => void;
}) {
  const rotating = useWrite('rotateWebhookEndpointSecret');
  return (
    <AskOverlap
      action={texts.rotate}
      lead={(overlap) => (overlap === 0 ? texts.rotatingNow : texts.rotating)}
      isBusy={rotating.isPending}
      error={rotating.error}
      onClose={onClose}
      onConfirm={(overlap_seconds) =>
        rotating.mutate({ path: [endpoint], body: { overlap_seconds } }, { onSuccess: onMade })
      }
    />
  );
}

/** Asks how many seconds the current secret or token of an endpoint stays valid. */
export function AskOverlap({
  action,
  lead,
  first = '86400',
  isBusy,
  error,
  onClose,
  onConfirm,
}: {
  action: string;
  lead: (overlapSeconds: number) => string;
  /** The choice at the beginning. */
  first?: Overlap;
  isBusy: boolean;
  error: Error | null;
  onClose: () => void;
  onConfirm: (overlapSeconds: number) => void;
}) {
  const [overlap, setOverlap] = useState(first);
  return (
    <Confirm
      title={action}
      action={action}
      isDangerous
      isBusy={isBusy}
      error={error}
      onClose={onClose}
      onConfirm={() => onConfirm(Number(overlap))}
    >
      <p>{lead(Number(overlap))}</p>
      <SelectField
        label={texts.overlapField}
        value={overlap}
        options={optionsOf(OVERLAPS, texts.overlaps)}
        onChange={setOverlap}
      />
    </Confirm>
  );
}
