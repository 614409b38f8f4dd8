import { useState } from 'react';
import type { NewOAuthApplication, OAuthApplication } from '../../../src/client/api.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { Confirm, ConfirmEnd, Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { Time } from '../../parts/values.tsx';
import { common, listed } from '../../texts/common.ts';
import { settings } from '../../texts/settings.ts';

const texts = settings.applications;

/** An application in a drawer: its scopes, its secret, and deletion. */
export function Application({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: application, error, refetch } = useRead('getOAuthApplication', { path: [id] });
  const [rotated, setRotated] = useState<NewOAuthApplication | null>(null);
  const [open, setOpen] = useState<'rotate' | 'remove' | null>(null);
  const rotating = useWrite('rotateOAuthApplicationSecret');
  const close = () => setOpen(null);
  return (
    <Drawer title={application?.name ?? id} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {application === undefined && !error && <Skeleton lines={4} />}
      {application && <Inside application={application} onAsk={setOpen} />}
      {application && open === 'rotate' && (
        <Confirm
          title={texts.rotate}
          action={texts.rotate}
          isDangerous
          isBusy={rotating.isPending}
          error={rotating.error}
          onClose={close}
          onConfirm={() =>
            rotating.mutate(
              { path: [id] },
              {
                onSuccess: (made) => {
                  close();
                  setRotated(made);
                },
              },
            )
          }
        >
          <p>{texts.rotating(application.name)}</p>
        </Confirm>
      )}
      {application && open === 'remove' && (
        <ConfirmEnd
          operation="deleteOAuthApplication"
          input={{ path: [id] }}
          title={texts.remove(application.name)}
          action={texts.remove(application.name)}
          done={texts.removed(application.name)}
          onDone={onClose}
          onClose={close}
        >
          <p>{texts.removing(application.name)}</p>
        </ConfirmEnd>
      )}
      {rotated && (
        <SecretOnce
          title={texts.rotated(rotated.name)}
          lead={texts.once}
          label={texts.secret}
          secret={rotated.client_secret}
          onClose={() => setRotated(null)}
        />
      )}
    </Drawer>
  );
}

function Inside({
  application,
  onAsk,
}: {
  application: OAuthApplication;
  onAsk: (what: 'rotate' | 'remove') => void;
}) {
  const { id, name, kind, scopes, redirect_uris, client_secret_hint, created_at } = application;
  return (
    <div className="stack">
      <Facts
        rows={[
          [texts.clientId, <Id key="id">{id}</Id>],
          [texts.kind, texts.kindNames[kind]],
          [texts.secret, <code key="hint">{client_secret_hint ?? common.none}</code>],
          [texts.scopes, listed(scopes)],
          [texts.redirects, redirect_uris.map((uri) => <div key={uri}>{uri}</div>)],
          [settings.created, <Time key="created" at={created_at} isFocusable />],
        ]}
      />
      <div className="buttons">
        {kind === 'confidential' && <Button onPress={() => onAsk('rotate')}>{texts.rotate}</Button>}
        <Button kind="danger" onPress={() => onAsk('remove')}>
          {texts.remove(name)}
        </Button>
      </div>
    </div>
  );
}
