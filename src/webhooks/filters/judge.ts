import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/database.ts';
import type { Json } from '../../kernel/json.ts';
import { matches } from '../../outbox/searches.ts';
import { compileFilter, type Filter } from './compile.ts';
import type { FilterTest } from './record.ts';

/**
 * Evaluates a filter on a payload as publishing does: in PostgreSQL. `body` is JSON text whose member `payload` is the
 * payload. Throws as `compileFilter`.
 */
export async function testFilter(db: Reader, filter: Filter | null, body: string): Promise<Json<FilterTest>> {
  const { test, fast, conditions } =
    filter === null ? { test: null, fast: null, conditions: [] } : compileFilter(filter);
  const each = <Field extends 'path' | 'operator' | 'at' | 'test'>(field: Field) =>
    conditions.map((condition) => condition[field]);
  const { json } = await oneRow<{ json: Json<FilterTest> }>(
    db,
    sql`with payload as materialized (
          select filterable((${body}::json -> 'payload')::text) as json)
        select json_build_object(
          'object', 'filter_test',
          'matches', ${test}::text is null or ${matches(sql`json`, {
            path: sql`${test}::jsonpath`,
            fast: sql`${fast?.test ?? null}::jsonpath`,
            contains: sql`${fast && JSON.stringify(fast.contains)}::jsonb`,
          })},
          'filter', ${filter && JSON.stringify(filter)}::json,
          'conditions', (
            select coalesce(json_agg(json_build_object(
              'path', c.path, 'operator', c.operator, 'value', c.value::json,
              'matches', coalesce(json @@ c.test::jsonpath, false),
              'found_type', coalesce(jsonb_typeof(f.found), 'missing'),
              'found', case when jsonb_typeof(f.found) not in ('array', 'object') then f.found end) order by c.place), '[]')
            from unnest(${each('path')}::text[], ${each('operator')}::text[],
                ${conditions.map(({ value }) => JSON.stringify(value))}::text[], ${each('at')}::text[],
                ${each('test')}::text[])
              with ordinality as c (path, operator, value, at, test, place)
            cross join lateral (select jsonb_path_query_first(json, c.at::jsonpath, '{}', true) as found) f))::text as json
        from payload`,
  );
  return json;
}
