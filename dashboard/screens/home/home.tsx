import { Link } from '@tanstack/react-router';
import type { AffiliateBalances, OwedBalance } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Money, Moneys } from '../../parts/values.tsx';
import { home as texts } from '../../texts/home.ts';
import { payouts } from '../../texts/payouts.ts';
import { Beginning } from './beginning.tsx';

const LIVE = { isLive: true };

/** / */
export function Home() {
  const { data, error, refetch } = useRead('getBalances', {}, LIVE);
  return (
    <Page title={texts.title} lead={texts.lead}>
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
    </Page>
  );
}

type State = keyof typeof texts.owed.states;
const STATES = Object.keys(texts.owed.states) as State[];

/** The rows that a state of what is owed is of. */
function StateLink({ state }: { state: State }) {
  const name = texts.owed.states[state];
  if (state === 'on_hold') {
    return (
      <Link to="/commissions" search={{ status: 'pending' }}>
        {name}
      </Link>
    );
  }
  if (state === 'not_ready') {
    return (
      <Link to="/affiliates" search={{ is_ready_for_payout: 'false', sort: '-unpaid' }}>
        {name}
      </Link>
    );
  }
  if (state === 'affiliate_inactive') {
    return (
      <Link to="/affiliates" search={{ status: 'inactive', sort: '-unpaid' }}>
        {name}
      </Link>
    );
  }
  if (state === 'payable') return <Link to="/payouts/new">{name}</Link>;
  if (state === 'in_payout') {
    return (
      <Link to="/payouts" search={{ status: 'unpaid' }}>
        {name}
      </Link>
    );
  }
  return name;
}

/** What is owed, a row a state and a column a currency. */
function Owed({ balances }: { balances: readonly OwedBalance[] }) {
  const shown = STATES.filter((state) => balances.some((each) => each[state].affiliate_count > 0));
  const columns: readonly Column<State>[] = [
    { title: texts.owed.state, cell: (state) => <StateLink state={state} /> },
    ...balances.map((balance) => ({
      title: balance.currency.toUpperCase(),
      isFigure: true,
      cell: (state: State) => <Money amount={balance[state].amount} currency={balance.currency} />,
    })),
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
              {balances.map(({ currency, owed }) => (
                <td key={currency} className="figure">
                  <Money amount={owed} currency={currency} isStrong />
                </td>
              ))}
            </tr>
          }
        />
      )}
    </section>
  );
}

/** The unpaid payout and the way on, or the way to one. */
function CurrentPayout({ id }: { id: string | null }) {
  const { data: payout } = useRead(
    'getPayout',
    { path: [id ?? ''] },
    { isEnabled: id !== null, isLive: true },
  );
  const { title, none, preview, open, lead } = texts.current;
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
          {open}
        </Link>
      }
    >
      <p className="soft form-lead">{lead(payout.affiliate_count)}</p>
      <Moneys amounts={payout.totals} isStrong />
    </Card>
  );
}

/** What somebody should look at, each with the way there. */
function Attention({ balances }: { balances: AffiliateBalances }) {
  const disabled = useRead('listWebhookEndpoints', { query: { status: 'disabled', per_page: 1 } }, LIVE);
  const failed = useRead('listWebhookEvents', { query: { status: 'failed', per_page: 1 } }, LIVE);
  const without = Math.max(
    0,
    ...balances.balances.map(({ without_destination: { affiliate_count: number } }) => number),
  );
  const [endpoints, events] = [disabled.data?.pagination.total ?? 0, failed.data?.pagination.total ?? 0];
  const { destination, endpoints: endpointsTold, events: eventsTold } = texts.attention;
  if (without + endpoints + events === 0) return null;
  return (
    <Notice tone="warn">
      {without > 0 && (
        <p>
          <Link to="/affiliates" search={{ has_destination: 'false', sort: '-unpaid' }}>
            {destination(without)}
          </Link>
        </p>
      )}
      {endpoints > 0 && <p>{endpointsTold(endpoints)}</p>}
      {events > 0 && <p>{eventsTold(events)}</p>}
    </Notice>
  );
}
