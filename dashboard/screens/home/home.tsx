import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OwedBalance } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { useIsNarrow } from '../../parts/narrow.ts';
import { Card, Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Money, Moneys } from '../../parts/values.tsx';
import { home as texts } from '../../texts/home.ts';
import { payouts } from '../../texts/payouts.ts';
import { Attention } from './attention.tsx';
import { Beginning } from './beginning.tsx';
import { Deliveries } from './deliveries.tsx';
import { DemoBanner } from './demo.tsx';
import { Months } from './months.tsx';

const LIVE = { isLive: true };

/** / */
export function Home() {
  const { data, error, refetch } = useRead('getBalances', {}, LIVE);
  return (
    <Page title={texts.title} lead={texts.lead}>
      <DemoBanner />
      <Beginning />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton lines={6} />}
      {data && (
        <>
          <Attention balances={data} />
          <CurrentPayout id={data.current_payout_id} />
          <Owed balances={data.balances} />
        </>
      )}
      <Months />
      <Deliveries />
    </Page>
  );
}

type State = keyof typeof texts.owed.states;
const STATES = Object.keys(texts.owed.states) as State[];

/** A link to the rows with a state of owed money, in all currencies or in one. */
function RowsLink({ state, currency, children }: { state: State; currency?: string; children: ReactNode }) {
  if (state === 'payable') {
    return (
      <Link to="/payouts/new" search={{ currency }}>
        {children}
      </Link>
    );
  }
  if (state === 'in_payout') {
    return (
      <Link to="/payouts" search={{ status: 'unpaid' }}>
        {children}
      </Link>
    );
  }
  if (state === 'on_hold') {
    return (
      <Link to="/commissions" search={{ status: 'pending', currency }}>
        {children}
      </Link>
    );
  }
  if (state === 'not_ready' || state === 'affiliate_inactive') {
    const filter =
      state === 'not_ready' ? ({ is_ready_for_payout: 'false' } as const) : ({ status: 'inactive' } as const);
    return (
      <Link to="/affiliates" search={{ ...filter, sort: '-unpaid', balance_currency: currency }}>
        {children}
      </Link>
    );
  }
  return (
    <Link to="/payouts/new" search={{ view: 'out', currency }}>
      {children}
    </Link>
  );
}

/** The amount owed in a state and a currency, linked to its rows. */
function In({ state, balance: { currency, [state]: sum } }: { state: State; balance: OwedBalance }) {
  const amount = <Money amount={sum.amount} currency={currency} />;
  if (sum.affiliate_count === 0) return amount;
  return (
    <RowsLink state={state} currency={currency}>
      {amount}
    </RowsLink>
  );
}

/** The amounts owed in a state, in every currency that has one. */
function InAll({ state, balances }: { state: State; balances: readonly OwedBalance[] }) {
  const there = balances.filter((balance) => balance[state].affiliate_count > 0);
  return (
    <span className="moneys">
      {there.map((balance) => (
        <In key={balance.currency} state={state} balance={balance} />
      ))}
    </span>
  );
}

/** The money owed: a row per state and a column per currency, or one column for all on a phone. */
function Owed({ balances }: { balances: readonly OwedBalance[] }) {
  const shown = STATES.filter((state) => balances.some((each) => each[state].affiliate_count > 0));
  const isNarrow = useIsNarrow();
  const columns: readonly Column<State>[] = [
    {
      title: texts.owed.state,
      cell: (state) => <RowsLink state={state}>{texts.owed.states[state]}</RowsLink>,
    },
    ...(isNarrow
      ? [
          {
            title: texts.owed.amount,
            isFigure: true,
            cell: (state: State) => <InAll {...{ state, balances }} />,
          },
        ]
      : balances.map((balance) => ({
          title: balance.currency.toUpperCase(),
          isFigure: true,
          cell: (state: State) => <In state={state} balance={balance} />,
        }))),
  ];
  return (
    <section className="part">
      <h2>{texts.owed.title}</h2>
      {shown.length === 0 ? (
        <p className="soft">{texts.owed.nothing}</p>
      ) : (
        <Table
          label={texts.owed.title}
          columns={columns}
          rows={shown}
          keyOf={(state) => state}
          footer={
            <tr>
              <td>{texts.owed.all}</td>
              {isNarrow ? (
                <td className="figure">
                  <Moneys
                    amounts={balances.map(({ currency, owed }) => ({ currency, amount: owed }))}
                    isStrong
                  />
                </td>
              ) : (
                balances.map(({ currency, owed }) => (
                  <td key={currency} className="figure">
                    <Money amount={owed} currency={currency} isStrong />
                  </td>
                ))
              )}
            </tr>
          }
        />
      )}
    </section>
  );
}

/** The unpaid payout with the next step, or a link to create one. */
function CurrentPayout({ id }: { id: string | null }) {
  const { data: payout } = useRead(
    'getPayout',
    { path: [id ?? ''] },
    { isEnabled: id !== null, isLive: true },
  );
  const { title, none, preview, open, review, lead } = texts.current;
  const may = useMay();
  if (id === null) {
    return (
      <Card title={title} actions={<Link to="/payouts/new">{preview}</Link>}>
        <p className="soft">{none}</p>
      </Card>
    );
  }
  if (payout === undefined) return <Skeleton />;
  return (
    <Card
      title={payouts.name(payout.number)}
      actions={
        <Link className="button primary" to="/payouts/$id" params={{ id }}>
          {may.write ? open : review}
        </Link>
      }
    >
      <p className="soft form-lead">{lead(payout.affiliate_count)}</p>
      <div className="sums">
        {payout.totals.map(({ currency, amount }) => (
          <Money key={currency} amount={amount} currency={currency} isStrong />
        ))}
      </div>
    </Card>
  );
}
