import { useState } from 'react';
import type { AlertChannel, AlertKind, AlertSettings, NewAlertChannel } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm, ConfirmEnd } from '../../parts/overlay.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import type { Column } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { alerts as texts } from '../../texts/alerts.ts';
import { settings } from '../../texts/settings.ts';
import { KindChoice } from './alert-kinds.tsx';

type Kinds = AlertSettings['alerts'];

/** The webhooks and Slack channels of the account. */
export function Channels({ kinds }: { kinds: Kinds }) {
  const [page, setPage] = useState<number>();
  const list = useList('listAlertChannels', {
    place: { page },
    onPlace: (next) => setPage(next.page),
    isLive: 'watched',
  });
  const testing = useWrite('testAlertChannel');
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewAlertChannel | null>(null);
  const [removing, setRemoving] = useState<AlertChannel | null>(null);
  const add = (
    <Button icon="plus" onPress={() => setMaking(true)}>
      {texts.add}
    </Button>
  );
  const test = ({ id }: AlertChannel) =>
    testing.mutate({ path: [id] }, { onSuccess: () => toast(texts.tested) });
  return (
    <>
      <h2 className="section-title">{texts.channels}</h2>
      <p className="soft">{texts.channelsLead}</p>
      <div className="filters">{add}</div>
      <Listing
        {...list}
        label={texts.channels}
        columns={columnsFor(kinds.length, { test, remove: setRemoving })}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="settings" title={texts.none}>
            {texts.noneLead}
          </Empty>
        }
      />
      {isMaking && (
        <Make
          kinds={kinds}
          onClose={() => setMaking(false)}
          onMade={(channel) => {
            setMaking(false);
            if (channel.secret === null) toast(texts.made(channel.name));
            else setMade(channel);
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={texts.made(made.name)}
          lead={texts.secretOnce}
          label={texts.secret}
          secret={made.secret}
          onClose={() => setMade(null)}
        />
      )}
      {removing && <Remove channel={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

interface Does {
  readonly test: (channel: AlertChannel) => void;
  readonly remove: (channel: AlertChannel) => void;
}

const columnsFor = (all: number, { test, remove }: Does): readonly Column<AlertChannel>[] => [
  { title: texts.name, cell: ({ name }) => <Name>{name}</Name> },
  { title: texts.format, isWide: true, cell: ({ format }) => texts.formats[format] },
  { title: texts.host, isWide: true, cell: ({ host }) => <code>{host}</code> },
  { title: texts.kinds, isWide: true, cell: ({ kinds }) => texts.kindsOf(kinds.length, all) },
  {
    title: texts.status,
    cell: ({ last_error, last_sent_at }) => {
      if (last_error !== null) return <Status tone="bad" label={last_error} />;
      return last_sent_at ? <Time at={last_sent_at} /> : <span className="soft">{settings.never}</span>;
    },
  },
  {
    title: texts.actions,
    cell: (channel) => (
      <span className="unbroken">
        <Button kind="quiet" title={texts.testLabel(channel.name)} onPress={() => test(channel)}>
          {texts.test}
        </Button>
        <Button kind="quiet" title={texts.removeLabel(channel.name)} onPress={() => remove(channel)}>
          {texts.remove}
        </Button>
      </span>
    ),
  },
];

function Make({
  kinds,
  onClose,
  onMade,
}: {
  kinds: Kinds;
  onClose: () => void;
  onMade: (channel: NewAlertChannel) => void;
}) {
  const making = useWrite('createAlertChannel');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<AlertChannel['format']>('slack');
  const [chosen, setChosen] = useState<ReadonlySet<AlertKind>>(() => new Set(kinds.map(({ kind }) => kind)));
  return (
    <Confirm
      title={texts.add}
      action={texts.addAction}
      isBusy={making.isPending}
      isDisabled={name.trim() === '' || url.trim() === ''}
      error={making.error}
      onClose={onClose}
      onConfirm={() =>
        making.mutate({ body: { name, format, url: url.trim(), kinds: [...chosen] } }, { onSuccess: onMade })
      }
    >
      <TextField label={texts.name} hint={texts.nameHint} value={name} onChange={setName} hasFocus />
      <SelectField
        label={texts.format}
        value={format}
        options={[
          { value: 'slack', label: texts.formats.slack },
          { value: 'webhook', label: texts.formats.webhook },
        ]}
        onChange={setFormat}
      />
      <TextField label={texts.url} hint={texts.urlHint} value={url} onChange={setUrl} />
      <KindChoice kinds={kinds} chosen={chosen} onChange={setChosen} />
    </Confirm>
  );
}

function Remove({ channel: { id, name }, onClose }: { channel: AlertChannel; onClose: () => void }) {
  return (
    <ConfirmEnd
      operation="deleteAlertChannel"
      input={{ path: [id] }}
      title={texts.removeLabel(name)}
      action={texts.removeLabel(name)}
      done={texts.removed(name)}
      onClose={onClose}
    >
      <p>{texts.removing}</p>
    </ConfirmEnd>
  );
}
