import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card } from '../../parts/page.tsx';
import { home } from '../../texts/home.ts';

const texts = home.begin;
const ONE = { query: { per_page: 1 } };

/** The first steps of a new account; hidden once a payout was paid and the shop is connected. */
export function Beginning() {
  const may = useMay();
  const counts = [
    useRead('listAffiliates', ONE),
    useRead('listCommissions', ONE),
    useRead('listPayouts', ONE),
    useRead('listWebhookEndpoints', ONE),
    useRead('listWebhookEvents', { query: { status: 'delivered', per_page: 1 } }),
  ].map(({ data }) => data?.pagination.total);
  const keys = useRead('listApiKeys', ONE, { isEnabled: may.people }).data?.pagination.total;
  if (counts.includes(undefined)) return null;
  const [affiliates = 0, commissions = 0, payouts = 0, endpoints = 0, delivered = 0] = counts;
  if (payouts > 0 && endpoints > 0) return null;
  const steps: readonly (readonly [isDone: boolean, inside: ReactNode])[] = [
    [
      affiliates > 0,
      <Link key="a" to="/import" search={{ kind: 'affiliates' }}>
        {texts.affiliates}
      </Link>,
    ],
    [
      commissions > 0,
      <Link key="c" to="/import" search={{ kind: 'commissions' }}>
        {texts.commissions}
      </Link>,
    ],
    [
      payouts > 0,
      <Link key="p" to="/payouts">
        {texts.payout}
      </Link>,
    ],
    ...(may.people
      ? [
          [
            (keys ?? 0) > 0,
            <Link key="k" to="/settings/keys">
              {texts.key}
            </Link>,
          ] as const,
        ]
      : []),
    [
      endpoints > 0,
      <Link key="e" to="/webhooks">
        {texts.endpoint}
      </Link>,
    ],
    [
      delivered > 0,
      <Link key="v" to="/webhooks/log">
        {texts.event}
      </Link>,
    ],
  ];
  return (
    <Card title={texts.title}>
      <p className="soft form-lead">{texts.lead}</p>
      <ul className="checklist">
        {steps.map(([isDone, inside], index) => (
          <li key={index}>
            <span className={isDone ? 'step-sign done' : 'step-sign'}>
              {isDone ? <Icon name="check" /> : index + 1}
            </span>
            {inside} <span className="hidden-text">({isDone ? texts.done : texts.open})</span>
          </li>
        ))}
      </ul>
      {affiliates === 0 && (
        <p className="hint">
          {texts.demo} <code>{texts.demoCommand}</code>
        </p>
      )}
    </Card>
  );
}
