import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { useWrite } from '../../data/queries.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { ChooseFile, useDroppedFile } from '../../parts/drop.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import type { Sum } from '../../parts/sums.ts';
import type { Column, Selection } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Money, Moneys } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { COLUMNS, Lines } from './lines.tsx';
import { PartOfLine } from './part.tsx';
import {
  type DueLine,
  dueLines,
  entriesOf,
  leavingOf,
  namedIn,
  type Outcome,
  outcomeOf,
  type Ticks,
} from './ticks.ts';

const texts = payouts.complete;

/** Who was paid: checkboxes, the resulting sums, and a confirmation, since completing cannot be undone. */
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
  const [opened, setOpened] = useState<DueLine | null>(null);
  const { ticked, parts } = ticks;
  const due = useMemo(() => dueLines(lines ?? []), [lines]);
  const { paid, released, sums, people } = useMemo(
    () => outcomeOf(due, { ticked, parts }),
    [due, ticked, parts],
  );
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
        lines={lines && due}
        keyOf={keyOf}
        columns={columnsOf(ticks, setOpened)}
        selectionOf={(found) => selectionOf(ticks, found)}
        actions={
          <>
            <TickFromFile payout={payout} lines={due} ticks={ticks} />
            <Button onPress={() => ticks.set(new Set(released.length === 0 ? [] : due.map(keyOf)))}>
              {released.length === 0 ? texts.none : texts.all}
            </Button>
          </>
        }
      />
      <div className="bar" role="status">
        <dl>
          <dt>
            {texts.paid} ({payouts.affiliates(people.paid)})
          </dt>
          <dd>
            <Moneys amounts={sums.paid} isStrong />
          </dd>
        </dl>
        <dl>
          <dt>
            {texts.released} ({payouts.affiliates(people.released)})
          </dt>
          <dd>
            <Moneys amounts={sums.released} />
          </dd>
        </dl>
        {sums.carried.length > 0 && (
          <dl>
            <dt>{texts.carried}</dt>
            <dd>
              <Moneys amounts={sums.carried} />
            </dd>
          </dl>
        )}
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
          lines={due}
          ticks={ticks}
          sums={sums}
          reference={reference.trim()}
          paidOn={paidOn}
          onClose={stop}
        />
      )}
      {opened && <PartOfLine line={opened} ticks={ticks} onClose={() => setOpened(null)} />}
    </>
  );
}

const keyOf = ({ key }: DueLine) => key;
const titleOf = (line: DueLine) => (line.hasOthers ? texts.in(nameOf(line), line.currency) : nameOf(line));

/** The selection among the lines that match the search; other lines keep theirs. */
function selectionOf({ ticked, set }: Ticks, found: readonly DueLine[]): Selection<DueLine> {
  const on = found.filter(({ key }) => ticked.has(key)).length;
  const change = (keys: readonly string[], isOn: boolean) => {
    const next = new Set(ticked);
    for (const key of keys) {
      if (isOn) next.add(key);
      else next.delete(key);
    }
    set(next);
  };
  return {
    has: (key) => ticked.has(key),
    isAll: found.length > 0 && on === found.length,
    isSome: on > 0,
    nameOf: titleOf,
    toggle: (key, isOn) => change([key], isOn),
    toggleAll: (isOn) => change(found.map(keyOf), isOn),
  };
}

/** The columns of the lines; the amount is what is paid, which may be a part. */
function columnsOf({ ticked, parts }: Ticks, open: (line: DueLine) => void): readonly Column<DueLine>[] {
  return COLUMNS.map((column) =>
    column.sort !== 'amount'
      ? column
      : {
          ...column,
          cell: (line) => {
            const leaving = ticked.has(line.key) ? leavingOf(line, parts) : line.amount;
            return (
              <>
                <Money amount={leaving} currency={line.currency} />
                <IconButton icon="edit" label={texts.part.open(titleOf(line))} onPress={() => open(line)} />
                {leaving < line.amount && <span className="second">{texts.part.of(money(line))}</span>}
              </>
            );
          },
        },
  );
}

/** `23 affiliates 1,525.84 USD` for each currency. */
const sharesText = (sums: readonly Sum[]) => sums.map((sum) => texts.share(sum.count, money(sum)));

function ConfirmCompletion(props: {
  payout: Payout;
  lines: readonly DueLine[];
  ticks: Ticks;
  sums: Outcome['sums'];
  reference: string;
  paidOn: string;
  onClose: () => void;
}) {
  const { payout, lines, ticks, sums, reference, paidOn, onClose } = props;
  const complete = useWrite('completePayout');
  const navigate = useNavigate();
  const submit = () =>
    complete.mutate(
      {
        path: [payout.id],
        ifMatch: payout.revision,
        body: {
          require_all: true,
          commissions: entriesOf(lines, ticks, reference),
          ...(paidOn === '' ? {} : { paid_at: paidOn }),
        },
      },
      {
        onSuccess: () => {
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
      {sums.carried.length > 0 && <p>{texts.carries(sums.carried.map(money))}</p>}
      {sums.released.length > 0 && (
        <Notice tone="warn">
          <p>{texts.releases(sharesText(sums.released))}</p>
        </Notice>
      )}
      <p className="soft">{texts.forEver}</p>
    </Confirm>
  );
}

/** Selects the lines that a file names by the payment references of this payout. */
function TickFromFile({ payout, lines, ticks }: { payout: Payout; lines: readonly DueLine[]; ticks: Ticks }) {
  const read = async (file: File) => {
    const named = namedIn(await file.text(), payout, lines).map(keyOf);
    ticks.set(new Set([...ticks.ticked, ...named]));
    toast(named.length === 0 ? texts.nothingInFile : texts.ticked(named.length));
  };
  useDroppedFile((file) => void read(file));
  return (
    <ChooseFile
      label={texts.fromFile}
      title={texts.fromFileHint}
      accept=".csv,.txt,text/csv,text/plain"
      onFile={(file) => void read(file)}
    />
  );
}
