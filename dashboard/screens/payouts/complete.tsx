import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { paymentReference } from '../../../src/kernel/payment-reference.ts';
import { downloads } from '../../data/payouts.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ChooseFile } from '../../parts/drop.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { type Sum, sumsOf } from '../../parts/sums.ts';
import { toast } from '../../parts/toast.tsx';
import { Moneys } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { Lines, type Ticks } from './lines.tsx';

const texts = payouts.complete;

/** Who was paid: ticks, the sums that follow them, and the question before what cannot be undone. */
export function Complete({
  payout,
  lines,
  ticks,
}: {
  payout: Payout;
  lines: readonly PayoutLine[] | undefined;
  ticks: Ticks;
}) {
  const [reference, setReference] = useState('');
  const [paidOn, setPaidOn] = useState('');
  const [isAsked, setAsked] = useState(false);
  const stop = useCallback(() => setAsked(false), []);
  const { ticked } = ticks;
  const [paid, released] = useMemo(() => {
    const all = lines ?? [];
    return [
      all.filter(({ affiliate_id }) => ticked.has(affiliate_id)),
      all.filter(({ affiliate_id }) => !ticked.has(affiliate_id)),
    ];
  }, [lines, ticked]);
  const sums = useMemo(() => ({ paid: sumsOf(paid), released: sumsOf(released) }), [paid, released]);
  return (
    <>
      <Card>
        <p className="soft">{texts.lead}</p>
        <div className="pair">
          <TextField
            label={texts.reference}
            hint={texts.referenceHint}
            isOptional
            value={reference}
            maxLength={255}
            onChange={setReference}
          />
          <TextField
            label={texts.paidOn}
            hint={texts.paidOnHint}
            isOptional
            type="date"
            value={paidOn}
            onChange={setPaidOn}
          />
        </div>
      </Card>
      <Lines
        payout={payout}
        lines={lines}
        ticks={ticks}
        actions={
          <>
            <TickFromFile payout={payout} lines={lines ?? []} ticks={ticks} />
            <Button
              onPress={() =>
                ticks.set(
                  released.length === 0 ? new Set() : new Set(lines?.map(({ affiliate_id }) => affiliate_id)),
                )
              }
            >
              {released.length === 0 ? texts.none : texts.all}
            </Button>
          </>
        }
      />
      <div className="bar" role="status">
        <dl>
          <dt>
            {texts.paid} ({payouts.affiliates(paid.length)})
          </dt>
          <dd>
            <Moneys amounts={sums.paid} isStrong />
          </dd>
        </dl>
        <dl>
          <dt>
            {texts.released} ({payouts.affiliates(released.length)})
          </dt>
          <dd>
            <Moneys amounts={sums.released} />
          </dd>
        </dl>
        <Button
          kind="primary"
          isDisabled={paid.length === 0}
          title={paid.length === 0 ? texts.nothing : undefined}
          onPress={() => setAsked(true)}
        >
          {texts.action(payout.number)}
        </Button>
      </div>
      {isAsked && (
        <ConfirmCompletion
          payout={payout}
          lines={lines ?? []}
          ticked={ticked}
          sums={sums}
          reference={reference.trim()}
          paidOn={paidOn}
          onClose={stop}
        />
      )}
    </>
  );
}

/** `23 affiliates 1,525.84 USD` for each currency. */
const sharesText = (sums: readonly Sum[]) => sums.map((sum) => texts.share(sum.count, money(sum)));

function ConfirmCompletion(props: {
  payout: Payout;
  lines: readonly PayoutLine[];
  ticked: ReadonlySet<number>;
  sums: { readonly paid: readonly Sum[]; readonly released: readonly Sum[] };
  reference: string;
  paidOn: string;
  onClose: () => void;
}) {
  const { payout, lines, ticked, sums, reference, paidOn, onClose } = props;
  const complete = useWrite('completePayout');
  const navigate = useNavigate();
  const submit = () =>
    complete.mutate(
      {
        path: [payout.id],
        ifMatch: payout.revision,
        body: {
          require_all: true,
          commissions: lines.map(({ affiliate_id }) => {
            const isPaid = ticked.has(affiliate_id);
            return {
              affiliate_id,
              is_paid: isPaid,
              ...(isPaid && reference !== '' ? { payment_reference: reference } : {}),
            };
          }),
          ...(paidOn === '' ? {} : { paid_at: paidOn }),
        },
      },
      {
        onSuccess: () => {
          downloads.forget(payout.id);
          toast(texts.done);
          onClose();
          void navigate({ to: '/payouts/$id', params: { id: payout.id }, search: {} });
        },
      },
    );
  return (
    <Confirm
      title={texts.action(payout.number)}
      action={texts.action(payout.number)}
      isBusy={complete.isPending}
      error={complete.error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p>
        <b>{texts.pays(sharesText(sums.paid))}</b>
      </p>
      {sums.released.length > 0 && (
        <Notice tone="warn">
          <p>{texts.releases(sharesText(sums.released))}</p>
        </Notice>
      )}
      <p className="soft">{texts.forEver}</p>
    </Confirm>
  );
}

/** Ticks whom a file names by the references of this payout. */
function TickFromFile({
  payout,
  lines,
  ticks,
}: {
  payout: Payout;
  lines: readonly PayoutLine[];
  ticks: Ticks;
}) {
  const read = async (file: File) => {
    const words = new Set((await file.text()).match(/P\d+-A\d+/g));
    const named = lines
      .map(({ affiliate_id }) => affiliate_id)
      .filter((affiliate) => words.has(paymentReference(payout.number, affiliate)));
    ticks.set(new Set([...ticks.ticked, ...named]));
    toast(named.length === 0 ? texts.nothingInFile : texts.ticked(named.length));
  };
  return (
    <ChooseFile
      label={texts.fromFile}
      title={texts.fromFileHint}
      accept=".csv,.txt,text/csv,text/plain"
      onFile={(file) => void read(file)}
    />
  );
}
