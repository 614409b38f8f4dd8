import { useState } from 'react';
import type {
  AffiliateDestination,
  AffiliateWithBalance,
  PutAffiliateDestinationBody,
} from '../../../src/client/api.ts';
import { DESTINATION_FIELDS, type FormField, type FormFields } from '../../../src/client/fields.ts';
import { nameOf } from '../../data/affiliates.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { changedIn, FieldInputs } from '../../parts/record-fields.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { wordLabel } from '../../texts/words.ts';

const texts = affiliates.destinations;

/** `DE …3000 COBADEFFXXX`, or nothing without a bank account. */
const accountOf = ({ country, last_four, bic, routing_number, account_type: kind }: AffiliateDestination) =>
  [country, last_four && `…${last_four}`, bic, routing_number, kind && wordLabel('account_type', kind)]
    .filter(Boolean)
    .join(' ');

/** The destinations of an affiliate by currency, with the last characters of each account number. */
export function Destinations({ affiliate, onSet }: { affiliate: AffiliateWithBalance; onSet: () => void }) {
  const may = useMay();
  const { data, error, refetch } = useRead('getAffiliateDestinations', { path: [affiliate.id] });
  const removal = useWrite('deleteAffiliateDestination');
  const [removed, setRemoved] = useState<AffiliateDestination | null>(null);
  const columns: readonly Column<AffiliateDestination>[] = [
    { title: texts.currency, cell: ({ currency }) => currency?.toUpperCase() ?? texts.all },
    { title: texts.type, cell: ({ type }) => affiliates.method[type] },
    { title: texts.account, cell: (each) => <Account destination={each} /> },
    {
      title: texts.action,
      cell: (each) => may.write && <Button onPress={() => setRemoved(each)}>{texts.remove}</Button>,
    },
  ];
  const confirm = () => {
    if (removed === null) return;
    const query = removed.currency === null ? {} : { currency: removed.currency };
    removal.mutate({ path: [affiliate.id], query }, { onSuccess: () => setRemoved(null) });
  };
  return (
    <Card title={texts.title}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.destinations.length === 0 && (
        <p className="soft">{texts.none(affiliate.payout_method, affiliate.paypal_email)}</p>
      )}
      {data !== undefined && data.destinations.length > 0 && (
        <Table
          label={texts.title}
          isStacked
          columns={columns}
          rows={data.destinations}
          keyOf={({ currency }) => currency ?? 'all'}
        />
      )}
      {may.write && (
        <div className="buttons">
          <Button onPress={onSet}>{texts.set}</Button>
        </div>
      )}
      {removed && (
        <Confirm
          title={texts.removeTitle(removed.currency?.toUpperCase() ?? texts.all)}
          action={texts.remove}
          isBusy={removal.isPending}
          error={removal.error}
          onConfirm={confirm}
          onClose={() => setRemoved(null)}
        >
          <p>{texts.removeLead}</p>
        </Confirm>
      )}
    </Card>
  );
}

function Account({ destination }: { destination: AffiliateDestination }) {
  const { account_holder, holder_in_files, shared_with, is_lost, waits_until } = destination;
  return (
    <>
      {account_holder !== null && <Name>{account_holder}</Name>} {accountOf(destination)}
      {holder_in_files !== account_holder && (
        <span className="second">{texts.written(holder_in_files ?? '')}</span>
      )}
      {shared_with.length > 0 && <span className="second">{texts.shared(shared_with)}</span>}
      {waits_until !== null && (
        <span className="second">
          {texts.waits} <Time at={waits_until} />
        </span>
      )}
      {is_lost && <span className="second">{texts.lost}</span>}
    </>
  );
}

/** The fields that a type of destination accepts. */
const fieldsFor = (type: string): FormFields =>
  Object.fromEntries(
    Object.entries<FormField>(DESTINATION_FIELDS).filter(
      ([, { neededBy, acceptedBy }]) =>
        (neededBy === undefined && acceptedBy === undefined) ||
        [...(neededBy ?? []), ...(acceptedBy ?? [])].includes(type),
    ),
  );

/** The dialog that sets a destination. */
export function SetDestination({
  affiliate,
  onClose,
}: {
  affiliate: AffiliateWithBalance;
  onClose: () => void;
}) {
  const write = useWrite('putAffiliateDestination');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({
    type: 'sepa',
    account_type: 'checking',
  });
  const { type = '' } = values;
  const form = { fields: fieldsFor(type), currency: '' };
  const isIncomplete = Object.entries(form.fields).some(
    ([name, { neededBy }]) => neededBy?.includes(type) && (values[name] ?? '').trim() === '',
  );
  const save = () =>
    write.mutate(
      { path: [affiliate.id], body: changedIn(form, {}, values) as unknown as PutAffiliateDestinationBody },
      {
        onSuccess: () => {
          toast(texts.done);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.setTitle(nameOf(affiliate))}
      action={texts.save}
      isBusy={write.isPending}
      isDisabled={isIncomplete}
      error={write.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{texts.lead}</p>
      <div className="form-grid">
        <FieldInputs {...form} values={values} onChange={setValues} />
      </div>
    </Confirm>
  );
}
