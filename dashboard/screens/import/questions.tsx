import { useState } from 'react';
import type { ImportPreview, ImportQuestion } from '../../../src/client/api.ts';
import {
  type Choices,
  type ImportKind,
  type Mapping,
  type Values,
  withConstant,
  withField,
} from '../../data/imports.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { DayField } from '../../parts/field.tsx';
import { imports } from '../../texts/imports.ts';

const texts = imports.questions;
const REFUSE = 'refuse';

interface QuestionsProps {
  readonly preview: ImportPreview;
  readonly onAnswer: (next: Choices) => void;
  readonly onMap: (to: (mapping: Mapping) => Mapping) => void;
  readonly onMean: (values: Values) => void;
  /** The file is of another kind than chosen. */
  readonly onKind: (kind: ImportKind) => void;
}

/** Questions that only the uploader can answer, with a button per answer. */
export function Questions({ preview: { questions, kind }, onAnswer, onMap, onMean, onKind }: QuestionsProps) {
  if (questions.length === 0) return null;
  const fields = imports.fields[kind];
  const answer = ({
    query: { kind: other, mapping, values, ...rest },
  }: ImportQuestion['choices'][number]) => {
    if (other !== undefined) return onKind(other as ImportKind);
    if (values !== undefined) return onMean(values as Values);
    if (mapping === undefined) return onAnswer(rest as Choices);
    const columns = Object.entries(mapping as Record<string, string>);
    onMap((before) =>
      columns.reduce(
        (all, [column, field]) => withField(all, column, field === 'ignore' ? null : field),
        before,
      ),
    );
  };
  const labelOf = ({ label, query: { mapping, values } }: ImportQuestion['choices'][number]) => {
    if (values !== undefined) return wordLabel(label, values as Values, kind);
    const columns = Object.entries((mapping ?? {}) as Record<string, string>);
    const used = columns.filter(([, field]) => field !== 'ignore');
    // the label names the result of using none of them
    if (used.length === 0) return begun(label);
    return texts.choice(
      used.map(([column, field]) => texts.is(column, fields[field] ?? field)),
      columns.flatMap(([column, field]) => (field === 'ignore' ? [`“${column}”`] : [])),
    );
  };
  return (
    <section aria-label={texts.title}>
      {questions.map((question) => {
        // choices without a query are made in the table of columns
        const choices = question.choices.filter(({ query }) => Object.keys(query).length > 0);
        return (
          <Notice key={question.message} tone="warn">
            <p>
              <b>{begun(inWords(question.message, fields))}</b>
            </p>
            {question.about === 'mapping' && choices.length === 0 && <p>{texts.columnHint}</p>}
            {question.about === 'values' && (
              <p>{isOfCountry(question) ? texts.countryHint : texts.wordHint}</p>
            )}
            <div className="buttons question">
              {choices.map((choice) => (
                <Button key={choice.label} onPress={() => answer(choice)}>
                  {labelOf(choice)}
                </Button>
              ))}
              {question.about === 'paid' && (
                <PaidOn onDay={(day) => onMap((mapping) => withConstant(mapping, 'paid_at', day))} />
              )}
            </div>
          </Notice>
        );
      })}
    </section>
  );
}

/** Whether a question is about a country, which is chosen in the table of words. */
const isOfCountry = ({ choices: [first, ...others] }: ImportQuestion) =>
  others.length === 0 && first?.query.values !== undefined;

/** The label of a choice about a word, in the terms of this screen. */
function wordLabel(label: string, values: Values, kind: ImportPreview['kind']): string {
  const [[field, words] = ['', {}]] = Object.entries(values);
  const [[word, meaning] = ['', '']] = Object.entries(words);
  return meaning === REFUSE ? begun(label) : texts.means(word, imports.meaning(kind, field, meaning));
}

/** The day on which all lines were paid; submitted by a button, so that a year can be typed first. */
function PaidOn({ onDay }: { onDay: (day: string) => void }) {
  const [day, setDay] = useState<string | undefined>(undefined);
  return (
    <span className="paid-on">
      <DayField label={texts.paidOn} value={day} onChange={setDay} />
      <Button isDisabled={day === undefined} onPress={() => day && onDay(day)}>
        {imports.constants.add}
      </Button>
    </span>
  );
}

const begun = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A text of the API, with field names replaced by those of this screen. */
function inWords(text: string, fields: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
    const label = fields[name];
    return label === undefined ? name : `“${label}”`;
  });
}
