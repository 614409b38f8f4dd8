import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewOAuthApplication, OAuthApplication } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { listed } from '../../texts/common.ts';
import { settings } from '../../texts/settings.ts';
import { Application } from './application.tsx';
import { Settings } from './frame.tsx';
import { Grants } from './grants.tsx';
import { Register } from './register.tsx';
import './settings.css';

const texts = settings.applications;
const route = getRouteApi('/settings/applications');

const COLUMNS: readonly Column<OAuthApplication>[] = [
  {
    title: texts.name,
    cell: ({ id, name }) => (
      <>
        <Link
          {...rowLink}
          from="/settings/applications"
          to="/settings/applications"
          search={(search) => ({ ...search, application: id })}
        >
          <Name>{name}</Name>
        </Link>
        <span className="second">{id}</span>
      </>
    ),
  },
  { title: texts.kind, cell: ({ kind }) => texts.kindNames[kind] },
  { title: texts.scopes, isWide: true, cell: ({ scopes }) => listed(scopes) },
  { title: settings.created, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** /settings/applications */
export function ApplicationSettings() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const [isRegistering, setRegistering] = useState(false);
  const [made, setMade] = useState<NewOAuthApplication | null>(null);
  const change = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next } });
  const list = useList('listOAuthApplications', {
    place: { page: search.page },
    onPlace: change,
    isEnabled: may.people,
  });
  const register = (
    <Button kind="primary" icon="plus" onPress={() => setRegistering(true)}>
      {texts.register}
    </Button>
  );
  return (
    <Settings part="applications" lead={texts.lead} actions={register} needs="people">
      <Listing
        {...list}
        label={settings.parts.applications}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="settings" title={texts.empty}>
            {texts.emptyLead}
          </Empty>
        }
      />
      <Grants page={search.grants} onPage={(grants) => change({ grants })} />
      {search.application && (
        <Application id={search.application} onClose={() => change({ application: undefined })} />
      )}
      {isRegistering && (
        <Register
          onClose={() => setRegistering(false)}
          onMade={(application) => {
            setRegistering(false);
            // public applications have no secret
            if (application.kind === 'confidential') setMade(application);
            else toast(texts.registered(application.name));
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={texts.registered(made.name)}
          lead={texts.once}
          label={texts.secret}
          secret={made.client_secret}
          onClose={() => setMade(null)}
        />
      )}
    </Settings>
  );
}
