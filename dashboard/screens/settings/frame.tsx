import { Link } from '@tanstack/react-router';
import type { FormEvent, ReactNode } from 'react';
import type { Capability } from '../../../src/contract/roles.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Problem } from '../../parts/feedback.tsx';
import { Card, Page, Tabs } from '../../parts/page.tsx';
import { settings as texts } from '../../texts/settings.ts';

type Part = keyof typeof texts.parts;

/** The layout of the settings, with links between them. `needs`: what a user must be allowed to do to open the part. */
export function Settings({
  part,
  lead,
  actions,
  needs = 'read',
  children,
}: {
  part: Part;
  lead?: string;
  actions?: ReactNode;
  needs?: Capability;
  children: ReactNode;
}) {
  const may = useMay();
  const isClosed = !may[needs];
  return (
    <Page
      title={texts.title}
      name={`${texts.parts[part]} · ${texts.title}`}
      lead={lead}
      actions={isClosed ? undefined : actions}
    >
      <Tabs label={texts.title}>
        {(Object.keys(texts.parts) as Part[]).map((each) => (
          <Link key={each} to={`/settings/${each}`} activeOptions={{ includeSearch: false }}>
            {texts.parts[each]}
          </Link>
        ))}
      </Tabs>
      {isClosed ? (
        <Empty icon="settings" title={texts.closed(needs)}>
          {texts.closedLead}
        </Empty>
      ) : (
        children
      )}
    </Page>
  );
}

/** A card with settings that are saved together; who may not write sees them, below `note`. */
export function SettingsForm({
  title,
  action,
  saving,
  note,
  onSave,
  children,
}: {
  title: string;
  action: string;
  saving: { readonly error: Error | null; readonly isPending: boolean };
  note?: ReactNode;
  onSave: () => void;
  children: ReactNode;
}) {
  const may = useMay();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave();
  };
  return (
    <form onSubmit={submit} className="settings-form">
      {!may.write && note}
      <fieldset disabled={!may.write}>
        <Card title={title}>
          {children}
          {saving.error && <Problem error={saving.error} />}
          {may.write && (
            <div className="buttons">
              <Button kind="primary" type="submit" isBusy={saving.isPending}>
                {action}
              </Button>
            </div>
          )}
        </Card>
      </fieldset>
    </form>
  );
}
