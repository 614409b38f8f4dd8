import { useMemo, useState } from 'react';
import type { Payout, PayoutResultLine, PayoutResultProposal } from '../../../src/client/api.ts';
import { ApiError } from '../../../src/client/errors.ts';
import { lineKey, mergeAnswers } from '../../../src/terms/payment-answers.ts';
import { formatOfPaymentFile } from '../../../src/terms/payments.ts';
import { call } from '../../data/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { queries } from '../../data/queries.ts';
import { ChooseFile } from '../../parts/drop.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { type Sum, sumsOf, sumTexts } from '../../parts/sums.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Money, Name, Status, Time } from '../../parts/values.tsx';
import { corrections as correctionTexts } from '../../texts/corrections.ts';
import { payouts } from '../../texts/payouts.ts';
import { IgnoreColumns } from './ignore-columns.tsx';
import type { DueLine, Ticks } from './ticks.ts';

const texts = payouts.answers;
const MOST_SHOWN = 100;

/** The `accept` attribute for files of banks and providers. */
export const RESULT_FILES =
  '.xml,.csv,.txt,.c53,.c54,.psr,.ach,.ret,text/csv,text/plain,text/xml,application/xml';

/** A file that was read. */
interface AnswerFile {
  readonly name: string;
  readonly proposal: PayoutResultProposal;
}

/** The results that the files read so far report for a payout. */
export interface Answers {
  readonly files: readonly AnswerFile[];
  /** The results of all files, by line. */
  readonly lines: ReadonlyMap<string, PayoutResultLine>;
  readonly contradictions: readonly PayoutResultLine[];
  /** Lines that one file leaves open and another does not. */
  readonly doubted: readonly PayoutResultLine[];
  readonly error: Error | null;
  /** The list that was refused for unknown columns. */
  readonly refused: File | null;
  /**
   * Reads a file and ticks the lines it reports as paid. `sent`: it is a payment file, so it names who was to be paid. `ignored`
   * names the columns of a list that say nothing about payments, separated by commas.
   */
  readonly take: (
    payout: Payout,
    file: File,
    ticks: Ticks,
    ignored?: string,
  ) => Promise<'taken' | 'refused' | 'sent'>;
}

/** A hook: no files at first. */
export function useAnswers(): Answers {
  const [files, setFiles] = useState<readonly AnswerFile[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [refused, setRefused] = useState<File | null>(null);
  const together = (all: readonly AnswerFile[]) => mergeAnswers(all.map(({ proposal }) => proposal));
  const { answers: lines, contradictions, doubted } = together(files);
  return {
    files,
    lines,
    contradictions,
    doubted,
    error,
    refused,
    async take(payout, file, ticks, ignored) {
      setError(null);
      try {
        const start = await file.slice(0, 4096).text();
        if (formatOfPaymentFile(start) !== null) {
          setRefused(null);
          return 'sent';
        }
        const query = ignored === undefined ? {} : { ignore_columns: ignored };
        const proposal = await call('takePayoutResult', { path: [payout.id], file, query });
        const known = files.filter((each) => each.proposal.digest !== proposal.digest);
        const all = [...known, { name: file.name, proposal }];
        setFiles(all);
        setRefused(null);
        const found = together(all);
        tick(ticks, [...found.answers.values()], [...found.contradictions, ...found.doubted]);
        return 'taken';
      } catch (failure) {
        setError(failure as Error);
        // only this refusal names the parameter
        const isForColumns = failure instanceof ApiError && failure.message.includes('ignore_columns');
        setRefused(isForColumns ? file : null);
        return 'refused';
      }
    },
  };
}

/** Ticks lines that were paid, even if returned later. Unticks lines that were rejected or are now in doubt. */
function tick(
  ticks: Ticks,
  answers: readonly PayoutResultLine[],
  inDoubt: readonly PayoutResultLine[],
): void {
  const ticked = new Set(ticks.ticked);
  for (const line of inDoubt) ticked.delete(lineKey(line));
  const parts = new Map(ticks.parts);
  for (const answer of answers) {
    const key = lineKey(answer);
    if (answer.outcome === 'rejected') ticked.delete(key);
    if (answer.outcome === 'paid' || answer.outcome === 'returned') ticked.add(key);
    if (answer.outcome === 'paid' && answer.amount < answer.line_amount) parts.set(key, answer.amount);
  }
  ticks.take(ticked, parts);
}

/** The lines that would be released although no file reports them as rejected. */
export const openLines = (lines: readonly DueLine[], { ticked }: Ticks, { lines: answers }: Answers) =>
  lines.filter(({ key }) => !ticked.has(key) && answers.get(key)?.outcome !== 'rejected');

/** The lines to record as returned. */
export const backOf = (lines: readonly PayoutResultLine[], status: Payout['status']): PayoutResultLine[] =>
  lines.filter(
    ({ outcome, is_booked }) =>
      !is_booked && (outcome === 'returned' || (outcome === 'rejected' && status === 'paid')),
  );

export const sumsOfBack = (lines: readonly PayoutResultLine[]): readonly Sum[] =>
  sumsOf(lines.map(({ currency, amount }) => ({ totals: [{ currency, amount }] })));

/** A hook: records returned money, line by line. After a failure it continues where it stopped. */
export function useBookings({ id }: Pick<Payout, 'id'>) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [booked, setBooked] = useState<ReadonlySet<string>>(new Set());
  const book = async (lines: readonly PayoutResultLine[]): Promise<boolean> => {
    const done = new Set(booked);
    setBusy(true);
    setError(null);
    try {
      for (const line of lines) {
        if (done.has(lineKey(line))) continue;
        const { affiliate_id, currency, amount, reason, bank_reference: reference } = line;
        const body = { currency, amount, reason: reason ?? texts.noReason, reference };
        await call('returnPayoutLine', { path: [id, affiliate_id], body });
        done.add(lineKey(line));
      }
      return true;
    } catch (refused) {
      setError(refused as Error);
      return false;
    } finally {
      setBooked(done);
      setBusy(false);
      await queries.invalidateQueries();
    }
  };
  return { book, isBusy, error };
}

