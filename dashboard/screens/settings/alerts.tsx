import { type FormEvent, useState } from 'react';
import type { AlertKind, AlertSettings } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { alerts as texts } from '../../texts/alerts.ts';
import { KindChoice } from './alert-kinds.tsx';
import { Channels } from './channels.tsx';
import { Settings } from './frame.tsx';
import './settings.css';

/** /settings/alerts */
export function AlertsScreen() {
  const may = useMay();
  const { data, error, refetch } = useRead('getAlertSettings', {}, { isLive: true });
  return (
    <Settings part="alerts" lead={texts.lead}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined ? !error && <Skeleton lines={6} /> : <Mine settings={data} />}
      {may.own && data && <Channels kinds={data.alerts} />}
    </Settings>
  );
}

/** The alerts that the signed-in user gets by e-mail. */
function Mine({ settings: { alerts, email, ...settings } }: { settings: AlertSettings }) {
  const saving = useWrite('setAlertSettings');
  const testing = useWrite('testAlertSettings');
  const [chosen, setChosen] = useState<ReadonlySet<AlertKind>>(
    () => new Set(alerts.filter(({ by_email }) => by_email).map(({ kind }) => kind)),
  );
  const save = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate({ body: { kinds: [...chosen] } }, { onSuccess: () => toast(texts.saved) });
  };
  return (
    <form onSubmit={save} className="settings-form">
      <Card title={texts.mine}>
        {settings.is_email_sent ? <p>{texts.to(email)}</p> : <Notice tone="warn">{texts.off}</Notice>}
        {settings.last_error !== null && <Notice tone="bad">{texts.failed(settings.last_error)}</Notice>}
        <KindChoice kinds={alerts} chosen={chosen} onChange={setChosen} />
        {settings.last_sent_at !== null && (
          <p className="soft">
            {texts.sent}: <Time at={settings.last_sent_at} />
          </p>
        )}
        {saving.error && <Problem error={saving.error} />}
        {testing.error && <Problem error={testing.error} />}
        <div className="buttons">
          <Button kind="primary" type="submit" isBusy={saving.isPending}>
            {texts.save}
          </Button>
          {settings.is_email_sent && (
            <Button
              isBusy={testing.isPending}
              onPress={() => testing.mutate({}, { onSuccess: () => toast(texts.tested) })}
            >
              {texts.test}
            </Button>
          )}
        </div>
      </Card>
    </form>
  );
}
