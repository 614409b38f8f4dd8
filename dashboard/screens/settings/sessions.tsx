import { useState } from 'react';
import type { Session } from '../../../src/client/api.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { browserName } from '../../parts/browser-name.ts';
import { Button } from '../../parts/button.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import type { Column } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';

const texts = settings.people;

/** The browsers signed in to the account. */
export function Sessions({
  page,
  onPage,
}: {
  page: number | undefined;
  onPage: (page: number | undefined) => void;
}) {
  const may = useMay();
  const me = useMe().data;
  const list = useList('listSessions', {
    place: { page },
    onPlace: (next) => onPage(next.page),
    isEnabled: may.people,
  });
  const users = useRead('listUsers', { query: { per_page: 100 } }, { isEnabled: may.people }).data?.data;
  const nameOf = (id: string) => users?.find((user) => user.id === id)?.name ?? id;
  const [ending, setEnding] = useState<Session | null>(null);
  const columns: readonly Column<Session>[] = [
    {
      title: texts.sessionOf,
      cell: ({ user_id }) => (
        <span className="unbroken">
          <Name>{nameOf(user_id)}</Name>
        </span>
      ),
    },
    {
      title: texts.browser,
      isWide: true,
      cell: ({ user_agent }) => browserName(user_agent),
    },
    {
      title: texts.address,
      isWide: true,
      cell: ({ address }) => <code className="unbroken">{address ?? texts.unknown}</code>,
    },
    { title: texts.seen, cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      title: texts.end,
      cell: (session) =>
        session.id === me?.session_id ? (
          <span className="soft">{texts.current}</span>
        ) : (
          <Button
            kind="quiet"
            title={texts.endLabel(nameOf(session.user_id))}
            onPress={() => setEnding(session)}
          >
            {texts.end}
          </Button>
        ),
    },
  ];
  return (
    <>
      <h2 className="section-title">{texts.sessions}</h2>
      <Listing {...list} label={texts.sessions} columns={columns} keyOf={({ id }) => id} empty={null} />
      {ending && <End session={ending} name={nameOf(ending.user_id)} onClose={() => setEnding(null)} />}
    </>
  );
}

function End({ session, name, onClose }: { session: Session; name: string; onClose: () => void }) {
  const ending = useWrite('deleteSession');
  const done = () => {
    toast(texts.ended);
    onClose();
  };
  return (
    <Confirm
      title={texts.endLabel(name)}
      action={texts.endLabel(name)}
      isBusy={ending.isPending}
      error={ending.error}
      onClose={onClose}
      onConfirm={() => ending.mutate({ path: [session.id] }, { onSuccess: done })}
    >
      <p>{texts.ending(name)}</p>
    </Confirm>
  );
}
