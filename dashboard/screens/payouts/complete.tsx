import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { useWrite } from '../../data/queries.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { ChooseFile, useDroppedFile } from '../../parts/drop.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { Checkbox, TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { type Sum, sumsOf, sumTexts } from '../../parts/sums.ts';
import type { Column, Selection } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Money, Moneys, Status } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import {
  type Answers,
  AnswersSoFar,
  backOf,
  openLines,
  RESULT_FILES,
  sumsOfBack,
  useBookings,
} from './answers.tsx';
import { COLUMNS, Lines } from './lines.tsx';
import { PartOfLine } from './part.tsx';
import { Signals } from './signals.tsx';
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
import { TickedWithoutFile } from './without-file.tsx';

const texts = payouts.complete;
const answerTexts = payouts.answers;

/** Who was paid: checkboxes, the resulting sums, and a confirmation, since completing cannot be undone. */
export function Complete({
  payout,
  lines,
  ticks,
  answers,
}: {
  payout: Payout;
  lines: readonly PayoutLine[] | undefined;
  ticks: Ticks;
  answers: Answers;
}) {
  const [reference, setReference] = useState('');
  const [paidOn, setPaidOn] = useState('');
  const [isAsked, setAsked] = useState(false);
  const stop = useCallback(() => setAsked(false), []);
  const [opened, setOpened] = useState<DueLine | null>(null);
  const { ticked, parts } = ticks;
  const due = useMemo(() => dueLines(lines ?? []), [lines]);
  const { paid, sums, people } = useMemo(() => outcomeOf(due, { ticked, parts }), [due, ticked, parts]);
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
      <AnswersSoFar
        answers={answers}
        payoutLines={due}
        onIgnore={(columns) => {
          if (answers.refused !== null) void answers.take(payout, answers.refused, ticks, columns);
        }}
      />
      <Lines
        payout={payout}
        lines={lines && due}
        keyOf={keyOf}
        columns={columnsOf(ticks, setOpened)}
        selectionOf={(found) => selectionOf(ticks, found)}
        actions={
          <>
            <TickFromFile payout={payout} lines={due} ticks={ticks} answers={answers} />
            <TickAll lines={due} ticks={ticks} />
          </>
        }
        below={<TickWithoutFile lines={due} ticks={ticks} />}
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
          answers={answers}
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
  const inFile = found.filter(({ isInFile }) => isInFile);
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
    isAll: on > 0 && (on === found.length || inFile.length > 0) && inFile.every(({ key }) => ticked.has(key)),
    isSome: on > 0,
    nameOf: titleOf,
    toggle: (key, isOn) => change([key], isOn),
    toggleAll: (isOn) => change((isOn ? inFile : found).map(keyOf), isOn),
  };
}

/** Ticks every line that a downloaded file pays, or unticks all. */
function TickAll({ lines, ticks: { ticked, set } }: { lines: readonly DueLine[]; ticks: Ticks }) {
  const inFile = lines.filter(({ isInFile }) => isInFile);
  const isDone = ticked.size > 0 && inFile.every(({ key }) => ticked.has(key));
  return (
    <Button
      isDisabled={!isDone && inFile.length === 0}
      title={!isDone && inFile.length === 0 ? texts.noneInFile : texts.allHint}
      onPress={() => set(new Set(isDone ? [] : [...ticked, ...inFile.map(keyOf)]))}
    >
      {isDone ? texts.none : texts.all}
    </Button>
  );
}

/** Ticks the lines that no file pays: somebody paid them by other means. */
function TickWithoutFile({ lines, ticks: { ticked, set } }: { lines: readonly DueLine[]; ticks: Ticks }) {
  const others = lines.filter(({ isInFile }) => !isInFile);
  if (others.length === 0) return null;
  const change = (isOn: boolean) => {
    const next = new Set(ticked);
    for (const { key } of others) {
      if (isOn) next.add(key);
      else next.delete(key);
    }
    set(next);
  };
  return (
    <div className="without-file">
      {others.length === lines.length && <p className="hint">{texts.noneInFile}</p>}
      <Checkbox
        label={texts.withoutFile(others.length, sumTexts(sumsOf(others)))}
        isChecked={others.every(({ key }) => ticked.has(key))}
        onChange={change}
      />
    </div>
  );
}

