import { useState } from 'react';
import type { AffiliateWithBalance, StatementBalance } from '../../../src/client/api.ts';
import { download, requestOf } from '../../data/api.ts';
import { useRead } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { Select } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Card } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Money } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';

const texts = affiliates.statement;
const ALWAYS = 'all';

/** The statement of an affiliate for a year: owed, earned and paid. Also as a file. */
export function Statement({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const years = yearsSince(affiliate.created_at);
  const [chosen, choose] = useState(years[0] ?? ALWAYS);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState<'pdf' | 'csv' | null>(null);
  const query = chosen === ALWAYS ? {} : { year: chosen };
  const { data, error: unread, refetch } = useRead('getAffiliateStatement', { path: [affiliate.id], query });
  const save = async (format: 'pdf' | 'csv') => {
    setBusy(format);
    setError(null);
    try {
      saveFile(
        await download('downloadAffiliateStatement', { path: [affiliate.id], query: { ...query, format } }),
      );
    } catch (refused) {
      setError(refused as Error);
    } finally {
      setBusy(null);
    }
  };
  const page = { path: [affiliate.id], query: { ...query, format: 'html' } };
  return (
    <Card
      title={texts.title}
      actions={
        <Select
          label={texts.period}
          value={chosen}
          options={[...years, ALWAYS].map((year) => ({
            value: year,
            label: year === ALWAYS ? texts.always : year,
          }))}
          onChange={choose}
        />
      }
    >
      {unread && <Problem error={unread} onRetry={() => void refetch()} />}
      {error && <Problem error={error} />}
      {data === undefined && !unread && <Skeleton lines={2} />}
      {data?.currencies.length === 0 && <p className="soft">{texts.nothing}</p>}
      {data !== undefined && data.currencies.length > 0 && (
        <Table
          label={texts.title}
          isStacked
          columns={columnsFor(data.currencies)}
          rows={data.currencies}
          keyOf={({ currency }) => currency}
        />
      )}
      <div className="buttons">
        <Button icon="file" isBusy={busy === 'pdf'} onPress={() => void save('pdf')}>
          {texts.pdf}
        </Button>
        <a
          className="button plain"
          href={requestOf('downloadAffiliateStatement', page).address}
          target="_blank"
          rel="noreferrer"
        >
          <Icon name="print" />
          {texts.print}
        </a>
        <Button icon="download" isBusy={busy === 'csv'} onPress={() => void save('csv')}>
          {texts.csv}
        </Button>
      </div>
    </Card>
  );
}

/** The years from now back to the year of an instant, newest first. */
function yearsSince(instant: string): string[] {
  const [first, last] = [new Date(instant).getUTCFullYear(), new Date(serverNow()).getUTCFullYear()];
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => String(last - index));
}

const SUMS = ['earned', 'adjusted', 'refunded', 'voided', 'paid', 'returned'] as const;

/** The opening and closing balances, and the changes between them. */
function columnsFor(rows: readonly StatementBalance[]): Column<StatementBalance>[] {
  const changed = SUMS.filter((sum) => rows.some((row) => row[`${sum}_amount`] !== 0));
  return [
    { title: affiliates.columns.currency, cell: ({ currency }) => currency.toUpperCase() },
    ...(['opening', ...changed, 'closing'] as const).map((sum) => ({
      title: texts.sums[sum],
      isFigure: true,
      cell: (row: StatementBalance) => (
        <Money amount={row[`${sum}_amount`]} currency={row.currency} isStrong={sum === 'closing'} />
      ),
    })),
  ];
}
