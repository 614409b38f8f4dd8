import { bytesAfter } from '../../scripts/sizes-page.ts';
import { TABLES } from '../../src/db/tables.ts';

/* Checks the text of a migration for dangerous locks. It knows the statements that we write, not all of SQL. */

const LARGE_BYTES = 1e9;

/**
 * Tables with more than a gigabyte after three years of a platform, and those that are empty only while all goes well.
 */
export const LARGE: readonly string[] = Object.entries(TABLES).flatMap(([name, facts]) =>
  facts.unit === 'pending work' || bytesAfter(facts, 'platform') > LARGE_BYTES ? [name] : [],
);

/** A default with a different value for each row makes PostgreSQL rewrite the table. */
const VOLATILE =
  /\bdefault\s+(?:\(?\s*)?(?:now_ms|new_id|random|gen_random_uuid|uuidv7|clock_timestamp|nextval|timeofday)\b/;

/** Parts of ALTER TABLE that rewrite or scan the table, and what to do instead. */
const ALTERATIONS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [VOLATILE, 'rewrites it for a volatile default: add the column without one'],
  [/\bgenerated\s+always\s+as\b/, 'rewrites it for a generated column: add a plain one'],
  [/\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/, 'rewrites it for another type: add a column'],
  [/\bset\s+not\s+null\b/, 'scans it for NOT NULL: add a CHECK as NOT VALID, and validate it later'],
  [
    /\badd\s+(?:constraint\s+\w+\s+)?(?:unique|primary\s+key)\b(?!\s+using\s+index)/,
    'builds an index under a lock',
  ],
  [
    /\b(?:check\s*\(|references\s|foreign\s+key)(?!.*\bnot\s+valid\b)/s,
    'scans it for a constraint: add it as NOT VALID',
  ],
  [/\bset\s+(?:tablespace|logged|unlogged|access\s+method)\b/, 'rewrites it'],
];

/** `text` without comments and in lower case; function bodies stay, because a migration may run them. */
const plain = (text: string) => text.replaceAll(/--[^\n]*/g, '').toLowerCase();

/**
 * The problems of a migration, one sentence each, from its text and the names of the tables that may be large. Any
 * change to a table that it creates is allowed.
 */
export function problemsOf(text: string, large: readonly string[]): string[] {
  const found: string[] = [];
  for (const mark of ['Locks', 'Time']) {
    if (!new RegExp(`^-- ${mark}: \\S`, 'm').test(text)) found.push(`it has no line "-- ${mark}: …"`);
  }
  const code = plain(text);
  const statements = code.split(';').map((statement) => statement.trim());
  const own = new Set(
    [...code.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, name]) => name),
  );
  for (const table of large.filter((name) => !own.has(name))) {
    const says = (statement: string, pattern: string) =>
      new RegExp(pattern.replaceAll(' ', '\\s+').replace('TABLE', table)).test(statement);
    for (const statement of statements) {
      if (says(statement, '\\bcreate (?:unique )?index (?!concurrently).* on (?:only )?TABLE\\b'))
        found.push(`${table}: it builds an index, and nobody can write meanwhile`);
      if (says(statement, '\\b(?:update|delete from) (?:only )?TABLE\\b'))
        found.push(`${table}: it changes its rows in one transaction`);
      if (says(statement, '\\b(?:cluster|vacuum|reindex table|truncate) .*TABLE\\b'))
        found.push(`${table}: it rewrites it`);
      if (!says(statement, '\\balter table (?:if exists )?(?:only )?TABLE\\b')) continue;
      for (const [pattern, why] of ALTERATIONS)
        if (pattern.test(statement)) found.push(`${table}: it ${why}`);
    }
  }
  return found;
}
