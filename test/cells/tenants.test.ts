import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import type { World } from '../support/world.ts';
import { furnish, type Ids, nobodys, OPERATIONS, pathOf, requestOf } from '../tenants/support.ts';
import { accountIn, borrowCells, queryIn, worldIn } from './support.ts';

let world: World;
let ours: Ids;
let theirs: Ids;
let us: Api;
beforeAll(async () => {
  world = await borrowCells();
  us = (await accountIn(world, 1)).api;
  ours = await furnish(worldIn(world, 1), us, 'ours');
  theirs = await furnish(worldIn(world, 2), (await accountIn(world, 2)).api, 'theirs');
});
afterAll(() => world.close());

/** The number of rows in every table of a cell. */
const sizes = async (cell: number) => {
  const tables = await queryIn<{ name: string }>(
    world,
    cell,
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
       and not relispartition order by 1`,
  );
  const counts = tables.map(({ name }) => `select '${name}' as name, count(*)::int from ${name}`);
  return queryIn(world, cell, counts.join(' union all '));
};

// numbers of affiliates and programs are counted in each cell
const byId = OPERATIONS.filter(
  ({ access, pathParameters }) =>
    access.key && pathParameters.some((name) => !['affiliate_id', 'program_id'].includes(name)),
);

test('every operation answers for the ids of another cell as for ids that nobody has, and changes nothing', async () => {
  const before = [await sizes(0), await sizes(1), await sizes(2)];
  // the tables of another cell are in another schema: tenants/matrix.test.ts asks every operation within one
  for (const operation of someOf(byId, 30)) {
    const ask = (foreign: Ids) => {
      const ids = { ...foreign, affiliate_id: ours.affiliate_id, program_id: ours.program_id };
      return us.request(operation.method, pathOf(operation, ids), requestOf(operation, ours));
    };
    const [answer, missing] = [await ask(theirs), await ask(nobodys)];
    expect([operation.operationId, answer.status]).toEqual([operation.operationId, 404]);
    expect(answer.text).toBe(missing.text);
  }
  expect([await sizes(0), await sizes(1), await sizes(2)]).toEqual(before);
});
