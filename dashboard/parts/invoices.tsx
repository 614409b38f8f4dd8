import { useState } from 'react';
import type { Invoice } from '../../src/client/api.ts';
import { download } from '../data/api.ts';
import { useMay } from '../data/me.ts';
import { pageSize } from '../data/preferences.ts';
import { useRead } from '../data/queries.ts';
import { invoices as texts } from '../texts/invoices.ts';
import { Button } from './button.tsx';
import { AffiliateLink } from './commissions.tsx';
import { Notice, Problem } from './feedback.tsx';
import { Pager } from './listing.tsx';
import { saveFile } from './save.ts';
import { type Column, Table } from './table.tsx';
import { Money, Status } from './values.tsx';

type Query = { readonly payout_id: string } | { readonly affiliate_id: number };

/** The invoices of a payout or an affiliate, with pages. */
export function useInvoices(of: Query) {
  const [page, setPage] = useState(1);
  const query = { ...of, page, per_page: Number(pageSize.use()) };
  const reading = useRead('listInvoices', { query }, { isLive: true, keepsPrevious: true });
  return { reading, total: reading.data?.pagination.total, setPage };
}

/** Invoices and credit notes with their files; `showsAffiliate` if they are of several affiliates. */
export function InvoiceTable({
  list: { reading, setPage },
  showsAffiliate = false,
}: {
  list: ReturnType<typeof useInvoices>;
  showsAffiliate?: boolean;
}) {
  const [error, setError] = useState<Error | null>(null);
  const { data, error: unread, isPlaceholderData, refetch } = reading;
  if (unread && data === undefined) return <Problem error={unread} onRetry={() => void refetch()} />;
  if (data?.pagination.total === 0) return <p className="soft">{texts.none}</p>;
  return (
    <>
      {error && <Problem error={error} />}
      {channelsIn(data?.data).map((channel) => (
        <Notice key={channel} tone="warn">
          {texts.channels[channel]}
        </Notice>
      ))}
      <Table
        label={texts.title}
        columns={columnsFor(showsAffiliate, setError)}
        rows={data?.data}
        keyOf={({ id }) => id}
        isStale={isPlaceholderData}
      />
      {data && data.pagination.pages > 1 && (
        <Pager label={texts.title} pagination={data.pagination} onPage={setPage} />
      )}
    </>
  );
}

/** The channels that invoices must be sent through. */
const channelsIn = (invoices: readonly Invoice[] = []) => [
  ...new Set(invoices.flatMap(({ channel }) => (channel === null ? [] : [channel]))),
];

const { columns } = texts;

function columnsFor(showsAffiliate: boolean, onError: (error: Error | null) => void): Column<Invoice>[] {
  return [
    {
      title: columns.number,
      cell: ({ number, affiliate_id }) => (
        <>
          {number}
          {showsAffiliate && (
            <span className="second narrow-only">
              <AffiliateLink id={affiliate_id} />
            </span>
          )}
        </>
      ),
    },
    {
      title: columns.kind,
      isWide: true,
      cell: ({ kind }) => texts.kind[kind],
    },
    ...(showsAffiliate
      ? [
          {
            title: columns.affiliate,
            isWide: true,
            cell: (each: Invoice) => <AffiliateLink id={each.affiliate_id} />,
          },
        ]
      : []),
    { title: columns.issued, isWide: true, cell: (each) => each.issued_on },
    ...(['net', 'tax'] as const).map((sum) => ({
      title: columns[sum],
      isFigure: true,
      isWide: true,
      cell: (each: Invoice) => <Money amount={each[`${sum}_amount`]} currency={each.currency} />,
    })),
    {
      title: columns.total,
      isFigure: true,
      // a credit note takes its amounts back
      cell: ({ kind, amount, currency }) => (
        <Money amount={kind === 'invoice' ? amount : -amount} currency={currency} isStrong />
      ),
    },
    { title: columns.files, cell: (invoice) => <Files invoice={invoice} onError={onError} /> },
  ];
}

const FORMATS = ['pdf', 'xml', 'ubl'] as const;
type Format = (typeof FORMATS)[number];

/** Buttons that save the files of an invoice. */
function Files({ invoice, onError }: { invoice: Invoice; onError: (error: Error | null) => void }) {
  const may = useMay();
  if (!may.files) return <span className="soft">{texts.viewer}</span>;
  if (invoice.seller.tax_id?.is_lost) return <Status tone="warn" label={texts.lost} />;
  return (
    <InvoiceFiles
      titleOf={(format) => texts[`${format}Of`](invoice.number)}
      take={(format) => download('downloadInvoice', { path: [invoice.id], query: { format } })}
      onError={onError}
    />
  );
}

/** A button for each format, which saves the file that `take` returns. */
export function InvoiceFiles({
  labels = texts,
  titleOf,
  take,
  onError,
}: {
  labels?: Readonly<Record<Format, string>>;
  titleOf?: (format: Format) => string;
  take: (format: Format) => ReturnType<typeof download>;
  onError: (error: Error | null) => void;
}) {
  const [busy, setBusy] = useState<Format | null>(null);
  const save = async (format: Format) => {
    setBusy(format);
    onError(null);
    try {
      saveFile(await take(format));
    } catch (refused) {
      onError(refused as Error);
    } finally {
      setBusy(null);
    }
  };
  return (
    <div className="buttons">
      {FORMATS.map((format) => (
        <Button
          key={format}
          isBusy={busy === format}
          title={titleOf?.(format)}
          onPress={() => void save(format)}
        >
          {labels[format]}
        </Button>
      ))}
    </div>
  );
}
