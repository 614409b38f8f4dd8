import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Capability } from '../../../src/contract/roles.ts';
import { useMay } from '../../data/me.ts';
import { Empty } from '../../parts/feedback.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
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
