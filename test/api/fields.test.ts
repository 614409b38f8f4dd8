import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AFFILIATE_FIELDS, type FormFields } from '../../src/client/fields.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { commandsOf } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import type { Answer } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { settingsOf } from '../support/database-url.ts';
import { examplesOf, type Field, fieldsOf, operationOf, RESOURCES } from '../support/fields.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { dump, fill, type Json, sampleBody } from './fixtures.ts';

// Every field that a request can set is tested through every interface. The fields come from the description of the running
// program, so that a new one is covered without a change here.

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const machine = useMachine();
const { runJson, runText } = commandsOf(world, api, machine);

const FORMS: Readonly<Record<string, FormFields>> = { affiliates: AFFILIATE_FIELDS };

function done(answer: Answer): Json {
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

describe.each(Object.entries(RESOURCES))('the fields of %s', (name, resource) => {
  const { create, change, put, file, command, keptByErasure } = resource;
  const { path } = operationOf(create);
  const fields = fieldsOf(create);
  const examples = examplesOf(fields);
  const required: Json = sampleBody(operationOf(create));
  const make = async (body: Json): Promise<Json> => done(await api.post(path, { ...required, ...body }));
  const read = async (record: Json): Promise<Json> => done(await api.get(`${path}/${record.id}`));
  /** The fields of a request that a door has. */
  const allBut = (without: readonly string[]): Field[] =>
    fields.filter((field) => !without.includes(field.name));

  test('are stored by POST, and shown by GET and in the list', async () => {
    const made = await make(examples);
    expect(made).toMatchObject(examples);
    expect(await read(made)).toMatchObject(examples);
    expect(done(await api.get(path)).data).toMatchObject([examples]);
  });

  test('have an example that is not the value of a new record', async () => {
    const made = await make({});
    for (const { name: field, example } of allBut(Object.keys(required)))
      expect(made[field], field).not.toEqual(example);
  });

  if (change !== undefined) {
    test.each(fieldsOf(change))('are changed by PATCH alone, and cleared by null: $name', async (field) => {
      const made = await make({});
      const one = `${path}/${made.id}`;
      const { updated_at: _, ...others } = made;
      const after = { ...others, [field.name]: field.example };
      expect(done(await api.patch(one, { [field.name]: field.example }))).toMatchObject(after);
      expect(await read(made)).toMatchObject(after);
      if (!field.isNullable) return;
      expect(done(await api.patch(one, { [field.name]: null }))).toMatchObject({
        ...others,
        [field.name]: null,
      });
    });
  }

  if (put !== undefined) {
    test('are stored by PUT', async () => {
      const own = fill(operationOf(put).path, { external_id: 'put-1' });
      const sent = examplesOf(fieldsOf(put));
      expect(done(await api.put(own, sent))).toMatchObject(sent);
      expect(done(await api.get(own))).toMatchObject({ ...sent, external_id: 'put-1' });
    });
  }

  if (file !== undefined) {
    test('are given by a column of a file, for a new record and for one that exists', async () => {
      const given = allBut(file.without);
      const csv = [given.map((field) => field.name), given.map(({ example }) => String(example))];
      const text = `${csv.map((cells) => cells.join(',')).join('\r\n')}\r\n`;
      const expected = examplesOf(given);
      done(await api.upload(`/v2/imports?kind=${file.kind}`, text));
      expect(done(await api.get(path)).data).toMatchObject([expected]);
      const [record] = done(await api.get(path)).data;
      for (const { name: field, isNullable } of given) {
        if (isNullable && field !== 'external_id')
          done(await api.patch(`${path}/${record.id}`, { [field]: null }));
      }
      done(await api.upload(`/v2/imports?kind=${file.kind}`, text));
      expect(await read(record)).toMatchObject(expected);
    });
  }

  test('are found by the filter with their name, where the list has one', async () => {
    await make({});
    const made = await make(examples);
    const filters = operationOf(`GET ${path}`).parameters.map((each) => each.name);
    const filtered = fields.filter((field) => filters.includes(field.name));
    expect(filtered.length).toBeGreaterThan(0);
    for (const { name: field, example } of filtered) {
      const { data } = done(await api.get(`${path}?${field}=${encodeURIComponent(example)}`));
      expect(
        data.map(({ id }: Json) => id),
        field,
      ).toEqual([made.id]);
    }
  });

  test('are in the export of the account', async () => {
    await make(examples);
    const { id } = done(await api.get('/v2/account'));
    const folder = join(machine.folder, `export-of-${name}`);
    const ran = await machine.run(['accounts', 'export', id, folder], { env: await settingsOf(world) });
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const [line = '{}'] = readFileSync(join(folder, `${name}.jsonl`), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject(examples);
  });

  if (keptByErasure !== undefined) {
    test('leave no trace when the person is erased', async () => {
      const made = await make(examples);
      done(await api.upload(`/v2/imports?kind=${name}`, `email,name_first\r\n${made.email},Zoe\r\n`));
      done(await api.post(`${path}/${made.id}/erase`));
      await keepHouse(world);
      const record = await read(made);
      for (const { name: field, isNullable } of allBut(keptByErasure))
        if (isNullable) expect(record[field], field).toBeNull();
      const account = uuidOf('acc', done(await api.get('/v2/account')).id) ?? '';
      const rows = (await dump(world)).filter((row) => row.includes(account)).join('\n');
      expect(textsIn(fields).filter((text) => rows.includes(text))).toEqual([]);
    });
  }

  if (command !== undefined) {
    test('have an option of the command that creates a record, and a line of the command that shows it', async () => {
      const given = allBut(command.without);
      const options = given.flatMap(({ name: field, example }) =>
        optionOf(FORMS[name]?.[field], field, example),
      );
      const made = await runJson(...command.words, ...options);
      expect(made).toMatchObject(examplesOf(given));
      const shown = await runText(command.words[0] ?? '', 'show', String(made.id));
      expect(textsIn(given).filter((text) => !shown.includes(text))).toEqual([]);
    });
  }
});

/** The texts of examples that belong to one person: words of an enumeration and short ones do not. */
function textsIn(fields: readonly Field[]): string[] {
  return fields.flatMap(({ schema, example }) => {
    if (JSON.stringify(schema).includes('"enum"')) return [];
    const texts = typeof example === 'object' ? Object.values<Json>(example) : [example];
    return texts.filter((text) => typeof text === 'string' && text.length > 4);
  });
}

/** The words that give an example to an option. */
function optionOf(form: FormFields[string] | undefined, field: string, example: Json): string[] {
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
      return [long, String(example)];
  }
}
