import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { PortalLink, WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, NoMatch, Notice } from '../../parts/feedback.tsx';
import { Checkbox, FilterSelect, optionsOf, SelectField } from '../../parts/field.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm, ConfirmEnd } from '../../parts/overlay.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import type { Column } from '../../parts/table.tsx';
import { Status, Time } from '../../parts/values.tsx';
import { portalLinks as texts } from '../../texts/portal-links.ts';
import { LINK_STATUSES } from './search.ts';

const route = getRouteApi('/webhooks/$id');
const TTLS = ['300', '3600', '86400'] as const;
const TONES = {
  unused: 'info',
  open: 'good',
  ended: 'neutral',
  expired: 'neutral',
  revoked: 'neutral',
} as const;

/** The portal links of an endpoint or of its owner, for owners of the account. */
export function PortalLinks({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  return may.own ? (
    <Links endpoint={endpoint} />
  ) : (
    <Empty icon="settings" title={texts.ownersOnly}>
      {texts.ownersOnlyLead}
    </Empty>
  );
}

function Links({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, owner } = endpoint;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string | null | undefined>(undefined);
  const [revoking, setRevoking] = useState<PortalLink | null>(null);
  const isOfOwner = owner !== null && search.of === 'owner';
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listPortalLinks', {
    filters: { status: search.link, ...(isOfOwner ? { owner } : { webhook_endpoint_id: id }) },
    place: search,
    onPlace: change,
  });
  const make = <Button onPress={() => setMaking(true)}>{texts.make.title}</Button>;
  return (
    <>
      <div className="soft portal-lead">
        <p>{texts.lead}</p>
        <Frames />
      </div>
      <div className="filters">
        {owner !== null && (
          <FilterSelect
            label={texts.of}
            any={texts.one}
            value={search.of}
            options={[{ value: 'owner', label: texts.all(owner) }]}
            onChange={(of) => change({ of })}
          />
        )}
        <FilterSelect
          label={texts.status}
          any={texts.anyStatus}
          value={search.link}
          options={optionsOf(LINK_STATUSES, texts.statuses)}
          onChange={(link) => change({ link })}
        />
        {make}
        <ListMenu {...list} />
      </div>
      <Listing
        {...list}
        label={texts.title}
        columns={columnsWith(setRevoking)}
        keyOf={(link) => link.id}
        empty={
          search.link || isOfOwner ? (
            <NoMatch title={texts.filtered} onClear={() => change({ link: undefined, of: undefined })} />
          ) : (
            <Empty icon="webhooks" title={texts.empty}>
              {texts.emptyLead}
            </Empty>
          )
        }
      />
      {isMaking && (
        <Make
          endpoint={endpoint}
          onClose={() => setMaking(false)}
          onMade={(url) => {
            setMaking(false);
            setMade(url);
          }}
        />
      )}
      {made !== undefined && (
        <SecretOnce
          title={texts.make.done}
          lead={texts.make.once}
          label={texts.make.label}
          secret={made}
          onClose={() => setMade(undefined)}
        />
      )}
      {revoking && <Revoke link={revoking} onClose={() => setRevoking(null)} />}
    </>
  );
}

/** Which pages may show a portal in a frame, and where to change that. */
function Frames() {
  const { data } = useRead('getAccount', {});
  if (data === undefined) return null;
  return (
    <p>
      {texts.frames(data.portal_origins)} <Link to="/settings/account">{texts.changeFrames}</Link>
    </p>
  );
}

const columnsWith = (revoke: (link: PortalLink) => void): readonly Column<PortalLink>[] => [
  {
    title: texts.of,
    cell: ({ owner, read_only }) => (
      <>
        {owner === null ? texts.one : texts.all(owner)}
        {read_only && <span className="second">{texts.readOnly}</span>}
      </>
    ),
  },
  {
    title: texts.status,
    cell: ({ status }) => <Status tone={TONES[status]} label={texts.statuses[status]} />,
  },
  {
    title: texts.until,
    isWide: true,
    cell: ({ status, expires_at, ends_at }) => <Time at={status === 'unused' ? expires_at : ends_at} />,
  },
  { title: texts.made, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: texts.by, isWide: true, cell: ({ created_by }) => <Actor id={created_by} /> },
  {
    title: texts.revoke,
    cell: (link) =>
      (link.status === 'unused' || link.status === 'open') && (
        <Button kind="quiet" onPress={() => revoke(link)}>
          {texts.revoke}
        </Button>
      ),
  },
];

function Make({
  endpoint: { id, owner, event_types, filter },
  onClose,
  onMade,
}: {
  endpoint: WebhookEndpoint;
  onClose: () => void;
  onMade: (url: string | null) => void;
}) {
  const [of, setOf] = useState<'one' | 'owner'>('one');
  const [isReadOnly, setReadOnly] = useState(false);
  const [ttl, setTtl] = useState<(typeof TTLS)[number]>('300');
  const making = useWrite('createPortalLink');
  const body = { all_of_owner: of === 'owner', read_only: isReadOnly, ttl_seconds: Number(ttl) };
  return (
    <Confirm
      title={texts.make.title}
      action={texts.make.action}
      isBusy={making.isPending}
      error={making.error}
      onClose={onClose}
      onConfirm={() => making.mutate({ path: [id], body }, { onSuccess: ({ url }) => onMade(url) })}
    >
      {event_types === null && filter === null ? (
        <Notice tone="warn">{texts.make.everything}</Notice>
      ) : (
        <p className="soft">{texts.make.types}</p>
      )}
      {owner !== null && (
        <SelectField
          label={texts.of}
          value={of}
          options={[
            { value: 'one', label: texts.one },
            { value: 'owner', label: texts.all(owner) },
          ]}
          onChange={setOf}
        />
      )}
      <SelectField
        label={texts.make.ttl}
        value={ttl}
        options={optionsOf(TTLS, texts.make.ttls)}
        onChange={setTtl}
      />
      <div className="form-end">
        <Checkbox label={texts.make.readOnly} isChecked={isReadOnly} onChange={setReadOnly} />
      </div>
    </Confirm>
  );
}

function Revoke({ link: { id, status }, onClose }: { link: PortalLink; onClose: () => void }) {
  return (
    <ConfirmEnd
      operation="deletePortalLink"
      input={{ path: [id] }}
      title={texts.revokeTitle}
      action={texts.revokeTitle}
      done={texts.revoked}
      onClose={onClose}
    >
      <p>{texts.revoking[status === 'open' ? 'open' : 'unused']}</p>
    </ConfirmEnd>
  );
}
