import { assignmentsOf } from '../../contract/changes.ts';
import { namesOf } from '../../contract/fields.ts';
import { created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { uniqueViolation } from '../../db/faults.ts';
import { fail } from '../../kernel/errors.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { PROGRAM_FIELDS } from './fields.ts';
import { newProgram, program, programChange } from './record.ts';
import { insertProgram, listPrograms, programList, readProgram, updateProgram } from './store.ts';

const missing = () => fail('resource_missing', 'no such program');

/** Runs a write and names the field of its unique violation: reports identify programs by name. */
async function uniqueName<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (uniqueViolation(error) === null) throw error;
    throw fail('duplicate_name', 'name: another program has this name');
  }
}

export const list = readRoute({
  operation: 'listPrograms',
  path: '/v2/affiliates/programs',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List programs',
  list: programList,
  returns: { 200: listOf(program) },
  handle: async ({ db, account, list }) => page(await listPrograms(db, account, list)),
});

export const create = writeRoute({
  operation: 'createProgram',
  method: 'POST',
  path: '/v2/affiliates/programs',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create a program',
  body: newProgram,
  returns: { 201: program },
  creates: '/v2/affiliates/programs/{program_id}',
  errors: ['duplicate_name'],
  handle: async ({ tx, account, body }) => created(await uniqueName(insertProgram(tx, account, body))),
});

export const get = readRoute({
  operation: 'getProgram',
  path: '/v2/affiliates/programs/{program_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get a program',
  returns: { 200: program },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => {
    const id = numberIdOf(params.program_id);
    const json = id === null ? null : await readProgram(db, account, id);
    if (json === null) throw missing();
    return ok(json);
  },
});

export const change = writeRoute({
  operation: 'changeProgram',
  method: 'PATCH',
  path: '/v2/affiliates/programs/{program_id}',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Change a program',
  description: 'A new hold applies to new commissions only.',
  body: programChange,
  returns: { 200: program },
  errors: ['resource_missing', 'duplicate_name'],
  handle: async ({ tx, account, params, body }) => {
    const id = numberIdOf(params.program_id);
    const changes = assignmentsOf(body, namesOf(PROGRAM_FIELDS));
    const json =
      id === null
        ? null
        : await uniqueName(changes ? updateProgram(tx, account, id, changes) : readProgram(tx, account, id));
    if (json === null) throw missing();
    return ok(json);
  },
});
