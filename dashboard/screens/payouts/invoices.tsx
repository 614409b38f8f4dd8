import type { IssuedInvoices, Payout } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { InvoiceTable, useInvoices } from '../../parts/invoices.tsx';
import { toast } from '../../parts/toast.tsx';
import { invoices } from '../../texts/invoices.ts';

const texts = invoices.issue;
const REASONS = ['no_agreement', 'agreement_expired', 'no_rule', 'no_tax_id'] as const;

/** The invoices of a paid payout, and a button to issue missing ones. Renders nothing if the account issues none. */
export function PayoutInvoices({ payout }: { payout: Payout }) {
  const may = useMay();
  const list = useInvoices({ payout_id: payout.id });
  const { data: account } = useRead('getAccount', {});
  const issuing = useWrite('issueInvoices');
  const canIssue = may.write && Boolean(account?.invoicing) && Boolean(account?.tax_profile);
  if (list.total === undefined || (list.total === 0 && !canIssue)) return null;
  const issue = () =>
    issuing.mutate({ path: [payout.id] }, { onSuccess: ({ issued }) => toast(texts.done(issued)) });
  return (
    <section className="part invoices">
      <h2>{invoices.title}</h2>
      {canIssue && (
        <>
          <p className="hint">{texts.hint}</p>
          <div className="buttons">
            <Button icon="file" isBusy={issuing.isPending} onPress={issue}>
              {texts.action}
            </Button>
          </div>
        </>
      )}
      {issuing.error && <Problem error={issuing.error} />}
      {issuing.data?.has_more && <Notice tone="warn">{texts.more}</Notice>}
      {issuing.data && <Skipped issued={issuing.data} />}
      <InvoiceTable list={list} showsAffiliate />
    </section>
  );
}

/** How many affiliates got no invoice, by reason. */
function Skipped({ issued: { skipped } }: { issued: IssuedInvoices }) {
  const rows = REASONS.flatMap((reason) => {
    const who = new Set(
      skipped.filter((each) => each.reason === reason).map(({ affiliate_id }) => affiliate_id),
    );
    return who.size === 0 ? [] : [texts.reasons[reason](who.size)];
  });
  if (rows.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>{texts.skipped}</p>
      <ul>
        {rows.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      {skipped.length === MOST_SKIPPED && <p>{texts.atLeast}</p>}
    </Notice>
  );
}

/** The server lists at most this many. */
const MOST_SKIPPED = 1000;
