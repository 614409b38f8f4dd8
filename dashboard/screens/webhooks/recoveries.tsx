import { useState } from 'react';
import type { WebhookRecovery } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { type ListPosition, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import type { Column } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Status, Time } from '../../parts/values.tsx';
import { listed } from '../../texts/common.ts';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.recover;
const TONES = {
  pending: 'info',
  running: 'info',
  paused: 'warn',
  completed: 'good',
  cancelled: 'neutral',
} as const;

/** The recoveries of an endpoint and their progress. */
export function Recoveries({
  endpoint,
  place,
  onPlace,
}: {
  endpoint: string;
  place: ListPosition;
  onPlace: (next: ListPosition) => void;
}) {
  const may = useMay();
  const [cancelling, setCancelling] = useState<WebhookRecovery | null>(null);
  const list = useList('listRecoveriesOfWebhookEndpoint', {
    path: [endpoint],
    place,
    onPlace,
    isLive: 'watched',
  });
  return (
    <>
      <Listing
        {...list}
        label={webhooks.one.recoveries}
        columns={columnsWith(may.webhooks ? setCancelling : null)}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="refresh" title={texts.empty}>
            {may.webhooks ? texts.emptyLead : texts.viewer}
          </Empty>
        }
      />
      {cancelling && <Cancel recovery={cancelling} onClose={() => setCancelling(null)} />}
    </>
  );
}

const columnsWith = (
  cancel: ((recovery: WebhookRecovery) => void) | null,
): readonly Column<WebhookRecovery>[] => [
  {
    title: texts.what,
    cell: ({ action, filters: { status, types, missing } }) => (
      <>
        {action === 'discard'
          ? texts.discard
          : missing
            ? texts.missing
            : listed(status.map((each) => webhooks.log.statuses[each]))}
        <span className="second">{types === null ? webhooks.allTypes : listed(types)}</span>
      </>
    ),
  },
  {
    title: texts.status,
    cell: ({ status }) => <Status tone={TONES[status]} label={texts.statuses[status]} />,
  },
  { title: texts.progress, isWide: true, cell: (recovery) => <Progress recovery={recovery} /> },
  { title: texts.done, isFigure: true, cell: (recovery) => whole(doneBy(recovery)) },
  {
    title: texts.skipped,
    isFigure: true,
    isWide: true,
    cell: ({ skipped_count }) => whole(skipped_count),
  },
  { title: texts.begun, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: texts.cancel,
    cell: (recovery) =>
      cancel !== null &&
      ['pending', 'running', 'paused'].includes(recovery.status) && (
        <Button kind="quiet" onPress={() => cancel(recovery)}>
          {texts.cancel}
        </Button>
      ),
  },
];

/** The number of events that it queued or cancelled. */
const doneBy = ({ queued_count, discarded_count }: WebhookRecovery) => queued_count + discarded_count;

/** How much of the recovery's period has been processed. */
function Progress({ recovery: { filters, processed_until, status } }: { recovery: WebhookRecovery }) {
  const [since, until] = [Date.parse(filters.since), Date.parse(filters.until)];
  const at = processed_until === null ? since : Date.parse(processed_until);
  const done = status === 'completed' ? 100 : Math.floor((100 * (at - since)) / Math.max(1, until - since));
  return (
    <>
      <progress max={100} value={done} aria-label={texts.progress} /> {done} %
    </>
  );
}

function Cancel({ recovery, onClose }: { recovery: WebhookRecovery; onClose: () => void }) {
  const cancelling = useWrite('deleteRecoveryOfWebhookEndpoint');
  const words = recovery.action === 'discard' ? webhooks.discard : texts;
  const done = () => {
    toast(words.cancelled);
    onClose();
  };
  return (
    <Confirm
      title={words.cancelTitle}
      action={words.cancelTitle}
      isDangerous
      isBusy={cancelling.isPending}
      error={cancelling.error}
      onClose={onClose}
      onConfirm={() =>
        cancelling.mutate({ path: [recovery.webhook_endpoint_id, recovery.id] }, { onSuccess: done })
      }
    >
      <p>{words.cancelling(doneBy(recovery))}</p>
    </Confirm>
  );
}
