import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { PayoutFilters, PayoutSchedule } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { type Rule, rulesOf } from '../../data/schedules.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { day } from '../../parts/format.ts';
import { Confirm, Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Moneys, Status, Time } from '../../parts/values.tsx';
import { schedules as texts } from '../../texts/schedules.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { amountsToPay } from './with-tax.tsx';

const TONES = { created: 'good', empty: 'neutral', refused: 'warn' } as const;

/** The outcome of the last run of a schedule. */
export function LastRun({ run }: { run: PayoutSchedule['last_run'] }) {
  if (run === null) return <span className="soft">{texts.never}</span>;
  return (
    <>
      <Status tone={TONES[run.outcome]} label={texts.outcomes[run.outcome]} />
      <span className="second">{day(run.due_on)}</span>
    </>
  );
}

/** A schedule in a drawer: its days, its last run, the payout it would prepare now, and its actions. */
export function Schedule({ id, onClose }: { id: string; onClose: () => void }) {
  const may = useMay();
  const { data: schedule, error, refetch } = useRead('getPayoutSchedule', { path: [id] }, { isLive: true });
  const [open, setOpen] = useState<'change' | 'remove' | null>(null);
  const stop = () => setOpen(null);
  return (
    <Drawer title={schedule?.name ?? texts.title} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {schedule === undefined && !error && <Skeleton lines={4} />}
      {schedule && (
        <>
          {may.write && <Actions schedule={schedule} onAsk={setOpen} />}
          <Details schedule={schedule} />
          <Now schedule={schedule} />
        </>
      )}
      {schedule && open === 'change' && <ScheduleForm before={schedule} onClose={stop} />}
      {schedule && open === 'remove' && <Remove schedule={schedule} onClose={stop} onGone={onClose} />}
    </Drawer>
  );
}

function Actions({
  schedule,
  onAsk,
}: {
  schedule: PayoutSchedule;
  onAsk: (what: 'change' | 'remove') => void;
}) {
  const switching = useWrite('changePayoutSchedule');
  const { id, is_active: isActive } = schedule;
  const toggle = () =>
    switching.mutate(
      { path: [id], body: { is_active: !isActive } },
      {
        onSuccess: ({ next_on }) => toast(next_on === null ? texts.paused : texts.resumed(day(next_on))),
      },
    );
  return (
    <>
      <div className="acts">
        <Button icon="edit" onPress={() => onAsk('change')}>
          {texts.actions.change}
        </Button>
        <Button isBusy={switching.isPending} onPress={toggle}>
          {isActive ? texts.actions.pause : texts.actions.resume}
        </Button>
        <Button icon="trash" onPress={() => onAsk('remove')}>
          {texts.actions.remove}
        </Button>
      </div>
      {switching.error && <Problem error={switching.error} />}
    </>
  );
}

function Details({ schedule }: { schedule: PayoutSchedule }) {
  const { columns, facts } = texts;
  const { last_run: run, next_on: next } = schedule;
  return (
    <>
      <Facts
        rows={[
          [columns.due, texts.due(schedule.every, schedule.day)],
          [
            columns.next,
            next === null ? <Status key="next" tone="neutral" label={texts.status.off} /> : day(next),
          ],
          [facts.filters, <Selection key="filters" schedule={schedule} />],
          [facts.minimum, schedule.ignore_minimum ? facts.minimumIgnored : facts.minimumKept],
          [columns.last, <LastRun key="last" run={run} />],
          [facts.madeBy, <Actor key="maker" id={schedule.made_by} />],
          [facts.changed, <Time key="changed" at={schedule.updated_at} isFocusable />],
        ]}
      />
      {run?.reason && <Notice tone={run.outcome === 'refused' ? 'warn' : 'info'}>{run.reason}</Notice>}
      {run?.payout_id && (
        <p>
          <Link to="/payouts/$id" params={{ id: run.payout_id }}>
            {texts.openPayout}
          </Link>
        </p>
      )}
      <p className="hint">{texts.creator}</p>
    </>
  );
}

/** The affiliates that a schedule pays, in words. */
function Selection({ schedule }: { schedule: PayoutSchedule }) {
  const programs = useRead('listPrograms', { query: { per_page: 100 } }).data?.data;
  const { rules, others } = rulesOf(schedule.filters);
  const { selection } = texts;
  const nameOf = (id: Rule['program_id']) => programs?.find((each) => each.id === id)?.name ?? `#${id}`;
  const words = [
    ...(rules.payout_method ? [selection.method(rules.payout_method)] : []),
    ...(rules.currency ? [selection.currency(rules.currency)] : []),
    ...(rules.program_id ? [selection.program(nameOf(rules.program_id))] : []),
    ...(schedule.search === '' ? [] : [selection.search(schedule.search)]),
    ...(others === null ? [] : [selection.others(JSON.stringify(others))]),
  ];
  return [selection.everybody, ...words].join(', ');
}

/** The payout that the schedule would prepare now. */
function Now({ schedule: { filters, search, ignore_minimum } }: { schedule: PayoutSchedule }) {
  const body = { filters: filters as PayoutFilters | null, search, ignore_minimum };
  const { data: preview, error, refetch } = useRead('previewPayout', { body });
  return (
    <section className="history" aria-label={texts.now.title}>
      <h3>{texts.now.title}</h3>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {preview === undefined && !error && <Skeleton lines={2} />}
      {preview && preview.affiliate_count === 0 && <p className="soft">{texts.now.nobody}</p>}
      {preview && preview.affiliate_count > 0 && (
        <>
          <p className="soft">{texts.now.pays(preview.affiliate_count)}</p>
          <Moneys amounts={amountsToPay(preview.totals)} isStrong />
        </>
      )}
      {preview?.current_payout_id && (
        <Notice
          tone="warn"
          actions={
            <Link className="button plain" to="/payouts/$id" params={{ id: preview.current_payout_id }}>
              {texts.now.openCurrent}
            </Link>
          }
        >
          <p>{texts.now.current}</p>
        </Notice>
      )}
    </section>
  );
}

function Remove({
  schedule: { id, name },
  onClose,
  onGone,
}: {
  schedule: PayoutSchedule;
  onClose: () => void;
  onGone: () => void;
}) {
  const removal = useWrite('deletePayoutSchedule');
  const remove = () =>
    removal.mutate(
      { path: [id] },
      {
        onSuccess: () => {
          toast(texts.removal.done);
          onGone();
        },
      },
    );
  return (
    <Confirm
      title={texts.removal.title(name)}
      action={texts.removal.action}
      isDangerous
      isBusy={removal.isPending}
      error={removal.error}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{texts.removal.lead}</p>
    </Confirm>
  );
}
