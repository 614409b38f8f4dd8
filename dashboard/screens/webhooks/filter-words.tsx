import { Fragment, type ReactNode } from 'react';
import { JsonValue } from '../../parts/json-value.tsx';
import { plain } from '../../parts/plain.ts';
import { webhooks } from '../../texts/webhooks.ts';
import './webhooks.css';

const texts = webhooks.filter;
/** The longest filter that the API accepts. */
const MOST_CHARACTERS = 4096;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One condition as a sentence: `data.amount is at least 100`. */
export function Condition({ path, operator, value }: { path: string; operator: string; value: unknown }) {
  const place = <code className="code-line">{plain(path)}</code>;
  if (operator === '$exists') {
    return (
      <>
        {place} {value === false ? texts.isMissing : texts.isThere}
      </>
    );
  }
  const values = Array.isArray(value) ? value : [value];
  return (
    <>
      {place} {texts.operators[operator] ?? operator}{' '}
      {values.map((each, at) => (
        <Fragment key={at}>
          {at > 0 && ', '}
          <JsonValue>{each}</JsonValue>
        </Fragment>
      ))}
    </>
  );
}

/** A filter as a list of sentences; `text` is its JSON. */
export function FilterInWords({ text }: { text: string }) {
  if (text.length > MOST_CHARACTERS) return null;
  const sentences = sentencesOf(JSON.parse(text));
  if (sentences.length === 0) return null;
  return (
    <div className="filter-words">
      <p>{texts.letsThrough}</p>
      <ul>
        {sentences.map((sentence, at) => (
          <li key={at}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

function sentencesOf(filter: unknown): ReactNode[] {
  if (!isObject(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]): ReactNode[] => {
    const joint = texts.joints[key];
    if (joint !== undefined && Array.isArray(value))
      return [<Joint key={key} name={joint} filters={value} />];
    const operators = isObject(value) ? Object.entries(value) : [['$eq', value] as const];
    return operators.map(([operator, operand]) => (
      <Condition key={`${key} ${operator}`} path={key} operator={operator} value={operand} />
    ));
  });
}

function Joint({ name, filters }: { name: string; filters: readonly unknown[] }) {
  return (
    <>
      {name}
      <ul>
        {filters.map((filter, at) => (
          <li key={at}>
            {sentencesOf(filter).map((sentence, index) => (
              <Fragment key={index}>
                {index > 0 && ` ${texts.and} `}
                {sentence}
              </Fragment>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}
