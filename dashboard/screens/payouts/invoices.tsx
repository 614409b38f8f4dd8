import { useState } from 'react';
import type { IssuedInvoices, IssueInvoicesBody, Payout } from '../../../src/client/api.ts';
import { download } from '../../data/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { TextField } from '../../parts/field.tsx';
import { InvoiceFiles, InvoiceTable, useInvoices } from '../../parts/invoices.tsx';
import { toast } from '../../parts/toast.tsx';
import { invoices } from '../../texts/invoices.ts';

const texts = invoices.issue;
const REASONS = [
  'no_agreement',
  'agreement_expired',
  'no_rule',
  'no_rate',
  'no_tax_id',
  'tax_not_paid',
] as const;

/** The invoices of a paid payout, and a button to issue missing ones. Renders nothing if the account issues none. */
export function PayoutInvoices({ payout }: { payout: Payout }) {
  const may = useMay();
  const list = useInvoices({ payout_id: payout.id });
  const { data: account } = useRead('getAccount', {});
  const issuing = useWrite('issueInvoices');
  const canIssue = may.write && Boolean(account?.invoicing) && Boolean(account?.tax_profile);
  if (list.total === undefined || (list.total === 0 && !canIssue)) return null;
  const issue = (body: IssueInvoicesBody = {}) =>
    issuing.mutate({ path: [payout.id], body }, { onSuccess: ({ issued }) => toast(texts.done(issued)) });
  const pairs = pairsIn(issuing.data?.skipped ?? []);
  return (
    <section className="part invoices">
      <h2>{invoices.title}</h2>
      {canIssue && (
        <>
          <p className="hint">{texts.hint}</p>
          <div className="buttons">
            <Button icon="file" isBusy={issuing.isPending} onPress={() => issue()}>
              {texts.action}
            </Button>
          </div>
        </>
      )}
      {may.files && list.total > 0 && <AllFiles payout={payout} />}
      {issuing.error && <Problem error={issuing.error} />}
      {issuing.data?.has_more && <Notice tone="warn">{texts.more}</Notice>}
      {issuing.data && <Skipped issued={issuing.data} />}
      {pairs.length > 0 && (
        <RateForm key={pairs.join()} pairs={pairs} isBusy={issuing.isPending} onIssue={issue} />
      )}
      <InvoiceTable list={list} showsAffiliate />
    </section>
  );
}

/** Buttons that save all invoices of a payout as an archive. */
function AllFiles({ payout }: { payout: Payout }) {
  const [error, setError] = useState<Error | null>(null);
  return (
    <>
      {error && <Problem error={error} />}
      <p className="hint">{invoices.allHint}</p>
      <InvoiceFiles
        labels={invoices.all}
        take={(format) => download('downloadInvoicesOfPayout', { path: [payout.id], query: { format } })}
        onError={setError}
      />
    </>
  );
}

/** The pairs of currencies, such as usd/eur, of which a rate is missing. */
const pairsIn = (skipped: IssuedInvoices['skipped']): string[] => [
  ...new Set(
    skipped.flatMap(({ currency, national_currency: national }) =>
      national ? [`${currency}/${national}`] : [],
    ),
  ),
];

/** The exchange rates that the invoices still need. */
function RateForm({
  pairs,
  isBusy,
  onIssue,
}: {
  pairs: readonly string[];
  isBusy: boolean;
  onIssue: (body: IssueInvoicesBody) => void;
}) {
  const [rates, setRates] = useState<Readonly<Record<string, string>>>({});
  const [quotedOn, setQuotedOn] = useState('');
  const [source, setSource] = useState('');
  const given = pairs.filter((pair) => rates[pair]?.trim());
  const issue = () =>
    onIssue({
      rates: given.map((pair) => {
        const [currency = '', national_currency = ''] = pair.split('/');
        const rate = rates[pair]?.trim() ?? '';
        return { currency, national_currency, rate, quoted_on: quotedOn.trim(), source: source.trim() };
      }),
    });
  return (
    <fieldset className="form-grid">
      <legend>{texts.rates}</legend>
      {pairs.map((pair) => (
        <TextField
          key={pair}
          label={texts.rate(pair.toUpperCase())}
          hint={texts.rateHint(pair.toUpperCase())}
          value={rates[pair] ?? ''}
          onChange={(rate) => setRates({ ...rates, [pair]: rate })}
        />
      ))}
      <TextField label={texts.quotedOn} hint={texts.quotedOnHint} value={quotedOn} onChange={setQuotedOn} />
      <TextField
        label={texts.source}
        hint={texts.sourceHint}
        value={source}
        onChange={setSource}
        maxLength={60}
      />
      <div className="buttons">
        <Button
          isBusy={isBusy}
          isDisabled={given.length === 0 || quotedOn.trim() === '' || source.trim() === ''}
          onPress={issue}
        >
          {texts.withRates}
        </Button>
      </div>
    </fieldset>
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