/** The columns of the lines: whether a file pays the line, and the amount paid, in full or in part. */
function columnsOf({ ticked, parts }: Ticks, open: (line: DueLine) => void): readonly Column<DueLine>[] {
  return COLUMNS.map((column) =>
    column.sort === 'method'
      ? {
          ...column,
          cell: (line) => (
            <>
              {column.cell(line)}
              {!line.isInFile && (
                <span className="second">
                  <Status tone="warn" label={texts.inNoFile} />
                </span>
              )}
            </>
          ),
        }
      : column.sort !== 'amount'
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
  answers: Answers;
  sums: Outcome['sums'];
  reference: string;
  paidOn: string;
  onClose: () => void;
}) {
  const { payout, lines, ticks, answers, sums, reference, paidOn, onClose } = props;
  const [isKnown, setKnown] = useState(false);
  const open = answers.files.length === 0 ? [] : openLines(lines, ticks, answers);
  const back = backOf([...answers.lines.values()], payout.status);
  const [isBooking, setBooking] = useState(true);
  const bookings = useBookings(payout);
  const complete = useWrite('completePayout');
  const navigate = useNavigate();
  const submit = () =>
    complete.mutate(
      {
        path: [payout.id],
        ifMatch: payout.revision,
        body: {
          require_all: true,
          commissions: entriesOf(
            lines,
            ticks,
            ({ key }) => reference || (answers.lines.get(key)?.bank_reference ?? ''),
          ),
          ...(paidOn === '' ? {} : { paid_at: paidOn }),
        },
      },
      {
        onSuccess: async () => {
          const isBooked = !isBooking || (await bookings.book(back));
          toast(isBooked ? texts.done : answerTexts.notRecorded);
          onClose();
          void navigate({ to: '/payouts/$id', params: { id: payout.id }, search: {} });
        },
      },
    );
  return (
    <Confirm
      title={texts.action(payout.number)}
      action={texts.action(payout.number)}
      isBusy={complete.isPending || bookings.isBusy}
      isDisabled={open.length > 0 && !isKnown}
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
      <TickedWithoutFile lines={lines} ticks={ticks} answers={answers} />
      <Signals payout={payout} isReadOnly />
      {open.length > 0 && (
        <Notice tone="bad">
          <p>{answerTexts.open(open.length)}</p>
          <Checkbox label={answerTexts.known(open.length)} isChecked={isKnown} onChange={setKnown} />
        </Notice>
      )}
      {back.length > 0 && (
        <Checkbox
          label={answerTexts.book(back.length, sumTexts(sumsOfBack(back)))}
          isChecked={isBooking}
          onChange={setBooking}
        />
      )}
      <p className="soft">{texts.forEver}</p>
    </Confirm>
  );
}

/** Selects the lines that a file of the bank or provider reports as paid, or that a payment file for PayPal or Wise pays. */
function TickFromFile({
  payout,
  lines,
  ticks,
  answers,
}: {
  payout: Payout;
  lines: readonly DueLine[];
  ticks: Ticks;
  answers: Answers;
}) {
  const read = async (file: File) => {
    const taken = await answers.take(payout, file, ticks);
    if (taken !== 'sent') return;
    const named = namedIn(await file.text(), payout, lines).map(keyOf);
    ticks.set(new Set([...ticks.ticked, ...named]));
    toast(named.length === 0 ? texts.nothingInFile : texts.ticked(named.length));
  };
  useDroppedFile((file) => void read(file));
  return (
    <ChooseFile
      label={texts.fromFile}
      title={texts.fromFileHint}
      accept={RESULT_FILES}
      onFile={(file) => void read(file)}
    />
  );
}
