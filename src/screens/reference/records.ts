import { isDeepStrictEqual } from 'node:util';
import { escapeHtml } from '../../kernel/html.ts';
import type { Book } from './book.ts';
import type { Schema } from './description.ts';
import { type FieldContext, fieldList } from './fields.ts';
import type { Section } from './sections.ts';
import { linked, sentenceOf } from './text.ts';

/** How much of a record another one must hold, for the one to be listed as a variant of the other. */
const MOSTLY = 0.6;

/** The records of a section, each explained once: in full, or by what sets it apart from the one it is made from. */
export function recordsHtml(book: Book, section: Section): string {
  const names = book.recordsOf(section);
  if (names.length === 0) return '';
  const linker = (word: string) => book.linkTo(word, section);
  const context: FieldContext = { linker, schemaOf: book.schemaOf, isRequest: false };
  const listed = names.map((name) => recordHtml(book, name, names, context));
  return `<section class="records" id="records" aria-labelledby="records-name"><h2 id="records-name">Records</h2>${listed.join('')}</section>`;
}

function recordHtml(book: Book, name: string, names: readonly string[], context: FieldContext): string {
  const schema = book.schemaOf(name);
  const base = names.find((other) => other !== name && isVariant(schema, other, book, name));
  const lead = schema.description === undefined ? '' : `<p>${escapeHtml(sentenceOf(schema.description))}</p>`;
  const fields =
    base === undefined ? fieldList(schema, context) : variantHtml(base, book.schemaOf(base), schema, context);
  return (
    `<section class="record" id="${name}" aria-labelledby="${name}-name">` +
    `<h3 id="${name}-name"><a class="anchor" href="#${name}">${name}</a></h3>${lead}${fields}</section>`
  );
}

function isVariant(schema: Schema, other: string, { schemaOf }: Book, name: string): boolean {
  if (!name.includes(other)) return false;
  const fields = Object.entries(schema.properties ?? {});
  const theirs = schemaOf(other).properties ?? {};
  const same = fields.filter(([key, field]) => isDeepStrictEqual(theirs[key], field));
  return same.length >= fields.length * MOSTLY;
}

function variantHtml(base: string, of: Schema, schema: Schema, context: FieldContext): string {
  const theirs = of.properties ?? {};
  const own = schema.properties ?? {};
  const missing = Object.keys(theirs).filter((key) => !(key in own));
  const other = Object.entries(own).filter(([key, field]) => !isDeepStrictEqual(theirs[key], field));
  const without = missing.map((key) => `<code>${escapeHtml(key)}</code>`).join(', ');
  const head =
    `As ${linked(base, context.linker(base))}` +
    (missing.length === 0 ? '' : `, without ${without}`) +
    (other.length === 0 ? '.' : ', and with:');
  const rest = { ...schema, properties: Object.fromEntries(other) };
  return `<p>${head}</p>${other.length === 0 ? '' : fieldList(rest, context)}`;
}
