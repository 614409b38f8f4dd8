import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AFFILIATE_FIELDS,
  COMMISSION_FIELDS,
  DESTINATION_FIELDS,
  ENDPOINT_FIELDS,
  type FormFields,
  PROGRAM_FIELDS,
  TAX_PROFILE_FIELDS,
} from '../../src/client/fields.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { formatDecimal } from '../../src/kernel/money.ts';
import { commandsOf } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import type { Answer } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { settingsOf } from '../support/database-url.ts';
import { isLong, longRun } from '../support/depth.ts';
import {
  examplesOf,
  type Field,
  fieldsOf,
  operationOf,
  operationsOf,
  PREPARED,
  RESOURCES,
  singly,
  TESTED_IN,
} from '../support/fields.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { dump, fill, type Json, OPERATIONS, sampleBody, unique } from './fixtures.ts';

// Every field that a request can set is tested through every interface. The fields come from the description of the running
// program, so that a new one is covered without a change here.

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const machine = useMachine();
const { runJson, runText } = commandsOf(world, api, machine);

const FORMS: Readonly<Record<string, FormFields>> = {
  affiliates: AFFILIATE_FIELDS,
  commissions: COMMISSION_FIELDS,
  'destinations of type ach': DESTINATION_FIELDS,
  'destinations of type sepa': DESTINATION_FIELDS,
  programs: PROGRAM_FIELDS,
  'tax profiles': TAX_PROFILE_FIELDS,
  'webhook endpoints': ENDPOINT_FIELDS,
};

function done(answer: Answer): Json {
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

test('every operation with a JSON body belongs to a resource whose fields are tested here, or names the tests of its fields', () => {
  const described = OPERATIONS.filter(({ requestBody }) => requestBody?.content['application/json']);
  const covered = Object.values(RESOURCES).flatMap(operationsOf);
  expect([...new Set([...covered, ...Object.keys(TESTED_IN)])].sort()).toEqual(
    described.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});

test.each(Object.entries(TESTED_IN))(
  'the tests of %s name every field of its body: %s',
  (operation, files) => {
    const tests = files.split(' ').map((file) => readFileSync(`test/${file}.test.ts`, 'utf8'));
    const { properties } = operationOf(operation).requestBody?.content['application/json']?.schema ?? {};
    const names = Object.keys(properties);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(tests.join('\n')))).toEqual([]);
  },
);

test('every field of these operations is sent by a test', () => {
  for (const { create } of Object.values(RESOURCES)) {
    const sent = Object.values(RESOURCES)
      .filter((each) => each.create === create)
      .flatMap((each) => Object.keys(examplesOf(fieldsOf(create), each)));
    const all = fieldsOf(create).map(({ name }) => name);
    // a pull endpoint is a resource of its own: its records begin with this value
    const otherNames = ['affiliate_external_id', 'affiliate_email', 'delivery'];
    expect(
      all.filter((name) => !sent.includes(name) && !otherNames.includes(name)),
      create,
    ).toEqual([]);
  }
});

