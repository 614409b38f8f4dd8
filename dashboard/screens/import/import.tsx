import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ImportReport } from '../../../src/client/api.ts';
import type { Choices, ImportKind } from '../../data/imports.ts';
import { useMay } from '../../data/me.ts';
import { ChooseFile, Drop, useDroppedFile } from '../../parts/drop.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { optionsOf, SelectField } from '../../parts/field.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { imports as texts } from '../../texts/imports.ts';
import { Done } from './done.tsx';
import { Plan } from './plan.tsx';
import { Records } from './records.tsx';
import './import.css';

const route = getRouteApi('/import');
const KINDS = ['affiliates', 'commissions'] as const;
/** File types that the file dialog offers first; any other file can be chosen too. */
export const ACCEPT = '.csv,.tsv,.txt,.xlsx,.ods,text/csv,text/plain';

/** /import: a new import, and past ones. */
export function ImportScreen() {
  const may = useMay();
  return (
    <Page title={texts.title} lead={texts.lead}>
      {may.write ? <Desk /> : <Notice>{texts.viewer}</Notice>}
      <Records />
    </Page>
  );
}

/** A new import: choose a file, review and map it, import it. */
function Desk() {
  const { kind = 'affiliates', ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState<{ readonly file: File; readonly number: number } | null>(null);
  const [done, setDone] = useState<{ report: ImportReport; file: File; choices: Choices } | null>(null);
  const choose = (file: File) => {
    setDone(null);
    setChosen((before) => ({ file, number: (before?.number ?? 0) + 1 }));
  };
  const changeKind = (next: ImportKind) =>
    void navigate({ search: { ...search, kind: next }, replace: true });
  const { isOver, problem } = useDroppedFile(choose);
  if (done) {
    const { report, file, choices } = done;
    return (
      <Done report={report} file={file} choices={choices}>
        <ChooseFile label={texts.done.again} accept={ACCEPT} onFile={choose} />
      </Done>
    );
  }
  return (
    <>
      <div className="import-kind">
        <Card>
          <SelectField<ImportKind>
            label={texts.kind}
            hint={texts.kindHints[kind]}
            value={kind}
            options={optionsOf(KINDS, texts.kinds)}
            onChange={changeKind}
          />
          {chosen === null && (
            <Drop
              title={isOver ? texts.drop.here : texts.drop.title}
              hint={texts.drop.or}
              isOver={isOver}
              problem={problem && texts.drop[problem]}
            >
              <ChooseFile label={texts.drop.choose} accept={ACCEPT} onFile={choose} isPrimary />
            </Drop>
          )}
        </Card>
      </div>
      {chosen && (
        <Plan
          key={`${kind} ${chosen.number}`}
          kind={kind}
          file={chosen.file}
          onKind={changeKind}
          onDone={(report, choices) => {
            setChosen(null);
            setDone({ report, choices, file: chosen.file });
          }}
        >
          {problem && <span className="problem">{texts.drop[problem]}</span>}
          <ChooseFile label={texts.drop.other} accept={ACCEPT} onFile={choose} />
        </Plan>
      )}
    </>
  );
}
