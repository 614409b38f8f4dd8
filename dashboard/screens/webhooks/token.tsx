import { useState } from 'react';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { endpointToken as texts } from '../../texts/endpoint-token.ts';
import { AskOverlap } from './secret.tsx';

/** The token with which consumers claim the events of a pull endpoint: creates one, which is shown once. */
export function EndpointToken({ endpoint }: { endpoint: string }) {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<{ readonly token: string | null } | null>(null);
  const making = useWrite('createWebhookEndpointToken');
  return (
    <Card title={texts.title}>
      <p>{texts.lead}</p>
      <div className="buttons form-end">
        <Button onPress={() => setOpen(true)}>{texts.create}</Button>
      </div>
      {isOpen && (
        <AskOverlap
          action={texts.create}
          lead={(overlap) => (overlap === 0 ? texts.replacingNow : texts.replacing)}
          first="0"
          isBusy={making.isPending}
          error={making.error}
          onClose={() => setOpen(false)}
          onConfirm={(overlap_seconds) =>
            making.mutate(
              { path: [endpoint], body: { overlap_seconds } },
              {
                onSuccess(token) {
                  setOpen(false);
                  setMade(token);
                },
              },
            )
          }
        />
      )}
      {made && (
        <SecretOnce
          title={texts.made}
          lead={texts.keep}
          label={texts.label}
          secret={made.token}
          onClose={() => setMade(null)}
        />
      )}
    </Card>
  );
}
