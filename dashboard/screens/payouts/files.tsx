import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Payout, PayoutLine, PayoutMethod } from '../../../src/client/api.ts';
import type { ApiError } from '../../../src/client/errors.ts';
import { PAYOUT_METHODS, PROVIDER_FORMATS } from '../../../src/kernel/payments.ts';
import { download } from '../../data/api.ts';
import { downloads, type Snapshot, worthOf } from '../../data/payouts.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { relative, whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { type Sum, sumsOf } from '../../parts/sums.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Money, Status } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.files;
/** The methods whose providers take a file; the formats are called the same. */
const WITH_FILE: ReadonlySet<string> = new Set(PROVIDER_FORMATS);

export interface Share extends Sum {
  readonly method: PayoutMethod | 'none';
}

/** What is paid by which method in which currency: each is a file, or is paid by hand. */
export function sharesOf(lines: readonly PayoutLine[]): Share[] {
  return ([...PAYOUT_METHODS, 'none'] as const).flatMap((method) =>
    sumsOf(lines.filter((line) => (line.payout_method ?? 'none') === method)).map((sum) => ({
      method,
      ...sum,
    })),
  );
}

/** What this payout needs: a file for each method and currency. */
export function Files({ payout, lines }: { payout: Payout; lines: readonly PayoutLine[] | undefined }) {
  const columns: readonly Column<Share>[] = [
    {
      title: texts.method,
      cell: ({ method, currency }) => (
        <b>
          {payouts.methods[method]} · {currency.toUpperCase()}
        </b>
      ),
    },
    { title: payouts.columns.affiliates, isFigure: true, isWide: true, cell: ({ count }) => whole(count) },
    {
      title: texts.total,
      isFigure: true,
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    {
      title: texts.download,
      cell: (share) =>
        WITH_FILE.has(share.method) ? (
          <FileDownload payout={payout} lines={lines ?? []} share={share} />
        ) : (
          <span className="soft">{texts.noFile}</span>
        ),
    },
  ];
  return (
    <>
      <Card>
        <p className="soft">{texts.lead}</p>
      </Card>
      <Table
        label={payouts.steps.files}
        columns={columns}
        rows={lines && sharesOf(lines)}
        keyOf={({ method, currency }) => `${method} ${currency}`}
      />
      <div className="next">
        <a
          className="button quiet"
          href={`/v2/affiliates/payouts/${payout.id}/payment-files/summary`}
          download={`payout-${payout.number}-summary.csv`}
        >
          <Icon name="file" />
          {texts.summary}
        </a>
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

/** Downloads one file, and keeps what the payout was then. A refusal says whom the file cannot pay. */
function FileDownload({
  payout,
  lines,
  share: { method, currency },
}: {
  payout: Payout;
  lines: readonly PayoutLine[];
  share: Share;
}) {
  const file = `${method}.${currency}`;
  const [kept, setKept] = useState<Snapshot | null>(() => downloads.of(payout.id, file));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [skipped, setSkipped] = useState('0');
  const start = async (allowSkipped: boolean) => {
    setBusy(true);
    setError(null);
    try {
      const query = { currency, ...(allowSkipped ? { allow_skipped: true } : {}) };
      const { blob, name, headers } = await download('downloadPaymentFile', {
        path: [payout.id, method],
        query,
      });
      saveFile({ blob, name });
      setSkipped(headers.get('payhook-skipped-affiliates') ?? '0');
      if (payout.status === 'unpaid') {
        const snapshot = { revision: payout.revision, at: new Date().toISOString(), worth: worthOf(lines) };
        downloads.keep(payout.id, file, snapshot);
        setKept(snapshot);
      }
    } catch (refused) {
      setError(refused as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div className="buttons">
        <Button icon="download" isBusy={isBusy} onPress={() => void start(false)}>
          {texts.download}
          <span className="hidden-text">
            {' '}
            {texts.downloadFor(`${payouts.methods[method]}, ${currency.toUpperCase()}`)}
          </span>
        </Button>
        {kept && kept.revision !== payout.revision && payout.status === 'unpaid' && (
          <Status tone="warn" label={texts.outdated} />
        )}
      </div>
      {kept && (
        <span className="second">{texts.downloaded(relative(kept.at, Date.now()), kept.revision)}</span>
      )}
      {skipped !== '0' && <span className="second">{texts.skipped(skipped)}</span>}
      {error && (
        <div className="file-problem">
          <Problem error={error} />
          {error.reason === 'affiliates_not_in_file' && (
            <Button onPress={() => void start(true)}>{texts.without}</Button>
          )}
        </div>
      )}
    </>
  );
}
