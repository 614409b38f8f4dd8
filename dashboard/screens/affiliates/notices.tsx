import { useState } from 'react';
import type { AffiliateNotice, AffiliateWithBalance } from '../../../src/client/api.ts';
import { pageSize } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Problem } from '../../parts/feedback.tsx';
import { Pager } from '../../parts/listing.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { notices } from '../../texts/notices.ts';

const texts = notices.list;
const TONES = { waiting: 'info', sent: 'good', failed: 'bad' } as const;

/** The e-mails to an affiliate that wait, or were sent or failed lately. Renders nothing if there are none. */
export function AffiliateEmails({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const [page, setPage] = useState(1);
  const query = { affiliate_id: affiliate.id, page, per_page: Number(pageSize.use()) };
  const reading = useRead('listAffiliateNotices', { query }, { isLive: true, keepsPrevious: true });
  const { data, error, isPlaceholderData, refetch } = reading;
  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data?.pagination.total) return null;
  return (
    <section className="part">
      <h2>{texts.title}</h2>
      <Table
        label={texts.title}
        columns={COLUMNS}
        rows={data.data}
        keyOf={({ id }) => id}
        isStale={isPlaceholderData}
      />
      <p className="hint">{texts.hint}</p>
      {data.pagination.pages > 1 && (
        <Pager label={texts.title} pagination={data.pagination} onPage={setPage} />
      )}
    </section>
  );
}

const addressOf = ({ is_to_former_address }: AffiliateNotice) =>
  is_to_former_address ? texts.former : texts.own;

const COLUMNS: readonly Column<AffiliateNotice>[] = [
  {
    title: notices.kind,
    cell: (each) => (
      <>
        {notices.kinds[each.kind]}
        <span className="second narrow-only">{addressOf(each)}</span>
      </>
    ),
  },
  { title: texts.to, isWide: true, cell: addressOf },
  {
    title: texts.status,
    cell: ({ status }) => <Status tone={TONES[status]} label={texts.statuses[status]} />,
  },
  { title: texts.recorded, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: texts.sentAt, cell: ({ sent_at }) => <Time at={sent_at} /> },
  {
    title: texts.error,
    isBelow: true,
    cell: ({ error }) => error !== null && <Name>{error}</Name>,
  },
];
