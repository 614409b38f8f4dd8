import { useState } from 'react';
import type { OAuthGrant } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { ConfirmEnd } from '../../parts/overlay.tsx';
import type { Column } from '../../parts/table.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { listed } from '../../texts/common.ts';
import { settings } from '../../texts/settings.ts';

const texts = settings.applications;

/** The grants to applications, and who made them. */
export function Grants({
  page,
  onPage,
}: {
  page: number | undefined;
  onPage: (page: number | undefined) => void;
}) {
  const may = useMay();
  const list = useList('listOAuthGrants', {
    place: { page },
    onPlace: (next) => onPage(next.page),
    isEnabled: may.people,
  });
  const [revoking, setRevoking] = useState<OAuthGrant | null>(null);
  return (
    <>
      <h2 className="section-title">{texts.grants}</h2>
      <Listing
        {...list}
        label={texts.grants}
        columns={columnsWith(setRevoking)}
        keyOf={({ id }) => id}
        empty={<p className="soft">{texts.grantsEmpty}</p>}
      />
      {revoking && <Revoke grant={revoking} onClose={() => setRevoking(null)} />}
    </>
  );
}

const columnsWith = (revoke: (grant: OAuthGrant) => void): readonly Column<OAuthGrant>[] => [
  { title: texts.application, cell: (grant) => <Name>{grant.application_name}</Name> },
  { title: texts.by, cell: ({ user_name }) => <Name>{user_name}</Name> },
  { title: texts.scopes, isWide: true, cell: ({ scopes }) => listed(scopes) },
  {
    title: settings.status,
    cell: ({ status, revoked_because }) => (
      <>
        <Status tone={status === 'active' ? 'good' : 'neutral'} label={texts.grantStatuses[status]} />
        {revoked_because && <span className="second">{texts.because[revoked_because]}</span>}
      </>
    ),
  },
  { title: settings.lastUsed, isWide: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  {
    title: texts.revoke,
    cell: (grant) =>
      grant.status === 'active' && (
        <Button
          kind="quiet"
          title={texts.revokeLabel(grant.application_name, grant.user_name)}
          onPress={() => revoke(grant)}
        >
          {texts.revoke}
        </Button>
      ),
  },
];

function Revoke({ grant, onClose }: { grant: OAuthGrant; onClose: () => void }) {
  const { id, application_name: name, scopes } = grant;
  return (
    <ConfirmEnd
      operation="deleteOAuthGrant"
      input={{ path: [id] }}
      title={texts.revokeTitle(name)}
      action={texts.revokeTitle(name)}
      done={texts.revoked(name)}
      onClose={onClose}
    >
      <p>{texts.revoking(name, listed(scopes))}</p>
    </ConfirmEnd>
  );
}
