import { useState } from 'react';
import type { PasswordReset, User } from '../../../src/client/api.ts';
import { roleLabel } from '../../../src/contract/roles.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { SelectField } from '../../parts/field.tsx';
import { ConfirmEnd, Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';
import { ROLES } from './roles.ts';

const texts = settings.people;

/** A user in a drawer: role, password reset, removal. */
export function Person({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: user, error, refetch } = useRead('getUser', { path: [id] });
  return (
    <Drawer title={user?.name ?? id} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {user ? <Inside user={user} /> : !error && <Skeleton lines={4} />}
    </Drawer>
  );
}

function Inside({ user }: { user: User }) {
  const [isRemoving, setRemoving] = useState(false);
  const [link, setLink] = useState<PasswordReset | null>(null);
  const changing = useWrite('changeUser');
  const resetting = useWrite('resetUserPassword');
  const { id, name, role, email, status } = user;
  const refusal = changing.error ?? resetting.error;
  return (
    <div className="stack">
      {refusal && <Problem error={refusal} />}
      <Facts
        rows={[
          [texts.email, email],
          [texts.role, roleLabel(role)],
          [settings.status, texts.statuses[status]],
          [settings.created, <Time key="created" at={user.created_at} isFocusable />],
          ['id', <Id key="id">{id}</Id>],
        ]}
      />
      {status !== 'removed' && (
        <>
          <SelectField
            label={texts.changeRole}
            value={role}
            options={ROLES}
            onChange={(next) =>
              changing.mutate(
                { path: [id], body: { role: next } },
                { onSuccess: () => toast(texts.becomes(name, next)) },
              )
            }
          />
          <div className="buttons">
            <Button
              isBusy={resetting.isPending}
              onPress={() => resetting.mutate({ path: [id] }, { onSuccess: setLink })}
            >
              {texts.reset}
            </Button>
            <Button kind="danger" onPress={() => setRemoving(true)}>
              {texts.remove(name)}
            </Button>
          </div>
        </>
      )}
      {isRemoving && <Remove user={user} onClose={() => setRemoving(false)} />}
      {link && (
        <SecretOnce
          title={texts.reset}
          lead={texts.resetDone(name, link.is_emailed)}
          label={texts.linkLabel}
          secret={link.reset_url}
          onClose={() => setLink(null)}
        />
      )}
    </div>
  );
}

function Remove({ user: { id, name }, onClose }: { user: User; onClose: () => void }) {
  return (
    <ConfirmEnd
      operation="deleteUser"
      input={{ path: [id] }}
      title={texts.remove(name)}
      action={texts.remove(name)}
      done={texts.removed(name)}
      onClose={onClose}
    >
      <p>{texts.removing(name)}</p>
    </ConfirmEnd>
  );
}
