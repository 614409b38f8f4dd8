import { type FormEvent, useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import type { ApiError } from '../../../src/client/errors.ts';
import { useMay } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { JsonField, objectOf, problemOfObject } from '../../parts/json-field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { FilterInWords } from './filter-words.tsx';
import { TryFilter } from './try-filter.tsx';

const texts = webhooks.filter;

/** Errors about the filter itself, shown at its field. */
const OF_FILTER: readonly (string | null)[] = ['invalid_filter', 'unknown_operator', 'too_many_filters'];
const isOfFilter = (error: ApiError | null) => error !== null && OF_FILTER.includes(error.reason);

/** The filter of an endpoint: shown and tried by everyone, changed and removed by those who may. */
export function ContentFilter({ endpoint: { id, filter, event_types } }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const [text, setText] = useState(filter === null ? '' : JSON.stringify(filter, null, 2));
  const [isTrying, setTrying] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const saving = useWrite('changeWebhookEndpoint');
  const trying = useWrite('testWebhookEndpointFilter');
  const isEmpty = text.trim() === '';
  const isGood = !isEmpty && problemOfObject(text) === null;
  const refusal = [saving.error, trying.error].find(isOfFilter);
  const change = (next: string) => {
    setText(next);
    saving.reset();
    trying.reset();
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!may.webhooks || !isGood || saving.isPending) return;
    const body = { filter: objectOf(text) };
    saving.mutate({ path: [id], body }, { onSuccess: () => toast(texts.saved) });
  };
  return (
    <form onSubmit={save}>
      <Card title={texts.title}>
        <p className="soft">{texts.lead}</p>
        <JsonField
          label={texts.conditions}
          hint={texts.hint}
          value={text}
          onChange={change}
          problem={refusal?.message}
          rows={8}
          isOptional
        />
        {isGood && <FilterInWords text={text} />}
        <div className="buttons start form-end">
          <Button isExpanded={isTrying} icon={isTrying ? 'up' : 'down'} onPress={() => setTrying(!isTrying)}>
            {texts.try}
          </Button>
        </div>
        {isTrying && (
          <TryFilter
            types={event_types}
            isReady={isGood}
            isBusy={trying.isPending}
            result={trying.data}
            error={isOfFilter(trying.error) ? null : trying.error}
            onChange={trying.reset}
            onTry={(payload) => trying.mutate({ path: [id], body: { filter: objectOf(text), payload } })}
          />
        )}
        {saving.error && !isOfFilter(saving.error) && <Problem error={saving.error} />}
        {may.webhooks ? (
          <div className="buttons form-end">
            {filter !== null && <Button onPress={() => setRemoving(true)}>{texts.remove}</Button>}
            <Button type="submit" isBusy={saving.isPending} isDisabled={!isGood}>
              {texts.save}
            </Button>
          </div>
        ) : (
          <p className="hint">{texts.whoMay}</p>
        )}
      </Card>
      {isRemoving && (
        <RemoveFilter
          endpoint={id}
          onClose={() => setRemoving(false)}
          onRemoved={() => {
            setRemoving(false);
            change('');
            toast(texts.removed);
          }}
        />
      )}
    </form>
  );
}

/** The filter of an endpoint in a portal, where it is read-only. */
export function GivenFilter({ endpoint: { filter } }: { endpoint: WebhookEndpoint }) {
  if (filter === null) return null;
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.given}</p>
      <FilterInWords text={JSON.stringify(filter)} />
    </Card>
  );
}

function RemoveFilter({
  endpoint,
  onClose,
  onRemoved,
}: {
  endpoint: string;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const removing = useWrite('changeWebhookEndpoint');
  return (
    <Confirm
      title={texts.remove}
      action={texts.remove}
      isBusy={removing.isPending}
      error={removing.error}
      onClose={onClose}
      onConfirm={() =>
        removing.mutate({ path: [endpoint], body: { filter: null } }, { onSuccess: onRemoved })
      }
    >
      <p>{texts.removing}</p>
    </Confirm>
  );
}
