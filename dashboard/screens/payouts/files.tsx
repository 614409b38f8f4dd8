import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NeededPaymentFile, PaymentFileDownload, Payout } from '../../../src/client/api.ts';
import type { ApiError } from '../../../src/client/errors.ts';
import { download } from '../../data/api.ts';
import { useMay } from '../../data/me.ts';
import { outdatedDownloads, usePaymentFiles } from '../../data/payouts.ts';
import { queries } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Money, Name, Status, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { InSeveralFiles } from './several-files.tsx';

const texts = payouts.files;

/** Affiliates that are paid together: by a file, or manually. */
interface Needed {
  readonly method: NeededPaymentFile['format'] | 'other';
  readonly currency: string;
  readonly affiliate_count: number;
  readonly amount: number;
  /** null = no format supports it. */
  readonly file: NeededPaymentFile | null;
}

/** The payment files of this payout according to the server: one per method and currency, with their downloads. */
export function Files({ payout }: { payout: Payout }) {
  const { data, error, refetch } = usePaymentFiles(payout);
  const may = useMay();
  const columns: readonly Column<Needed>[] = [
    {
      title: texts.method,
      cell: ({ method, currency, amount }) => (
        <>
          <b className="unbroken">
            {payouts.methods[method]} · {currency.toUpperCase()}
          </b>
          <span className="second narrow-only">
            <Money amount={amount} currency={currency} />
          </span>
        </>
      ),
    },
    {
      title: payouts.columns.affiliates,
      isFigure: true,
      isWide: true,
      cell: ({ affiliate_count }) => whole(affiliate_count),
    },
    {
      title: texts.total,
      isFigure: true,
      isWide: true,
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    {
      title: texts.file,
      cell: ({ file }) =>
        file === null ? (
          <span className="soft">{texts.noFile}</span>
        ) : (
          <File payout={payout} file={file} onDownload={() => void queries.invalidateQueries()} />
        ),
    },
  ];
  const needed: Needed[] | undefined = data && [
    ...data.files.map((file) => ({ ...file, method: file.format, file })),
    ...data.by_hand.map((sum) => ({ ...sum, method: 'other' as const, file: null })),
  ];
  return (
    <>
      <Card>
        <p className="soft">{texts.lead}</p>
        {!may.files && <p className="soft">{texts.viewer}</p>}
      </Card>
      {data && <InSeveralFiles files={data} />}
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {(needed || !error) && (
        <Table
          label={payouts.steps.files}
          columns={columns}
          rows={needed}
          keyOf={({ method, currency }) => `${method} ${currency}`}
        />
      )}
      <div className="next">
        {may.files && (
          <a
            className="button quiet"
            href={`/v2/affiliates/payouts/${payout.id}/payment-files/summary`}
            download={`payout-${payout.number}-summary.csv`}
          >
            <Icon name="file" />
            {texts.summary}
          </a>
        )}
        {payout.status === 'unpaid' && (
          <Link
            className="button primary"
            to="/payouts/$id"
            params={{ id: payout.id }}
            search={{ step: 'send' }}
          >
            {texts.next}
          </Link>
        )}
      </div>
    </>
  );
}

/** A file: its download, whole or in parts, whom it leaves out, and who downloaded it before. */
function File({
  payout,
  file,
  onDownload,
}: {
  payout: Payout;
  file: NeededPaymentFile;
  onDownload: () => void;
}) {
  const { format, currency, part_count: parts, skipped_count: skipped } = file;
  const may = useMay();
  const [busy, setBusy] = useState<number | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const start = async (part: number) => {
    setBusy(part);
    setError(null);
    try {
      const query = {
        currency,
        ...(parts > 1 ? { part } : {}),
        // every file skips affiliates that another file pays; those that no file pays are listed below
        allow_skipped: true,
      };
      saveFile(await download('downloadPaymentFile', { path: [payout.id, format], query }));
      onDownload();
    } catch (refused) {
      setError(refused as ApiError);
    } finally {
      setBusy(null);
    }
  };
  const name = texts.downloadFor(`${payouts.methods[format]}, ${currency.toUpperCase()}`);
  return (
    <>
      {parts === 0 && <span className="soft">{texts.nobody}</span>}
      <div className="buttons">
        {Array.from({ length: may.files ? parts : 0 }, (_, index) => (
          <Button
            key={index}
            icon="download"
            isBusy={busy === index + 1}
            onPress={() => void start(index + 1)}
          >
            {parts > 1 ? texts.part(index + 1, parts) : skipped > 0 ? texts.without(skipped) : texts.download}
            <span className="hidden-text"> {name}</span>
          </Button>
        ))}
        {outdatedDownloads(file).length > 0 && payout.status === 'unpaid' && (
          <Status tone="warn" label={texts.outdated} />
        )}
      </div>
      {error && <Problem error={error} />}
      <Downloads downloads={file.downloads} />
      {file.above_limit_count > 0 && (
        <span className="second">{texts.aboveLimit(file.above_limit_count)}</span>
      )}
      {file.warnings.map(({ code, message, affiliate_count }) => (
        <span key={code} className="second">
          <Status tone="warn" label={texts.warning} /> {message} ({texts.concerned(affiliate_count)})
        </span>
      ))}
      {skipped > 0 && <Skipped file={file} />}
      {file.rewritten_count > 0 && <Rewritten file={file} />}
    </>
  );
}

/** Who downloaded a file, when and at which revision: the last download, and the others on demand. */
function Downloads({ downloads }: { downloads: readonly PaymentFileDownload[] }) {
  const [last, ...earlier] = downloads;
  if (last === undefined) return null;
  return (
    <>
      <Downloaded download={last} />
      {earlier.length > 0 && (
        <details className="second">
          <summary>{texts.earlier(earlier.length)}</summary>
          {earlier.map((each) => (
            <Downloaded key={`${each.downloaded_at} ${each.part}`} download={each} />
          ))}
        </details>
      )}
    </>
  );
}

function Downloaded({
  download: { by, downloaded_at, revision, part, is_outdated, message_id },
}: {
  download: PaymentFileDownload;
}) {
  return (
    <span className="second">
      {part === null ? texts.downloaded : texts.downloadedPart(part)} <Time at={downloaded_at} />,{' '}
      {texts.revision(revision)}, {texts.by} <Name>{by.name ?? by.id}</Name>
      {message_id !== null && <>, {message_id}</>}
      {is_outdated && <>, {texts.outdated.toLowerCase()}</>}
    </span>
  );
}

/** The account holders that a file has to spell differently. */
function Rewritten({ file: { rewritten, rewritten_count: all } }: { file: NeededPaymentFile }) {
  return (
    <details className="second">
      <summary>{texts.rewritten(all)}</summary>
      <p>{texts.rewrittenAdvice}</p>
      <ul>
        {rewritten.map(({ affiliate_id, account_holder, holder_in_files }) => (
          <li key={affiliate_id}>
            <Link to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
              <Name>{account_holder}</Name>
            </Link>
            {': '}
            <Name>{holder_in_files}</Name>
          </li>
        ))}
        {all > rewritten.length && <li>{payouts.changes.more(all - rewritten.length)}</li>}
      </ul>
    </details>
  );
}

/** The affiliates that a file cannot pay, with reasons. */
function Skipped({
  file: { skipped, skipped_count, skipped_amount, currency },
}: {
  file: NeededPaymentFile;
}) {
  return (
    <details className="second">
      <summary>
        {texts.skipped(skipped_count)} <Money amount={skipped_amount} currency={currency} />
      </summary>
      <ul>
        {skipped.map(({ affiliate_id, name, amount, reason }) => (
          <li key={affiliate_id}>
            <Link to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
              <Name>{name ?? `#${affiliate_id}`}</Name>
            </Link>{' '}
            <Money amount={amount} currency={currency} />: {reason}
          </li>
        ))}
        {skipped_count > skipped.length && <li>{payouts.changes.more(skipped_count - skipped.length)}</li>}
      </ul>
    </details>
  );
}
