import { Link, type LinkProps } from '@tanstack/react-router';
import { useMay, useMe } from '../../data/me.ts';
import { firstSteps } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Command } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Card } from '../../parts/page.tsx';
import { home } from '../../texts/home.ts';
import { DemoOffer } from './demo.tsx';

const texts = home.begin;
const ONE = { query: { per_page: 1 } };

interface Step {
  readonly name: keyof typeof texts.steps;
  readonly isDone: boolean;
  /** Where it is done. */
  readonly place: Pick<LinkProps, 'to' | 'search'>;
}

/** The first steps of an account: what the user may do, ticked once it is done. null while loading. */
function useSteps(): readonly Step[] | null {
  const may = useMay();
  const counts = [
    useRead('listAffiliates', ONE),
    useRead('listCommissions', ONE),
    useRead('listPayouts', ONE),
    // the same read as that of `Attention`
    useRead('listWebhookEndpoints', { query: { per_page: 100 } }),
  ].map(({ data }) => data?.pagination.total);
  const users = useRead('listUsers', ONE, { isEnabled: may.people }).data?.pagination.total;
  if (counts.includes(undefined) || (may.people && users === undefined)) return null;
  const [affiliates = 0, commissions = 0, payouts = 0, endpoints = 0] = counts;
  const steps: readonly (Step & { readonly isAllowed: boolean })[] = [
    {
      name: 'affiliates',
      isAllowed: may.write,
      isDone: affiliates > 0,
      place: { to: '/import', search: { kind: 'affiliates' } },
    },
    {
      name: 'commissions',
      isAllowed: may.write,
      isDone: commissions > 0,
      place: { to: '/import', search: { kind: 'commissions' } },
    },
    { name: 'endpoint', isAllowed: may.webhooks, isDone: endpoints > 0, place: { to: '/webhooks' } },
    { name: 'colleague', isAllowed: may.people, isDone: (users ?? 0) > 1, place: { to: '/settings/people' } },
    { name: 'payout', isAllowed: may.write, isDone: payouts > 0, place: { to: '/payouts/new' } },
  ];
  return steps.filter(({ isAllowed }) => isAllowed);
}

/** The first steps of a new account, until they are done or the user hides them, and the offer of a demo while it is empty. Not in a demo. */
export function Beginning() {
  const steps = useSteps();
  const isHidden = firstSteps.use() === 'hidden';
  const account = useMe().data?.account;
  const may = useMay();
  if (steps === null || isHidden || !account || account.is_demo || steps.every(({ isDone }) => isDone))
    return null;
  return (
    <>
      {steps.every(({ isDone }) => !isDone) && <DemoOffer />}
      <Card
        title={texts.title}
        actions={
          <Button kind="quiet" onPress={() => firstSteps.set('hidden')}>
            {texts.hide}
          </Button>
        }
      >
        <p className="soft form-lead">
          {texts.lead} {texts.currency(account.default_currency.toUpperCase())}{' '}
          {may.write && <Link to="/settings/account">{texts.settings}</Link>}
        </p>
        <ol className="checklist">
          {steps.map(({ name, isDone, place }, index) => (
            <li key={name}>
              <span className={isDone ? 'step-sign done' : 'step-sign'}>
                {isDone ? <Icon name="check" /> : index + 1}
              </span>
              <span className="checklist-text">
                <span>
                  {texts.steps[name].title}{' '}
                  <span className="hidden-text">({isDone ? texts.done : texts.open})</span>
                </span>
                {!isDone && <Command>{texts.steps[name].command}</Command>}
              </span>
              {!isDone && (
                <Link className="button plain" {...place}>
                  {texts.steps[name].action}
                </Link>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </>
  );
}
