import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Me, OwnSession } from '../../../src/client/api.ts';
import { describeRole, roleLabel } from '../../../src/contract/roles.ts';
import { leave } from '../../data/leave.ts';
import { useMe } from '../../data/me.ts';
import { browserName } from '../../parts/browser-name.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Skeleton } from '../../parts/feedback.tsx';
import { TextField } from '../../parts/field.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { ConfirmEnd } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';
import { Settings } from './frame.tsx';
import './settings.css';

const texts = settings.profile;
const route = getRouteApi('/settings/profile');

/** /settings/profile: what the signed-in person may see and change about themselves, in every role. */
export function Profile() {
  const { data: me } = useMe();
  return (
    <Settings part="profile" lead={texts.lead}>
      {me === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <>
          <div className="settings-form">
            <Card>
              <Facts
                rows={[
                  [texts.facts.name, <Name key="name">{me.name ?? ''}</Name>],
                  [texts.facts.email, <Name key="email">{me.email ?? ''}</Name>],
                  [texts.facts.role, describeRole(me.role)],
                  [texts.facts.account, <Name key="account">{me.account.name}</Name>],
                ]}
              />
            </Card>
            <Password email={me.email ?? ''} />
          </div>
          {me.accounts.length > 1 && <Accounts accounts={me.accounts} />}
          <OwnSessions isInSeveral={me.accounts.length > 1} />
        </>
      )}
    </Settings>
  );
}

type Problems = Partial<Record<'current' | 'next' | 'again', keyof typeof texts.problems>>;

function Password({ email }: { email: string }) {
  const { password: result } = route.useSearch();
  const [typed, setTyped] = useState({ current: '', next: '', again: '' });
  const [problems, setProblems] = useState<Problems>(() => ({
    ...(result === 'wrong' ? { current: result } : {}),
    ...(result === 'weak' ? { next: result } : {}),
    ...(result === 'differs' ? { again: result } : {}),
  }));
  const { current, next, again } = typed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found: Problems = {
      ...(current === '' ? { current: 'missing' } : {}),
      ...([...next].length < 10 ? { next: 'weak' } : {}),
      ...(next === again ? {} : { again: 'differs' }),
    };
    setProblems(found);
    if (Object.keys(found).length === 0) leave('/account/password', { current, new: next, again });
  };
  const field = (name: keyof typeof typed, autoComplete: string) => (
    <TextField
      label={texts[name]}
      type="password"
      autoComplete={autoComplete}
      value={typed[name]}
      hint={name === 'next' ? texts.nextHint : undefined}
      problem={problems[name] && texts.problems[problems[name]]}
      onChange={(value) => setTyped({ ...typed, [name]: value })}
    />
  );
  return (
    <form onSubmit={submit} noValidate>
      {result === 'changed' && <Notice tone="good">{texts.changed}</Notice>}
      <Card title={texts.password}>
        <p className="soft">{texts.passwordLead}</p>
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        {field('current', 'current-password')}
        {field('next', 'new-password')}
        {field('again', 'new-password')}
        <div className="buttons">
          <Button type="submit">{texts.change}</Button>
        </div>
      </Card>
    </form>
  );
}

function Accounts({ accounts }: { accounts: Me['accounts'] }) {
  const columns: readonly Column<Me['accounts'][number]>[] = [
    { title: texts.account, cell: ({ name }) => <Name>{name}</Name> },
    { title: settings.people.role, cell: ({ role }) => roleLabel(role) },
    {
      title: texts.switch,
      cell: ({ id, name, is_current }) =>
        is_current ? (
          <span className="soft">{texts.thisAccount}</span>
        ) : (
          <Button
            kind="quiet"
            title={texts.switchLabel(name)}
            onPress={() => leave('/account/switch', { account: id, next: '/settings/profile' })}
          >
            {texts.switch}
          </Button>
        ),
    },
  ];
  return (
    <>
      <h2 className="section-title">{texts.accounts}</h2>
      <p className="soft">{texts.accountsLead}</p>
      <Table label={texts.accounts} columns={columns} rows={accounts} keyOf={({ id }) => id} />
    </>
  );
}

function OwnSessions({ isInSeveral }: { isInSeveral: boolean }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList('listOwnSessions', {
    place: search,
    onPlace: (next) => void navigate({ search: { ...search, page: undefined, ...next } }),
  });
  const [ending, setEnding] = useState<OwnSession | 'others' | null>(null);
  const close = () => setEnding(null);
  const others = (list.reading.data?.pagination.total ?? 1) - 1;
  return (
    <>
      <h2 className="section-title">{texts.sessions}</h2>
      <p className="soft">{texts.sessionsLead}</p>
      <Listing
        {...list}
        label={texts.sessions}
        columns={sessionColumns(isInSeveral, setEnding)}
        keyOf={({ id }) => id}
        empty={null}
      />
      {others > 0 && (
        <div className="buttons">
          <Button kind="danger" onPress={() => setEnding('others')}>
            {texts.endOthers}
          </Button>
        </div>
      )}
      {ending === 'others' && (
        <ConfirmEnd
          operation="deleteOtherSessions"
          input={{}}
          title={texts.endOthers}
          action={texts.endOthers}
          done={texts.endedOthers}
          onClose={close}
        >
          <p>{texts.endingOthers}</p>
        </ConfirmEnd>
      )}
      {ending !== null && ending !== 'others' && (
        <ConfirmEnd
          operation="deleteOwnSession"
          input={{ path: [ending.id] }}
          title={texts.endLabel(browserName(ending.user_agent))}
          action={texts.endLabel(browserName(ending.user_agent))}
          done={settings.people.ended}
          onClose={close}
        >
          <p>{texts.ending}</p>
        </ConfirmEnd>
      )}
    </>
  );
}

const sessionColumns = (
  isInSeveral: boolean,
  onEnd: (session: OwnSession) => void,
): readonly Column<OwnSession>[] => [
  { title: settings.people.browser, cell: ({ user_agent }) => browserName(user_agent) },
  ...(isInSeveral
    ? [
        {
          title: texts.account,
          isWide: true,
          cell: ({ account_name }: OwnSession) => <Name>{account_name}</Name>,
        },
      ]
    : []),
  {
    title: settings.people.address,
    isWide: true,
    cell: ({ address }) => <code className="unbroken">{address ?? settings.people.unknown}</code>,
  },
  {
    title: texts.since,
    isWide: true,
    sort: 'created_at',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: settings.people.seen,
    sort: 'last_seen_at',
    cell: ({ last_seen_at }) => <Time at={last_seen_at} />,
  },
  {
    title: settings.people.end,
    cell: (session) =>
      session.is_current ? (
        <span className="soft">{settings.people.current}</span>
      ) : (
        <Button
          kind="quiet"
          title={texts.endLabel(browserName(session.user_agent))}
          onPress={() => onEnd(session)}
        >
          {settings.people.end}
        </Button>
      ),
  },
];
