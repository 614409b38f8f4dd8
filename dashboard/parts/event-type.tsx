import type { EventType } from '../../src/client/api.ts';
import { events } from '../texts/events.ts';
import { Code } from './code.tsx';
import { Notice } from './feedback.tsx';
import { Time } from './values.tsx';

const texts = events.types;

/** What is known of a type of event: when it happens, an example and the schema. */
export function EventTypeDetails({ type }: { type: EventType }) {
  const { description, deprecation, example, schema, last_violation: last } = type;
  return (
    <>
      <p>{description}</p>
      {deprecation !== null && (
        <Notice tone="warn">
          {texts.deprecated} {deprecation}
        </Notice>
      )}
      {last && (
        <p className="soft">
          {texts.violated} <Time at={last.at} />: {last.message}
        </p>
      )}
      {example && (
        <>
          <p className="event-part">{texts.example}</p>
          <Code label={texts.example}>{JSON.stringify(example)}</Code>
        </>
      )}
      <p className="event-part">{texts.schema}</p>
      <Code label={texts.schema}>{JSON.stringify(schema)}</Code>
    </>
  );
}
