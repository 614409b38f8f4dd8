import { useRead } from '../../data/queries.ts';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Moneys } from '../../parts/values.tsx';
import { payouts as texts } from '../../texts/payouts.ts';

/** /payouts/new */
export function NewPayout() {
  const { data: preview, error, refetch } = useRead('previewPayout', { body: {} });
  return (
    <Page title={texts.new}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {preview === undefined ? (
        <Skeleton />
      ) : (
        <Card>
          <Moneys amounts={preview.totals} />
        </Card>
      )}
    </Page>
  );
}
