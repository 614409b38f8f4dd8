import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventType } from '../../../src/client/api.ts';
import { useEventTypes } from '../../data/event-types.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { EventTypeDetails } from '../../parts/event-type.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { SearchField } from '../../parts/field.tsx';
import { ConfirmEnd, Drawer } from '../../parts/overlay.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink, Table } from '../../parts/table.tsx';
import { Status } from '../../parts/values.tsx';
import { events as texts } from '../../texts/events.ts';
import { OwnType } from './own-type.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/events/types');

const COLUMNS: readonly Column<EventType>[] = [
  {
    title: texts.type,
    cell: ({ type, description, deprecation }) => (
      <>
        <Link {...rowLink} from="/events/types" to="/events/types" search={(now) => ({ ...now, type })}>
          {type}
        </Link>
        {deprecation !== null && <Status tone="warn" label={texts.types.isDeprecated} />}
        <span className="second narrow-only">{description}</span>
      </>
    ),
  },
  { title: texts.types.when, isWide: true, cell: ({ description }) => description },
  {
    title: texts.types.origin,
    isWide: true,
    cell: ({ origin, group }) => [texts.types.origins[origin], group].filter(Boolean).join(', '),
  },
];

/** /events/types: the types of Payhook and the account's own, each with its schema and an example */
export function EventTypes() {
  const { find = '', type } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { types, error, refetch } = useEventTypes();
  const [isMaking, setMaking] = useState(false);
  const found = types?.filter((each) =>
    `${each.type} ${each.description} ${each.group ?? ''}`.toLowerCase().includes(find.toLowerCase()),
  );
  const open = types?.find((each) => each.type === type);
  const show = (next: string | undefined) => void navigate({ search: (now) => ({ ...now, type: next }) });
  return (
    <Page
      title={texts.title}
      name={`${texts.views.types} · ${texts.title}`}
      lead={texts.types.lead}
      actions={
        may.webhooks && (
          <Button icon="plus" onPress={() => setMaking(true)}>
            {texts.types.form.create}
          </Button>
        )
      }
    >
      <Views />
      <div className="filters">
        <SearchField
          label={texts.types.find}
          value={find}
          onChange={(next) =>
            void navigate({ search: (now) => ({ ...now, find: next.trim() || undefined }) })
          }
        />
      </div>
      {error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : found?.length === 0 ? (
        <p className="soft">{texts.types.none}</p>
      ) : (
        <Table label={texts.views.types} columns={COLUMNS} rows={found} keyOf={(each) => each.type} />
      )}
      {open && <Details key={open.type} type={open} onClose={() => show(undefined)} />}
      {isMaking && (
        <OwnType
          type={null}
          onClose={() => setMaking(false)}
          onDone={(name) => {
            setMaking(false);
            show(name);
          }}
        />
      )}
    </Page>
  );
}

/** A type in a drawer; an own one can be changed and deleted there. */
function Details({ type, onClose }: { type: EventType; onClose: () => void }) {
  const may = useMay();
  const [doing, setDoing] = useState<'change' | 'remove' | null>(null);
  const end = () => setDoing(null);
  return (
    <Drawer title={type.type} onClose={onClose}>
      {type.origin === 'own' && may.webhooks && (
        <div className="buttons">
          <Button onPress={() => setDoing('change')}>{texts.types.form.change}</Button>
          <Button kind="danger" onPress={() => setDoing('remove')}>
            {texts.types.form.remove}
          </Button>
        </div>
      )}
      <EventTypeDetails type={type} />
      {doing === 'change' && <OwnType type={type} onClose={end} onDone={end} />}
      {doing === 'remove' && (
        <ConfirmEnd
          operation="deleteEventType"
          input={{ path: [type.type] }}
          title={texts.types.form.remove}
          action={texts.types.form.remove}
          done={texts.types.form.removed}
          onClose={end}
          onDone={onClose}
        >
          <p>{texts.types.form.removing}</p>
        </ConfirmEnd>
      )}
    </Drawer>
  );
}
