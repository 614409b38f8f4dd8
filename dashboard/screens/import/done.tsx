import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ImportReport } from '../../../src/client/api.ts';
import type { Choices } from '../../data/imports.ts';
import { Notice } from '../../parts/feedback.tsx';
import { Card } from '../../parts/page.tsx';
import { imports as texts } from '../../texts/imports.ts';
import { resultParts } from './records.tsx';
import { BadLinesDownload, Counts } from './report.tsx';

/** The result of an import, and links to what comes next. */
export function Done({
  report,
  file,
  choices,
  children,
}: {
  report: ImportReport;
  file: File;
  choices: Choices;
  /** The button to import another file. */
  children: ReactNode;
}) {
  const { kind, failed, import_id: id } = report;
  return (
    <Card>
      <Notice tone={failed > 0 ? 'warn' : 'good'}>
        <p>
          <b>{texts.done.title}</b>
        </p>
        <p>{texts.done.text(resultParts(report))}</p>
      </Notice>
      <Counts counts={report} />
      {failed > 0 && <BadLinesDownload kind={kind} file={file} choices={choices} />}
      <div className="buttons import-next">
        <Link className="button primary" to={kind === 'affiliates' ? '/affiliates' : '/commissions'}>
          {texts.done.see[kind]}
        </Link>
        {id && (
          <Link
            className="button plain"
            from="/import"
            to="/import"
            search={(search) => ({ ...search, import: id })}
          >
            {texts.done.record}
          </Link>
        )}
        {children}
      </div>
    </Card>
  );
}
