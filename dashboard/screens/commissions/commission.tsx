import { getRouteApi } from '@tanstack/react-router';
import type { Commission, Refund } from '../../../src/client/api.ts';
import { COMMISSION_FIELDS } from '../../../src/client/fields.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { AffiliateLink, CommissionStatus, titleOf } from '../../parts/commissions.tsx';
import { Id } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { factsOf, givenIn } from '../../parts/record-fields.tsx';
import { Money } from '../../parts/values.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { Hold, Unhold, VoidCommission } from './actions.tsx';
import { type Act, actsOf } from './acts.ts';
import { History } from './history.tsx';
import { RefundCommission } from './refund.tsx';

const route = getRouteApi('/commissions');
const OVERLAYS = { refund: RefundCommission, void: VoidCommission, hold: Hold, unhold: Unhold };

/** A commission in a drawer: its details, history and actions. */
export function CommissionDrawer({ id }: { id: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { data: commission, error, refetch } = useRead('getCommission', { path: [id] }, { isLive: true });
  const refunds = useRead('listRefunds', { query: { commission_id: id, per_page: 100 } });
  const close = () => void navigate({ search: { ...search, open: undefined, act: undefined } });
  const act = (next: Act | undefined) =>
    void navigate({ search: { ...search, act: next }, replace: next === undefined });
  const possible = commission ? actsOf(commission) : [];
  const Overlay = may.write && search.act && possible.includes(search.act) ? OVERLAYS[search.act] : null;
  return (
    <Drawer
      title={commission ? titleOf(commission) : texts.one}
      actions={commission && <CommissionStatus commission={commission} />}
      onClose={close}
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {commission === undefined && !error && <Skeleton lines={8} />}
      {commission && (
        <>
          <p className="headline">
            <Money amount={commission.amount} currency={commission.currency} isStrong />
          </p>
          {may.write ? (
            <div className="acts">
              {possible.map((each) => (
                <Button key={each} kind={each === 'void' ? 'danger' : 'plain'} onPress={() => act(each)}>
                  {texts.actions[each]}
                </Button>
              ))}
            </div>
          ) : (
            <p className="hint">{texts.viewer}</p>
          )}
          {commission.type === 'clawback' && <p className="hint">{texts.clawbackHint}</p>}
          <About commission={commission} />
          <History commission={commission} refunds={refunds.data?.data ?? NONE} />
          {Overlay && <Overlay commission={commission} onClose={() => act(undefined)} />}
        </>
      )}
    </Drawer>
  );
}

const NONE: readonly Refund[] = [];

// the drawer shows these in another way
const {
  external_id: _id,
  affiliate_id: _affiliate,
  affiliate_external_id: _externalId,
  affiliate_email: _email,
  program_id: _program,
  type: _type,
  amount: _amount,
  currency: _currency,
  occurred_at: _earned,
  ...SHOWN
} = COMMISSION_FIELDS;

function About({ commission }: { commission: Commission }) {
  const { facts } = texts;
  const { currency } = commission;
  const program = useRead(
    'getProgram',
    { path: [commission.program_id ?? 0] },
    { isEnabled: commission.program_id !== null },
  ).data;
  return (
    <Facts
      rows={[
        [facts.affiliate, <AffiliateLink key="affiliate" id={commission.affiliate_id} />],
        [facts.type, texts.type[commission.type]],
        [facts.original, <Money key="o" amount={commission.original_amount} currency={currency} />],
        ...(commission.refunded_amount === 0
          ? []
          : [
              [
                facts.refunded,
                <Money key="r" amount={commission.refunded_amount} currency={currency} />,
              ] as const,
            ]),
        ...(program ? [[facts.program, program.name] as const] : []),
        ...factsOf(givenIn(SHOWN, commission), commission),
        [facts.externalId, <Id key="external">{commission.external_id}</Id>],
        [facts.id, <Id key="id">{commission.id}</Id>],
      ]}
    />
  );
}
