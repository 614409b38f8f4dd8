import { getRouteApi, Link } from '@tanstack/react-router';
import type { EventType } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { Code } from '../../parts/code.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { SearchField } from '../../parts/field.tsx';
import { Drawer } from '../../parts/overlay.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink, Table } from '../../parts/table.tsx';
import { events as texts } from '../../texts/events.ts';
import { Views } from './views.tsx';
import './events.css';

const route = getRouteApi('/events/types');

const COLUMNS: readonly Column<EventType>[] = [
  {
    title: texts.type,
    cell: ({ type, description }) => (
      <>
        <Link {...rowLink} from="/events/types" to="/events/types" search={(now) => ({ ...now, type })}>
          {type}
        </Link>
        <span className="second narrow-only">{description}</span>
      </>
    ),
  },
  { title: texts.types.when, isWide: true, cell: ({ description }) => description },
];

/** /events/types: the published types, each with its schema and an example */
export function EventTypes() {
  const { find = '', type } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useRead('listEventTypes', { query: { per_page: 100 } });
  const found = data?.data.filter((each) =>
    `${each.type} ${each.description}`.toLowerCase().includes(find.toLowerCase()),
  );
  const open = data?.data.find((each) => each.type === type);
  return (
    <Page title={texts.title} name={`${texts.views.types} · ${texts.title}`} lead={texts.types.lead}>
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
      {open && (
        <Drawer
          title={open.type}
          onClose={() => void navigate({ search: (now) => ({ ...now, type: undefined }) })}
        >
          <p>{open.description}</p>
          <h3 className="event-part">{texts.types.example}</h3>
          <Code label={texts.types.example}>{JSON.stringify(open.example)}</Code>
          <h3 className="event-part">{texts.types.schema}</h3>
          <Code label={texts.types.schema}>{JSON.stringify(open.schema)}</Code>
        </Drawer>
      )}
    </Page>
  );
}