const TONES = { paid: 'good', rejected: 'bad', returned: 'warn', pending: 'info' } as const;

const COLUMNS: readonly Column<PayoutResultLine>[] = [
  {
    title: payouts.columns.affiliate,
    cell: ({ name, affiliate_id, reason }) => (
      <>
        <Name>{name ?? `#${affiliate_id}`}</Name>
        <span className="second narrow-only">{reason}</span>
      </>
    ),
  },
  {
    title: payouts.columns.amount,
    isFigure: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  {
    title: texts.outcome,
    cell: ({ outcome, is_booked }) => (
      <>
        <Status tone={TONES[outcome]} label={texts.outcomes[outcome]} />
        {is_booked && <span className="second">{texts.booked}</span>}
      </>
    ),
  },
  { title: payouts.columns.reason, isWide: true, cell: ({ reason }) => reason },
];

/** The results of each file: counts, the lines that were not paid, and open questions. */
export function AnswersSoFar({
  answers,
  payoutLines,
  onIgnore,
}: {
  answers: Answers;
  payoutLines: readonly DueLine[];
  /** Reads the refused list again without these columns, separated by commas. */
  onIgnore: (columns: string) => void;
}) {
  const { files, contradictions, doubted, error, refused } = answers;
  const names = useMemo(
    () => new Map(payoutLines.map((line) => [line.affiliate_id, nameOf(line)])),
    [payoutLines],
  );
  return (
    <>
      {error && <Problem error={refused === null ? error : ofColumns(error)} />}
      {refused && <IgnoreColumns file={refused} onIgnore={onIgnore} />}
      {files.map((file) => (
        <FileResult key={file.proposal.id} file={file} names={names} />
      ))}
      {contradictions.length > 0 && (
        <Notice tone="bad">
          {contradictions.map((line) => (
            <p key={lineKey(line)}>{texts.contradiction(line.name ?? line.reference)}</p>
          ))}
        </Notice>
      )}
      {doubted.length > 0 && (
        <Notice tone="bad">
          {doubted.slice(0, MOST_SHOWN).map((line) => (
            <p key={lineKey(line)}>{texts.doubted(line.name ?? line.reference)}</p>
          ))}
          {doubted.length > MOST_SHOWN && <p>{texts.more(doubted.length - MOST_SHOWN)}</p>}
        </Notice>
      )}
    </>
  );
}

/** The refusal of a list for its columns, worded for the form below it. */
const ofColumns = ({ message }: Error): Error =>
  new Error(message.replace(/^ignore_columns: /, '').replace('in ignore_columns', 'below'));

function FileResult({
  file: { name, proposal },
  names,
  isDone = false,
}: {
  file: AnswerFile;
  /** The names of affiliates known here. */
  names?: ReadonlyMap<number, string>;
  /** In a dialog of a completed payout: the counts of paid lines are left out. */
  isDone?: boolean;
}) {
  const { kind, counts, problems, outdated_revisions, uploaded_before, verifications, corrections } =
    proposal;
  const lines = proposal.lines.filter(({ outcome }) => outcome !== 'paid');
  const hasDoubts = problems.length > 0 || outdated_revisions.length > 0;
  const content = (
    <div className="answer">
      <h2>{texts.kinds[kind]}</h2>
      <p className="soft">
        <Name>{name}</Name>
        {kind === 'verification'
          ? `: ${payouts.verifications.read(verifications.length)}.`
          : isDone
            ? '.'
            : `: ${texts.says(counts.paid, counts.unanswered + counts.pending)}.`}
        {uploaded_before !== null && (
          <>
            {' '}
            {texts.before} <Time at={uploaded_before} />.
          </>
        )}
        {counts.others > 0 && ` ${texts.others(counts.others)}`}
      </p>
      {corrections.length > 0 && <p>{correctionTexts.read(corrections.length)}</p>}
      {lines.length > 0 && (
        <Table label={texts.title} columns={COLUMNS} rows={lines.slice(0, MOST_SHOWN)} keyOf={lineKey} />
      )}
      {lines.length > MOST_SHOWN && <p className="soft">{texts.more(lines.length - MOST_SHOWN)}</p>}
      {hasDoubts && (
        <Notice tone="warn">
          {outdated_revisions.map((revision) => (
            <p key={revision}>{texts.outdated(revision)}</p>
          ))}
          {problems.length > 0 && <Problems proposal={proposal} names={names} />}
        </Notice>
      )}
    </div>
  );
  return isDone ? content : <Card>{content}</Card>;
}

/** What a file leaves open, with the affiliate if known. */
function Problems({
  proposal: { problems, counts },
  names,
}: {
  proposal: PayoutResultProposal;
  names: ReadonlyMap<number, string> | undefined;
}) {
  return (
    <>
      <p>
        <b>{texts.problems(counts.problems)}</b>
      </p>
      <ul>
        {problems.slice(0, MOST_SHOWN).map(({ kind, affiliate_id, reference, message }) => {
          const who = (affiliate_id === null ? undefined : names?.get(affiliate_id)) ?? reference;
          return (
            <li key={`${kind} ${affiliate_id} ${message}`}>
              {who !== null && !message.includes(who) && (
                <>
                  <Name>{who}</Name>,{' '}
                </>
              )}
              {message}
            </li>
          );
        })}
        {counts.problems > MOST_SHOWN && <li>{texts.more(counts.problems - MOST_SHOWN)}</li>}
      </ul>
    </>
  );
}

/** For a paid payout: reads returned payments from a file of the bank, and records them. */
export function CameBack({ payout }: { payout: Payout }) {
  const [file, setFile] = useState<AnswerFile | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const bookings = useBookings(payout);
  const read = async (chosen: File) => {
    setError(null);
    try {
      const proposal = await call('takePayoutResult', { path: [payout.id], file: chosen });
      setFile({ name: chosen.name, proposal });
      // corrections of destinations are kept
      await queries.invalidateQueries();
    } catch (refused) {
      setError(refused as Error);
    }
  };
  const back = file === null ? [] : backOf(file.proposal.lines, payout.status);
  const close = () => setFile(null);
  const submit = async () => {
    if (back.length > 0 && !(await bookings.book(back))) return;
    if (back.length > 0) toast(texts.recorded(back.length));
    close();
  };
  return (
    <>
      {error && <Problem error={error} />}
      <div className="buttons came-back">
        <ChooseFile label={texts.cameBack} accept={RESULT_FILES} onFile={(chosen) => void read(chosen)} />
      </div>
      {file && (
        <Confirm
          title={texts.record}
          action={texts.record}
          isBusy={bookings.isBusy}
          isDisabled={back.length === 0}
          error={bookings.error}
          onConfirm={() => void submit()}
          onClose={close}
        >
          <FileResult file={file} isDone />
          <p>
            {back.length === 0 ? texts.nothingBack : texts.bookNow(back.length, sumTexts(sumsOfBack(back)))}
          </p>
        </Confirm>
      )}
    </>
  );
}