describe.each(Object.entries(RESOURCES))('the fields of %s', (name, resource) => {
  const { create, change, put, file, command, keptByErasure, exported, shown = {} } = resource;
  const { prepare = async () => ({}), changedWith = {}, alsoChanges = {} } = resource;
  const { recordIn = (body: Json) => body, isOfAffiliate = false } = resource;
  const operation = operationOf(create);
  /** The examples of all fields. */
  const all = examplesOf(fieldsOf(create), resource);
  const fields = fieldsOf(create).flatMap((field) =>
    field.name in all ? [{ ...field, example: all[field.name] }] : [],
  );
  const required: Json = { ...sampleBody(operation), ...resource.least };
  const pathOf = (path: string, record: Json) => fill(path, { ...record, id: record.id });
  const oneOf = (record: Json): string => pathOf(resource.read ?? `${operation.path}/{id}`, record);

  /** Creates a record of its own surroundings. */
  async function make(body: Json): Promise<Json> {
    const found = await prepare(api);
    const names = fieldsOf(create).map((field) => field.name);
    const own = Object.fromEntries(
      Object.entries(found).filter(([key]) => names.includes(key) && (key in body || key in required)),
    );
    const sent = { ...required, ...body, ...own };
    const answer = await api.request(operation.method, pathOf(operation.path, found), { body: sent });
    return { ...done(answer), ...found };
  }
  const read = async (record: Json): Promise<Json> => recordIn(done(await api.get(oneOf(record))));
  /** The examples of fields as requests have them, and as the records of `make` show them. */
  const examples = examplesOf(fields, resource);
  const shownOf = (record: Json, given: readonly Field[] = fields): Json => {
    const values = { ...examplesOf(given, resource), ...shown };
    return Object.fromEntries(
      given.flatMap(({ name: field }) =>
        values[field] === undefined ? [] : [[field, field in PREPARED ? record[field] : values[field]]],
      ),
    );
  };
  const allBut = (without: readonly string[]): Field[] =>
    fields.filter((field) => !without.includes(field.name));

  test('are stored when it is created, and shown by GET and in the list', async () => {
    const made = await make(examples);
    const expected = shownOf(made);
    expect(made).toMatchObject(expected);
    expect(await read(made)).toMatchObject(expected);
    if (operation.method === 'POST' && resource.read === undefined)
      expect(done(await api.get(operation.path)).data).toMatchObject([expected]);
  });

  test('have an example that is not the value of a new record', async () => {
    const made = await make({});
    for (const { name: field, example, schema } of allBut(Object.keys(required))) {
      if (schema.enum?.length === 1) continue; // there is no other value
      expect(made[field], field).not.toEqual(example);
    }
  });

  if (change !== undefined) {
    test.each(fieldsOf(change))('are changed by PATCH alone, and cleared by null: $name', async (field) => {
      const made = await make({});
      const with_ = changedWith[field.name] ?? {};
      const sent = { ...with_, ...examplesOf([field], resource) };
      const untouched = ['updated_at', 'secret', ...Object.keys(with_), ...(alsoChanges[field.name] ?? [])];
      const others = Object.fromEntries(Object.entries(made).filter(([key]) => !untouched.includes(key)));
      const after = { ...others, ...shownOf(made, [field]) };
      expect(done(await api.patch(oneOf(made), sent))).toMatchObject(after);
      expect(await read(made)).toMatchObject(after);
      if (!field.isNullable || field.name in changedWith || resource.kept?.includes(field.name)) return;
      expect(done(await api.patch(oneOf(made), { [field.name]: null }))).toMatchObject({
        ...others,
        [field.name]: null,
      });
    });
  }

  if (put !== undefined) {
    test('are stored by PUT', async () => {
      const own = fill(operationOf(put).path, { external_id: 'put-1' });
      const fields = fieldsOf(put);
      const sent = examplesOf(fields, resource);
      const made = done(await api.put(own, sent));
      expect(made).toMatchObject(shownOf(made, fields));
      expect(done(await api.get(own))).toMatchObject({ ...shownOf(made, fields), external_id: 'put-1' });
    });
  }

  if (file !== undefined) {
    test('are given by a column of a file, for a new record and for one that exists', async () => {
      const given = allBut(file.without);
      const found = await prepare(api);
      const single = singly(given, FORMS[name] ?? {});
      const cellOf = ({ name: field, example }: Field) =>
        csvCell(FORMS[name]?.[field], field in found ? found[field] : example, examples.currency);
      const csv = [
        single.map(({ name: field }) => FORMS[name]?.[field]?.column ?? field),
        single.map(cellOf),
      ];
      if (isOfAffiliate) {
        const { email } = done(await api.get(`/v2/affiliates/${found.affiliate_id}`));
        csv.forEach((cells, line) => void cells.push(line === 0 ? 'email' : email));
      }
      const text = `${csv.map((cells) => cells.join(',')).join('\r\n')}\r\n`;
      const expected = shownOf(found, given);
      done(await api.upload(`/v2/imports?kind=${file.kind}`, text));
      if (isOfAffiliate) {
        expect(await read(found)).toMatchObject(expected);
        return;
      }
      expect(done(await api.get(operation.path)).data).toMatchObject([expected]);
      if (change === undefined) return;
      const [record] = done(await api.get(operation.path)).data;
      for (const { name: field, isNullable } of given) {
        if (isNullable && field !== 'external_id') done(await api.patch(oneOf(record), { [field]: null }));
      }
      done(await api.upload(`/v2/imports?kind=${file.kind}`, text));
      expect(await read(record)).toMatchObject(expected);
    });
  }

  const filters = OPERATIONS.find(
    ({ method, path }) => method === 'GET' && path === operation.path,
  )?.parameters;
  // a refund has the currency of its lines, by which test/api/lists finds it
  const unshown = operation.path === '/v2/affiliates/refunds' ? ['currency'] : [];
  const filtered = allBut([...Object.keys(required), ...unshown]).filter(({ name: field }) =>
    filters?.some((filter) => filter.name === field),
  );
  if (filtered.length > 0) {
    longRun.test.each(filtered)('are found by the filter with their name: $name', async ({ name: field }) => {
      const other = await make('external_id' in required ? { external_id: 'another' } : {});
      const made = await make(examples);
      const { data } = done(await api.get(`${operation.path}?${field}=${encodeURIComponent(made[field])}`));
      const expected = [made, other].filter((record) => record[field] === made[field]);
      expect(data.map(({ id }: Json) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
    });
  }

  // the export is one for all: a short run looks at one of its files
  if (exported !== undefined && (isLong || name === 'commissions')) {
    test('are in the export of the account', async () => {
      const made = await make(examples);
      const { id } = done(await api.get('/v2/account'));
      const folder = join(machine.folder, `export-of-${name.replaceAll(' ', '-')}`);
      const ran = await machine.run(['accounts', 'export', id, folder], { env: await settingsOf(world) });
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      const [line = '{}'] = readFileSync(join(folder, `${exported}.jsonl`), 'utf8').split('\n');
      expect(JSON.parse(line)).toMatchObject(shownOf(made));
    });
  }

  if (keptByErasure !== undefined) {
    test('leave no trace when the person is erased', async () => {
      const made = await make(examples);
      done(await api.upload(`/v2/imports?kind=${name}`, `email,name_first\r\n${made.email},Zoe\r\n`));
      done(await api.post(`${oneOf(made)}/erase`));
      await keepHouse(world);
      const record = await read(made);
      for (const { name: field, isNullable } of allBut(keptByErasure))
        if (isNullable) expect(record[field], field).toBeNull();
      const account = uuidOf('acc', done(await api.get('/v2/account')).id) ?? '';
      const rows = (await dump(world)).filter((row) => row.includes(account)).join('\n');
      expect(textsIn(fields).filter((text) => rows.includes(text))).toEqual([]);
    });
  }

  if (resource.mayNameAffiliate) {
    test('lose the address of an affiliate who is erased', async () => {
      const email = `${unique('erased')}@example.com`;
      const { id } = done(await api.post('/v2/affiliates', { email }));
      const texts = fields.flatMap(({ name: field, example }): [string, Json][] => {
        if (field === 'metadata') return [[field, { note: email }]];
        const isText = ['text', 'id', 'email'].includes(FORMS[name]?.[field]?.type ?? '');
        return isText && typeof example === 'string' ? [[field, email]] : [];
      });
      const made = await make({ ...examples, ...Object.fromEntries(texts) });
      done(await api.post(`/v2/affiliates/${id}/erase`));
      await keepHouse(world);
      const record = await read(made);
      expect(
        texts.flatMap(([field]) => (JSON.stringify(record[field]).includes(email) ? [field] : [])),
      ).toEqual([]);
    });
  }

  if (command !== undefined) {
    test('have an option of the command that creates a record, and a line of the command that shows it', async () => {
      const given = allBut(command.without);
      const found = await prepare(api);
      const options = singly(given, FORMS[name] ?? {}).flatMap(({ name: field, example }) =>
        optionOf(FORMS[name]?.[field], field, field in found ? found[field] : example, examples.currency),
      );
      const made = await runJson(...command.words.map((word) => fill(word, found)), ...options);
      expect(made).toMatchObject(shownOf(found, given));
      const text = isOfAffiliate
        ? await runText(...command.words.slice(0, -2), 'show', String(found.affiliate_id))
        : await runText(command.words[0] ?? '', 'show', String(made.id));
      expect(
        textsIn(given.filter(({ name: field }) => !(field in shown))).filter((each) => !text.includes(each)),
      ).toEqual([]);
    });
  }
});

/** The texts of examples that belong to one person: words of an enumeration and short ones do not. */
function textsIn(fields: readonly Field[]): string[] {
  return fields.flatMap(({ schema, example }) => {
    if (JSON.stringify(schema).includes('"enum"')) return [];
    const texts = typeof example === 'object' ? Object.values<Json>(example) : [example];
    return texts
      .filter((text) => typeof text === 'string' && text.length > 4)
      .map((text) => text.replace(/T\d\d:\d\d:\d\d.*Z$/, ''));
  });
}

/** The words that give an example to an option. */
function optionOf(
  form: FormFields[string] | undefined,
  field: string,
  example: Json,
  currency: string,
): string[] {
  if (form === undefined) throw new Error(`${field} has no option: run npm run generate`);
  const [long = ''] = form.option.split(' ');
  switch (form.type) {
    case 'flag':
      return [example ? long : long.replace('--', '--no-')];
    case 'metadata':
      return Object.entries(example).flatMap(([key, text]) => [long, `${key}=${text}`]);
    case 'amounts':
      return [
        long,
        Object.entries<number>(example)
          .map(([code, amount]) => `${code}=${(amount / 100).toFixed(2)}`)
          .join(),
      ];
    default:
      return [long, typedText(form, example, currency)];
  }
}

/** A value as people type it. */
const typedText = ({ type }: FormFields[string], example: Json, currency: string): string =>
  type === 'money' ? formatDecimal(BigInt(example), currency) : String(example);

function csvCell(form: FormFields[string] | undefined, example: Json, currency: string): string {
  const text = form ? typedText(form, example, currency) : String(example);
  return text.includes(',') ? `"${text}"` : text;
}
