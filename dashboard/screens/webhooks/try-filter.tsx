import { useState } from 'react';
import type { FilterTest } from '../../../src/client/api.ts';
import { useEventTypes } from '../../data/event-types.ts';
import { useEventWithPayload } from '../../data/payload.ts';
import { clock } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { SelectField } from '../../parts/field.tsx';
import { dayAndTime } from '../../parts/format.ts';
import { JsonField, objectOf, problemOfObject } from '../../parts/json-field.tsx';
import { JsonValue } from '../../parts/json-value.tsx';
import { pretty } from '../../parts/plain.ts';
import { Status } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { Condition } from './filter-words.tsx';

const texts = webhooks.filter;
const OWN = '';
const RECENT = 10;

/** Tries a filter on an example, on an event of the account, or on pasted JSON, and shows the result. */
export function TryFilter({
  types,
  isReady,
  isBusy,
  result,
  error,
  onChange,
  onTry,
}: {
  /** The types of the endpoint. The example of the first one is preselected. */
  types: readonly string[] | null;
  /** Whether there is a filter to try. */
  isReady: boolean;
  isBusy: boolean;
  result: FilterTest | undefined;
  error: Error | null;
  /** Another payload, for which the previous result does not apply. */
  onChange: () => void;
  onTry: (payload: Record<string, unknown>) => void;
}) {
  const [choice, setChoice] = useState<string>();
  const [written, setWritten] = useState<string>();
  const zone = clock.use();
  const examples = useEventTypes();
  const recent = useRead('listEvents', { query: { per_page: RECENT } }).data?.data ?? [];
  const catalogue = examples.types?.filter(({ example }) => example !== null) ?? [];
  const first = catalogue.find(({ type }) => types?.includes(type)) ?? catalogue[0];
  const chosen = choice ?? first?.type ?? OWN;
  const example = catalogue.find(({ type }) => type === chosen)?.example;
  const isRecent = chosen !== OWN && example === undefined;
  const event = useEventWithPayload('getEvent', { path: [chosen] }, { isEnabled: isRecent });
  const begun = isRecent ? event.payload && pretty(event.payload) : JSON.stringify(example ?? {}, null, 2);
  const text = written ?? begun ?? undefined;
  const write = (next: string | undefined) => {
    setWritten(next);
    onChange();
  };
  const problem = examples.error ?? event.error;
  return (
    <section className="try-filter" aria-label={texts.try}>
      <SelectField
        label={texts.payload}
        value={chosen}
        options={[
          { value: OWN, label: texts.own },
          ...catalogue.map(({ type }) => ({ value: type, label: texts.exampleOf(type) })),
          ...recent.map(({ id, type, created_at }) => ({
            value: id,
            label: texts.published(type, dayAndTime(created_at, zone)),
          })),
        ]}
        onChange={(next) => {
          setChoice(next);
          write(undefined);
        }}
      />
      {problem && <Problem error={problem} />}
      {!problem && text === undefined && <Skeleton lines={4} />}
      {text !== undefined && (
        <>
          <JsonField label={texts.event} hint={texts.eventHint} value={text} onChange={write} rows={10} />
          <div className="buttons start form-end">
            <Button
              isBusy={isBusy}
              isDisabled={!isReady || problemOfObject(text) !== null}
              onPress={() => onTry(objectOf(text))}
            >
              {texts.judge}
            </Button>
          </div>
        </>
      )}
      {error && <Problem error={error} />}
      {result && <Verdict result={result} />}
    </section>
  );
}

/** Whether the filter lets the event through, and the value each condition found. */
function Verdict({ result: { matches, conditions } }: { result: FilterTest }) {
  return (
    <>
      <Notice tone={matches ? 'good' : 'warn'}>{matches ? texts.passes : texts.isLeftOut}</Notice>
      <ul className="judged">
        {conditions.map(({ path, operator, value, matches: holds, found_type, found }, at) => (
          <li key={at}>
            <Status tone={holds ? 'good' : 'bad'} label={holds ? texts.holds : texts.fails} />
            <div>
              <Condition path={path} operator={operator} value={value} />
              <p className="hint">
                {texts.found} {texts.foundTypes[found_type] ?? <JsonValue>{found}</JsonValue>}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
