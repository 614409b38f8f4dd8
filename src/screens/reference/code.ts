import { escapeHtml } from '../../kernel/html.ts';
import type { Operation } from './description.ts';

const WIDTH = 64;

/** A piece of JSON: a key, a string, another value, or the text between them. */
interface Token {
  readonly kind: 'k' | 's' | 'n' | '';
  readonly text: string;
}

const between = (text: string): Token => ({ kind: '', text });

function scalar(value: unknown): Token {
  return { kind: typeof value === 'string' ? 's' : 'n', text: JSON.stringify(value) };
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The tokens of a value on one line. */
function lineOf(value: unknown): Token[] {
  if (!isNested(value)) return [scalar(value)];
  return enclosed(value, lineOf, { open: '', between: ', ', close: '' });
}

/** The tokens of a value: on one line where it is short enough, else each part on its own. */
function tokensOf(value: unknown, indent: string): Token[] {
  const line = lineOf(value);
  const width = line.reduce((sum, { text }) => sum + text.length, indent.length);
  if (!isNested(value) || width <= WIDTH) return line;
  const inner = `${indent}  `;
  return enclosed(value, (item) => tokensOf(item, inner), {
    open: `\n${inner}`,
    between: `,\n${inner}`,
    close: `\n${indent}`,
  });
}

function enclosed(
  value: object,
  tokens: (item: unknown) => Token[],
  space: { open: string; between: string; close: string },
): Token[] {
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, item]) =>
    isList
      ? tokens(item)
      : [{ kind: 'k', text: JSON.stringify(key) } as const, between(': '), ...tokens(item)],
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return [
    between(open + space.open),
    ...parts.flatMap((part, index) => (index === 0 ? part : [between(space.between), ...part])),
    between(space.close + close),
  ];
}

/** JSON as text: what is short on one line, the rest indented. */
export function jsonText(value: unknown): string {
  return tokensOf(value, '')
    .map(({ text }) => text)
    .join('');
}

/** The same as HTML, with keys, strings and other values marked. */
export function jsonHtml(value: unknown): string {
  return tokensOf(value, '')
    .map(({ kind, text }) =>
      kind === '' ? escapeHtml(text) : `<span class="${kind}">${escapeHtml(text)}</span>`,
    )
    .join('');
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  if (/^[\w./:=@%+,?&-]+$/.test(text) && !/[?&]/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The file an upload sends. */
export const fileNameOf = ({ tag }: Pick<Operation, 'tag'>): string => `${tag}.csv`;

/** The command that makes the request of the example, for a POSIX shell; the key comes from the environment. */
export function curlOf(operation: Operation, baseUrl: string): string {
  const { method, path, parameters, body } = operation;
  const given = (place: string) =>
    parameters.flatMap(({ name, in: where, example }): [string, string][] =>
      where === place && example !== undefined ? [[name, example]] : [],
    );
  const values = new Map(given('path'));
  const search = new URLSearchParams(given('query')).toString();
  const address = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
  const url = `${baseUrl}${address}${search === '' ? '' : `?${search}`}`;
  const isFile = body !== null && body.type !== 'application/json';
  const hasBody = body?.example !== undefined;
  const parts = [
    `curl ${methodOf(method, hasBody)}${quoted(url)}`,
    '-H "Authorization: Bearer $PAYHOOK_API_KEY"',
    ...given('header').map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(hasBody ? [`-H 'Content-Type: ${body.type}'`] : []),
    ...(hasBody && isFile ? [`--data-binary @${fileNameOf(operation)}`] : []),
    ...(hasBody && !isFile ? [`-d ${quoted(jsonText(body.example).replaceAll('\n', '\n  '))}`] : []),
  ];
  return parts.join(' \\\n  ');
}

function methodOf(method: string, hasBody: boolean): string {
  if (method === 'GET' || (method === 'POST' && hasBody)) return '';
  return `-X ${method} `;
}
