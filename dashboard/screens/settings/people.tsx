import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewUser, Role, User } from '../../../src/client/api.ts';
import { roleLabel } from '../../../src/contract/roles.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { FilterSelect, optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';
import { Settings } from './frame.tsx';
import { Person } from './person.tsx';
import { ROLES } from './roles.ts';
import { Sessions } from './sessions.tsx';
import './settings.css';

const texts = settings.people;
const route = getRouteApi('/settings/people');
const TONES = { active: 'good', invited: 'info', removed: 'neutral' } as const;

/** /settings/people */
export function PeopleSettings() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const me = useMe().data;
  const [isInviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<NewUser | null>(null);
  const { status, user, sessions } = search;
  const change = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next } });
  const list = useList('listUsers', {
    filters: { status },
    place: search,
    onPlace: (next) => change({ page: undefined, ...next }),
    isEnabled: may.people,
  });
  return (
    <Settings
      part="people"
      lead={texts.lead}
      needs="people"
      actions={
        <Button kind="primary" icon="plus" onPress={() => setInviting(true)}>
          {texts.invite}
        </Button>
      }
    >
      <div className="filters">
        <FilterSelect
          label={settings.status}
          any={texts.anyStatus}
          value={status}
          options={optionsOf(['active', 'invited', 'removed'], texts.statuses)}
          onChange={(value) => change({ page: undefined, status: value })}
        />
      </div>
      <Listing
        {...list}
        label={settings.parts.people}
        columns={columnsFor(me?.id)}
        keyOf={({ id }) => id}
        empty={<Empty icon="affiliates" title={texts.none} />}
      />
      <Sessions page={sessions} onPage={(next) => change({ sessions: next })} />
      {user && <Person id={user} onClose={() => change({ user: undefined })} />}
      {isInviting && (
        <Invite
          onClose={() => setInviting(false)}
          onInvited={(made) => {
            setInviting(false);
            setInvited(made);
          }}
        />
      )}
      {invited && (
        <SecretOnce
          title={texts.inviteAction(invited.email)}
          lead={texts.invited(invited.name, invited.is_emailed)}
          label={texts.linkLabel}
          secret={invited.invitation_url}
          onClose={() => setInvited(null)}
        />
      )}
    </Settings>
  );
}

const columnsFor = (own: string | null | undefined): readonly Column<User>[] => [
  {
    title: texts.name,
    sort: 'name',
    cell: ({ id, name, email }) => (
      <>
        <Link
          {...rowLink}
          from="/settings/people"
          to="/settings/people"
          search={(search) => ({ ...search, user: id })}
        >
          <Name>{name}</Name>
        </Link>
        {id === own && <span className="soft"> ({texts.you})</span>}
        <span className="second">{email}</span>
      </>
    ),
  },
  { title: texts.role, cell: ({ role }) => roleLabel(role) },
  {
    title: settings.status,
    cell: ({ status }) => <Status tone={TONES[status]} label={texts.statuses[status]} />,
  },
  {
    title: settings.created,
    sort: 'created_at',
    isWide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (user: NewUser) => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  const inviting = useWrite('createUser');
  return (
    <Confirm
      title={texts.invite}
      action={texts.inviteAction(email.trim())}
      isBusy={inviting.isPending}
      isDisabled={email.trim() === '' || name.trim() === ''}
      error={inviting.error}
      onClose={onClose}
      onConfirm={() =>
        inviting.mutate({ body: { email: email.trim(), name, role } }, { onSuccess: onInvited })
      }
    >
      <TextField label={texts.name} value={name} onChange={setName} hasFocus />
      <TextField label={texts.email} type="email" value={email} onChange={setEmail} />
      <SelectField label={texts.role} value={role} options={ROLES} onChange={setRole} />
    </Confirm>
  );
}
