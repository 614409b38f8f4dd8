import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiKey, NewApiKey } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { FilterSelect, TextField } from '../../parts/field.tsx';
import { relative } from '../../parts/format.ts';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm, ConfirmEnd } from '../../parts/overlay.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import type { Column } from '../../parts/table.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { settings } from '../../texts/settings.ts';
import { Settings } from './frame.tsx';

const texts = settings.keys;
const route = getRouteApi('/settings/keys');

/** /settings/keys */
export function KeySettings() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listApiKeys', {
    filters: { status: search.status },
    place: search,
    onPlace: change,
    isEnabled: may.people,
  });
  const make = (
    <Button kind="primary" icon="plus" onPress={() => setMaking(true)}>
      {texts.make}
    </Button>
  );
  return (
    <Settings part="keys" lead={texts.lead} actions={make} needs="people">
      <div className="filters">
        <FilterSelect
          label={settings.status}
          any={common.all}
          value={search.status}
          options={[
            { value: 'active', label: texts.statuses.active },
            { value: 'revoked', label: texts.statuses.revoked },
          ]}
          onChange={(status) => change({ status })}
        />
      </div>
      <Listing
        {...list}
        label={settings.parts.keys}
        columns={columnsWith(setRevoking)}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => change({ status: undefined })} />
          ) : (
            <Empty icon="settings" title={texts.empty} actions={make}>
              {texts.emptyLead}
            </Empty>
          )
        }
      />
      {isMaking && (
        <Make
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={texts.made(made.name)}
          lead={texts.once}
          label={texts.label}
          secret={made.key}
          onClose={() => setMade(null)}
        />
      )}
      {revoking && <Revoke apiKey={revoking} onClose={() => setRevoking(null)} />}
    </Settings>
  );
}

const columnsWith = (revoke: (key: ApiKey) => void): readonly Column<ApiKey>[] => [
  { title: texts.name, sort: 'name', cell: ({ name }) => <Name>{name}</Name> },
  { title: texts.hint, isWide: true, cell: ({ hint }) => <code>{hint}</code> },
  {
    title: settings.status,
    cell: ({ revoked_at }) => (
      <Status
        tone={revoked_at ? 'neutral' : 'good'}
        label={revoked_at ? texts.statuses.revoked : texts.statuses.active}
      />
    ),
  },
  {
    title: settings.lastUsed,
    sort: 'last_used_at',
    isWide: true,
    cell: ({ last_used_at }) =>
      last_used_at ? <Time at={last_used_at} /> : <span className="soft">{settings.never}</span>,
  },
  {
    title: settings.created,
    sort: 'created_at',
    isWide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  { title: texts.by, isWide: true, cell: ({ created_by }) => <Actor id={created_by} /> },
  {
    title: texts.revoke,
    cell: (key) =>
      key.revoked_at === null && (
        <Button kind="quiet" title={texts.revokeLabel(key.name)} onPress={() => revoke(key)}>
          {texts.revoke}
        </Button>
      ),
  },
];

function Make({ onClose, onMade }: { onClose: () => void; onMade: (key: NewApiKey) => void }) {
  const [name, setName] = useState('');
  const making = useWrite('createApiKey');
  return (
    <Confirm
      title={texts.make}
      action={texts.makeAction}
      isBusy={making.isPending}
      isDisabled={name.trim() === ''}
      error={making.error}
      onClose={onClose}
      onConfirm={() => making.mutate({ body: { name } }, { onSuccess: onMade })}
    >
      <TextField label={texts.name} hint={texts.nameHint} value={name} onChange={setName} hasFocus />
    </Confirm>
  );
}

function Revoke({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id, name, hint, last_used_at } = apiKey;
  return (
    <ConfirmEnd
      operation="deleteApiKey"
      input={{ path: [id] }}
      title={texts.revokeTitle(name)}
      action={texts.revokeLabel(name)}
      done={texts.revoked(name)}
      onClose={onClose}
    >
      <p>{texts.revoking(hint)}</p>
      <p className="soft">
        {last_used_at ? texts.used(relative(last_used_at, serverNow())) : texts.usedNever}
      </p>
    </ConfirmEnd>
  );
}
