import { escapeHtml } from '../../kernel/html.ts';
import { nameOf, type Parameter, type Schema, withoutNull } from './description.ts';
import { either, figure, inline, type Linker, linked, paragraphs, sentenceOf } from './text.ts';

/** What a list of fields depends on. */
export interface FieldContext {
  readonly linker: Linker;
  schemaOf(name: string): Schema;
  /** Fields of a request show which are required; named records in it are listed in place, not linked. */
  readonly isRequest: boolean;
}

/** What a field holds, in words, as HTML: `list of PayoutLine or null`. */
function typeOf(given: Schema, context: FieldContext): string {
  const { schema, nullable } = withoutNull(given);
  const words = kindOf(schema, context);
  return nullable ? `${words} or null` : words;
}

function kindOf(schema: Schema, context: FieldContext): string {
  const name = nameOf(schema);
  if (name !== null) {
    const address = context.isRequest ? null : context.linker(name);
    return address === null ? 'object' : linked(name, address);
  }
  if (schema.anyOf) return either(schema.anyOf.map((each) => typeOf(each, context)));
  if (schema.const !== undefined || schema.enum) return 'string';
  if (schema.format === 'date-time') return 'time';
  if (schema.type === 'array') return `list of ${plural(schema.items ?? {}, context)}`;
  if (schema.type === 'number' && schema.multipleOf === 1) return 'integer';
  const value = schema.additionalProperties;
  if (typeof value === 'object' && value.type) return `object of ${plural(value, context)}`;
  return schema.type ?? '';
}

function plural(schema: Schema, context: FieldContext): string {
  const words = typeOf(schema, context);
  return /^[a-z]+$/.test(words) ? `${words}s` : words;
}

/** The rules of a value, each in a few words with `code` in them. */
function rulesOf(schema: Schema): string[] {
  const all = schema.enum?.map(String);
  // a field to sort by in both directions is listed once
  const words = all
    ?.filter((word) => !(word.startsWith('-') && all.includes(word.slice(1))))
    .map((word) => `\`${word}\``);
  const value = schema.default === undefined ? [] : [`default \`${String(schema.default)}\``];
  return [
    ...(words ? [words.length === 1 ? `always ${words[0]}` : `one of ${words.join(', ')}`] : []),
    ...(schema.const === undefined ? [] : [`always \`${String(schema.const)}\``]),
    ...range(schema.minLength, schema.maxLength, 'characters'),
    ...range(schema.minItems, schema.maxItems, 'items'),
    ...range(undefined, schema.maxProperties, 'keys'),
    ...range(schema.minimum, schema.maximum, ''),
    ...value,
  ];
}

function range(least: number | undefined, most: number | undefined, of: string): string[] {
  const unit = of === '' ? '' : ` ${of}`;
  // beyond what JSON carries exactly is no rule of the field
  const end = most === undefined || most >= Number.MAX_SAFE_INTEGER ? undefined : most;
  const start = least === undefined || least <= -Number.MAX_SAFE_INTEGER ? undefined : least;
  if (start === undefined && end === undefined) return [];
  if (end === undefined)
    return [`at least ${figure(start ?? 0)}${start === 1 ? unit.replace(/s$/, '') : unit}`];
  if (start === undefined) return [`up to ${figure(end)}${unit}`];
  return [start === end ? `${figure(end)}${unit}` : `${figure(start)} to ${figure(end)}${unit}`];
}

function remarkOf(schema: Schema): string | undefined {
  const { description } = schema;
  if (schema.format === 'date-time') return description;
  const [example] = schema.examples ?? [];
  return description ?? (typeof example === 'string' ? `for example \`${example}\`` : undefined);
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly description?: string | undefined;
  /** Where more is said of it. */
  readonly address?: string | undefined;
}

function field(
  { name, schema: given, required, description, address }: Field,
  context: FieldContext,
): string {
  const { schema } = withoutNull(given);
  const remark = description ?? remarkOf(schema);
  const rules = [...rulesOf(schema), ...rulesOf(schema.items ?? {}).map((rule) => `each ${rule}`)];
  const isMissable = context.isRequest ? false : !required;
  const mark = context.isRequest && required ? ' <span class="must">required</span>' : '';
  const type = `<span class="type">${typeOf(given, context)}</span>`;
  const remarks = [
    ...(remark === undefined ? [] : [paragraphs(sentenceOf(remark), context.linker)]),
    ...(rules.length === 0 ? [] : [rule(sentenceOf(rules.join('; ')))]),
    ...(isMissable ? [rule('May be missing.')] : []),
  ];
  const head = `<p class="name">${linked(name, address ?? null)} ${type}${mark}</p>`;
  return `<li>${head}<div class="remarks">${remarks.join(' ')}</div>${nested(name, schema, context)}</li>`;
}

const rule = (text: string) => `<p class="rules">${inline(text)}</p>`;

/** The fields inside of a field, folded. */
function nested(name: string, schema: Schema, context: FieldContext): string {
  const inner = schema.items ?? schema;
  const target = nameOf(inner);
  if (target !== null && !context.isRequest) return '';
  const { properties } = target === null ? inner : context.schemaOf(target);
  if (!properties) return '';
  const of = schema.items ? `each of <code>${escapeHtml(name)}</code>` : `<code>${escapeHtml(name)}</code>`;
  const list = fieldList(target === null ? inner : context.schemaOf(target), context);
  return `<details><summary>Fields of ${of}</summary>${list}</details>`;
}

/** The fields of an object, required ones first in requests. */
export function fieldList(schema: Schema, context: FieldContext): string {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, each]) => ({
    name,
    schema: each,
    required: required.includes(name),
  }));
  const ordered = context.isRequest
    ? [...fields.filter((each) => each.required), ...fields.filter((each) => !each.required)]
    : fields;
  return `<ul class="fields">${ordered.map((each) => field(each, context)).join('')}</ul>`;
}

/** Where the overview says more of a parameter. */
const TOPICS: Readonly<Record<string, string>> = {
  page: '/docs#pagination',
  per_page: '/docs#pagination',
  max_total: '/docs#pagination',
  sort: '/docs#sorting',
  'Idempotency-Key': '/docs#idempotency',
  'If-Match': '/docs#concurrency',
};

const SPAN = /^(\w+)\[(gte|gt|lte|lt)\]$/;

/** Parameters; the four comparisons of a time are listed as one. */
export function parameterList(parameters: readonly Parameter[], context: FieldContext): string {
  const isFirst = (name: string, index: number) => {
    const base = SPAN.exec(name)?.[1];
    return base === undefined || parameters.findIndex((each) => SPAN.exec(each.name)?.[1] === base) === index;
  };
  const items = parameters
    .filter(({ name }, index) => isFirst(name, index))
    .map((parameter) => {
      const { name, schema, required = false } = parameter;
      const base = SPAN.exec(name)?.[1];
      const shown = base === undefined ? name : `${base}[gte|gt|lte|lt]`;
      const address = TOPICS[name];
      return field({ name: shown, schema, required, description: remarkOn(parameter), address }, context);
    });
  return `<ul class="fields">${items.join('')}</ul>`;
}

/** What is said of a parameter; of a part of the path without a word, how it looks. */
function remarkOn({ in: place, description, schema, example }: Parameter): string | undefined {
  const isPlain = place === 'path' && example !== undefined;
  // its rules list the words already
  if (schema.enum && description?.startsWith('one of ')) return undefined;
  return description ?? schema.description ?? (isPlain ? `for example \`${example}\`` : undefined);
}
