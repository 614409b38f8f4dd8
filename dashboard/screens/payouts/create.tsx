import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { PayoutFilters, PayoutPreview, PayoutSelection } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { copyCurl } from '../../parts/copy.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { money } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { sumTexts } from '../../parts/sums.ts';
import { toast } from '../../parts/toast.tsx';
import { Moneys } from '../../parts/values.tsx';
import { common, listed } from '../../texts/common.ts';
import { payouts } from '../../texts/payouts.ts';
import { withTax } from '../../texts/with-tax.ts';
import { LeftOut, WouldBePaid } from './preview.tsx';
import { Sentences } from './sentences.tsx';
import { PreviewSignals } from './signals.tsx';
import { amountsToPay } from './with-tax.tsx';

const route = getRouteApi('/payouts/new');
const texts = payouts.create;

/** The request for the search parameters of the screen. */
function selectionOf(search: ReturnType<typeof route.useSearch>): PayoutSelection {
  const filters: PayoutFilters = {
    ...(search.method ? { payout_method: search.method } : {}),
    ...(search.currency ? { currency: search.currency } : {}),
    ...(search.program ? { program_id: search.program } : {}),
    ...(search.until ? { occurred_at: { lte: search.until } } : {}),
    ...(search.without ? { affiliate_id: { nin: [...search.without] } } : {}),
  };
  return {
    ...(Object.keys(filters).length > 0 ? { filters } : {}),
    ...(search.search ? { search: search.search } : {}),
    ...(search.minimum ? { ignore_minimum: true } : {}),
  };
}

/** /payouts/new: the filters as sentences, next to a preview of the payout. */
export function NewPayout() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const body = selectionOf(search);
  const reading = useRead('previewPayout', { body }, { keepsPrevious: true });
  const create = useWrite('createPayout');
  const preview = reading.data;
  const submit = () =>
    create.mutate(
      { body },
      {
        onSuccess: ({ id }) => {
          toast(texts.done);
          void navigate({ to: '/payouts/$id', params: { id } });
        },
      },
    );
  const isEmpty = preview?.affiliate_count === 0;
  return (
    <Page
      title={texts.title}
      lead={may.write ? texts.lead : payouts.viewer}
      above={
        <Link to="/payouts">
          <Icon name="left" />
          {texts.back}
        </Link>
      }
      actions={
        <>
          <Button kind="quiet" icon="copy" onPress={() => copyCurl('createPayout', { body })}>
            {common.copyAsCurl}
          </Button>
          {may.write && (
            <Button
              kind="primary"
              isBusy={create.isPending}
              isDisabled={preview === undefined || isEmpty || preview.current_payout_id !== null}
              onPress={submit}
            >
              {preview && !isEmpty ? texts.doIt(payouts.affiliates(preview.affiliate_count)) : texts.action}
            </Button>
          )}
        </>
      }
    >
      {create.error && <Problem error={create.error} />}
      {preview?.current_payout_id && (
        <Notice
          tone="warn"
          actions={
            <Link className="button plain" to="/payouts/$id" params={{ id: preview.current_payout_id }}>
              {texts.openCurrent}
            </Link>
          }
        >
          <p>{texts.current}</p>
        </Notice>
      )}
      <Sentences />
      {reading.error && <Problem error={reading.error} onRetry={() => void reading.refetch()} />}
      {preview === undefined ? (
        !reading.error && <Skeleton lines={5} />
      ) : (
        <Preview preview={preview} body={body} />
      )}
    </Page>
  );
}

/** The preview: totals, how they have changed, who is paid and who is left out. */
function Preview({ preview, body }: { preview: PayoutPreview; body: PayoutSelection }) {
  const search = route.useSearch();
  const before = usePrevious(preview, JSON.stringify(body));
  const leftOut = leftOutOf(preview);
  return (
    <>
      <div className="figures" aria-live="polite">
        <div>
          <span className="soft">{texts.total}</span>
          <Moneys amounts={amountsToPay(preview.totals)} isStrong />
          {preview.totals.some(({ with_tax }) => with_tax !== undefined) && (
            <span className="soft">{withTax.ofIt(sumTexts(preview.totals))}</span>
          )}
        </div>
        <div>
          <span className="soft">{texts.pays}</span>
          <b>{payouts.affiliates(preview.affiliate_count)}</b>
          <span className="soft">{payouts.commissions(preview.commission_count)}</span>
        </div>
        {before && (
          <div>
            <span className="soft">{texts.compared}</span>
            {differences(before, preview).map((text) => (
              <span key={text}>{text}</span>
            ))}
          </div>
        )}
      </div>
      <PreviewSignals preview={preview} body={body} />
      <Tabs label={texts.title}>
        <Link
          to="/payouts/new"
          search={{ ...search, view: undefined, page: undefined }}
          className={search.view ? undefined : 'active'}
          activeProps={{}}
        >
          {texts.pays} ({preview.affiliate_count})
        </Link>
        <Link
          to="/payouts/new"
          search={{ ...search, view: 'out', page: undefined }}
          className={search.view ? 'active' : undefined}
          activeProps={{}}
        >
          {texts.leavesOut} ({leftOut})
        </Link>
      </Tabs>
      {search.view === 'out' ? <LeftOut body={body} /> : <WouldBePaid body={body} />}
    </>
  );
}

/** The preview of the previous filters. */
function usePrevious(preview: PayoutPreview, of: string): PayoutPreview | null {
  const seen = useRef<{ of: string; preview: PayoutPreview; before: PayoutPreview | null }>({
    of,
    preview,
    before: null,
  });
  useEffect(() => {
    const last = seen.current;
    seen.current = { of, preview, before: last.of === of ? last.before : last.preview };
  }, [preview, of]);
  return seen.current.of === of ? seen.current.before : seen.current.preview;
}

/** The number of balances left out, as the list shows them: one for each affiliate, currency and reason. */
const leftOutOf = ({ excluded }: PayoutPreview) =>
  excluded.flatMap(({ totals }) => totals).reduce((sum, { affiliate_count }) => sum + affiliate_count, 0);

/** The difference from another preview: sums paid, and affiliates left out. */
function differences(before: PayoutPreview, after: PayoutPreview): string[] {
  const word = (difference: number, text: string) => (difference > 0 ? texts.more(text) : texts.less(text));
  const people = after.affiliate_count - before.affiliate_count;
  const currencies = [...new Set([...before.totals, ...after.totals].map(({ currency }) => currency))].sort();
  const amountIn = ({ totals }: PayoutPreview, currency: string) =>
    totals.find((total) => total.currency === currency)?.amount ?? 0;
  const parts = [
    ...(people === 0 ? [] : [word(people, payouts.affiliates(Math.abs(people)))]),
    ...currencies
      .map((currency) => ({ currency, amount: amountIn(after, currency) - amountIn(before, currency) }))
      .filter(({ amount }) => amount !== 0)
      .map(({ currency, amount }) => word(amount, money({ currency, amount: Math.abs(amount) }))),
  ];
  const leftOutIn = ({ excluded }: PayoutPreview) =>
    excluded.reduce((sum, { affiliate_count }) => sum + affiliate_count, 0);
  const leftOut = leftOutIn(after) - leftOutIn(before);
  const lines = [
    ...(parts.length === 0 ? [] : [listed(parts)]),
    ...(leftOut === 0 ? [] : [texts.alsoLeftOut(word(leftOut, payouts.affiliates(Math.abs(leftOut))))]),
  ];
  return lines.length === 0 ? [texts.same] : lines;
}
