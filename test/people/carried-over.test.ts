import { expect, test } from 'vitest';
import { before } from '../support/migrations.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

test('users of an earlier version keep their ids, roles and passwords, as members of their account', async () => {
  const { query } = world;
  await before(world, '0016_people.sql', async (migrate) => {
    await query(`insert into accounts (name) values ('One'), ('Two')`);
    const add = `insert into users (account_id, email, name, role, password_hash, removed_at)
      select id, $2, $2, $3, $4, $5 from accounts where name = $1`;
    await query(add, ['One', 'a@example.com', 'owner', 'hash a', null]);
    await query(add, ['One', 'b@example.com', 'viewer', null, null]);
    await query(add, ['One', 'c@example.com', 'member', null, '2026-01-01']);
    await query(add, ['Two', 'c@example.com', 'member', 'hash c', null]);
    const old = await query(`select id, name as email, role, updated_at from users order by id`);
    await query(
      `insert into oauth_applications (account_id, name, kind, redirect_uris, scopes)
       select id, 'App', 'public', '{x:/}', '{affiliates}' from accounts where name = 'One'`,
    );
    await query(
      `insert into oauth_grants (account_id, application_id, user_id, scopes)
       select u.account_id, p.id, u.id, '{affiliates}' from users u, oauth_applications p`,
    );
    await migrate();
    expect(
      await query(`select u.id, p.email, u.role, u.updated_at
                   from users u join people p on p.id = u.person_id order by u.id`),
    ).toEqual(old);
    expect(
      await query(`select p.email, a.name, p.password_hash, u.joined_at is not null as joined
                   from users u join people p on p.id = u.person_id join accounts a on a.id = u.account_id
                   where u.removed_at is null order by 1, 2`),
    ).toEqual([
      { email: 'a@example.com', name: 'One', password_hash: 'hash a', joined: true },
      { email: 'b@example.com', name: 'One', password_hash: null, joined: false },
      { email: 'c@example.com', name: 'Two', password_hash: 'hash c', joined: true },
    ]);
    expect(await query('select count(*)::int as n from people')).toEqual([{ n: 3 }]);
    expect(
      await query(`select u.role, g.revoked_because from oauth_grants g
                   join users u on u.account_id = g.account_id and u.id = g.user_id order by 1, 2`),
    ).toEqual([
      { role: 'member', revoked_because: 'user_not_owner' },
      { role: 'member', revoked_because: 'user_not_owner' },
      { role: 'owner', revoked_because: null },
      { role: 'viewer', revoked_because: 'user_not_owner' },
    ]);
  });
});
