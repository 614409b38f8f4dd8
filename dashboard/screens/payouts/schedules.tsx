import { getRouteApi, Link } from '@tanstack/react-router';
import type { PayoutSchedule } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Empty } from '../../parts/feedback.tsx';
import { day } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Name, Status } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { schedules as texts } from '../../texts/schedules.ts';
import { LastRun, Schedule } from './schedule.tsx';
import { ScheduleForm } from './schedule-form.tsx';

const route = getRouteApi('/payouts/schedules');

const COLUMNS: readonly Column<PayoutSchedule>[] = [
  {
    title: texts.columns.name,
    sort: 'name',
    cell: ({ id, name }) => (
      <Link {...rowLink} to="/payouts/schedules" search={(before) => ({ ...before, open: id })}>
        <Name>{name}</Name>
      </Link>
    ),
  },
  { title: texts.columns.due, isWide: true, cell: ({ every, day: on }) => texts.due(every, on) },
  {
    title: texts.columns.next,
    cell: ({ next_on }) =>
      next_on === null ? <Status tone="neutral" label={texts.status.off} /> : day(next_on),
  },
  { title: texts.columns.last, isWide: true, cell: ({ last_run }) => <LastRun run={last_run} /> },
];

/** /payouts/schedules */
export function ScheduleList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { open } = search;
  const change = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next } });
  const close = () => change({ open: undefined });
  const list = useList('listPayoutSchedules', {
    place: search,
    onPlace: (next) => change({ page: undefined, ...next }),
  });
  const primary = may.write && (
    <Link
      className="button primary"
      to="/payouts/schedules"
      search={(before) => ({ ...before, open: 'new' })}
    >
      <Icon name="plus" />
      {texts.new}
    </Link>
  );
  return (
    <Page
      title={texts.title}
      lead={may.write ? texts.lead : texts.viewer}
      above={
        <Link to="/payouts">
          <Icon name="left" />
          {payouts.title}
        </Link>
      }
      actions={
        <>
          <ListMenu {...list} />
          {primary}
        </>
      }
    >
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="clock" title={texts.empty.title} actions={primary}>
            {texts.empty.lead}
          </Empty>
        }
      />
      {open === 'new' && may.write && <ScheduleForm before={null} onClose={close} />}
      {open !== undefined && open !== 'new' && <Schedule id={open} onClose={close} />}
    </Page>
  );
}
