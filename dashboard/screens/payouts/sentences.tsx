import { getRouteApi } from '@tanstack/react-router';
import { dayOf } from '../../../src/kernel/zones.ts';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { nameOf, useAffiliate } from '../../data/affiliates.ts';
import { useRead } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Checkbox, FilterSelect, optionsOf, SearchField } from '../../parts/field.tsx';
import { day as dayText } from '../../parts/format.ts';
import { Card } from '../../parts/page.tsx';
import { Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const route = getRouteApi('/payouts/new');
const texts = payouts.create;
const DAY_MS = 86_400_000;

/** The filters of a new payout, worded as sentences. */
export function Sentences() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const account = useRead('getAccount', {});
  const programs = useRead('listPrograms', { query: { per_page: 100 } });
  const everything = useRead('previewPayout', { body: { ignore_minimum: true } });
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next }, replace: true });
  const { sentence } = texts;
  const currencies = new Set([
    ...(everything.data?.totals.map(({ currency }) => currency) ?? []),
    ...(account.data ? [account.data.default_currency] : []),
    ...(search.currency ? [search.currency] : []),
  ]);
  const isFiltered = Object.keys(search).some((name) => name !== 'view' && name !== 'page');
  return (
    <Card>
      <div className="sentence">
        <span>{sentence.pay},</span>
        <span>{sentence.method}</span>
        <FilterSelect
          label={sentence.method}
          any={sentence.anyMethod}
          value={search.method}
          options={optionsOf(DESTINATION_TYPES, payouts.methods)}
          onChange={(value) => change({ method: value })}
        />
        <span>{sentence.currency}</span>
        <FilterSelect
          label={sentence.currency}
          any={sentence.anyCurrency}
          value={search.currency}
          options={[...[...currencies].sort().map((value) => ({ value, label: value.toUpperCase() }))]}
          onChange={(value) => change({ currency: value })}
        />
        <span>{sentence.program}</span>
        <FilterSelect
          label={sentence.program}
          any={sentence.anyProgram}
          value={search.program?.toString()}
          options={[
            ...(programs.data?.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(value) => change({ program: value === undefined ? undefined : Number(value) })}
        />
        <span className="sentence">
          <span>{sentence.until}</span>
          <input
            type="date"
            className="input inline"
            aria-label={sentence.until}
            value={search.until ?? ''}
            onChange={(event) => change({ until: event.currentTarget.value || undefined })}
          />
          {account.data && (
            <CutOffs
              zone={account.data.time_zone}
              until={search.until}
              onChoose={(until) => change({ until })}
            />
          )}
        </span>
      </div>
      {search.without && (
        <div className="sentence">
          <span>{sentence.without}</span>
          {search.without.map((id) => (
            <Without
              key={id}
              id={id}
              onPutBack={() => change({ without: search.without?.filter((each) => each !== id) })}
            />
          ))}
        </div>
      )}
      <div className="sentence">
        <SearchField
          label={sentence.search}
          value={search.search ?? ''}
          onChange={(value) => change({ search: value || undefined })}
        />
        <Checkbox
          label={sentence.minimum}
          isChecked={search.minimum === 'ignored'}
          onChange={(isOn) => change({ minimum: isOn ? 'ignored' : undefined })}
        />
        {isFiltered && (
          <Button kind="quiet" onPress={() => void navigate({ search: {} })}>
            {sentence.reset}
          </Button>
        )}
      </div>
    </Card>
  );
}

const CUT_OFFS = ['lastMonth', 'yesterday', 'today'] as const;

/** The usual cut-off days as `YYYY-MM-DD` in a time zone. `now` is in milliseconds since 1970. */
function cutOffDays(now: number, zone: string): Record<(typeof CUT_OFFS)[number], string> {
  const today = dayOf(now, zone);
  const dayBefore = (day: string) => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
  return { lastMonth: dayBefore(`${today.slice(0, 7)}-01`), yesterday: dayBefore(today), today };
}

/** Sets the last day, which the API reads in the time zone of the account. */
function CutOffs({
  zone,
  until,
  onChoose,
}: {
  zone: string;
  until: string | undefined;
  onChoose: (day: string) => void;
}) {
  const days = cutOffDays(serverNow(), zone);
  return CUT_OFFS.map((name) => (
    <Button
      key={name}
      kind="quiet"
      title={dayText(days[name])}
      isPressed={until === days[name]}
      onPress={() => onChoose(days[name])}
    >
      {texts.cutOffs[name]}
    </Button>
  ));
}

/** An affiliate who is left out by choice. */
function Without({ id, onPutBack }: { id: number; onPutBack: () => void }) {
  const affiliate = useAffiliate(id);
  const name = affiliate ? nameOf(affiliate) : `#${id}`;
  return (
    <span className="chip">
      <Name>{name}</Name>
      <IconButton icon="cross" label={texts.putBack(name)} onPress={onPutBack} />
    </span>
  );
}
