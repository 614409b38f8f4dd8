// Generates the types, and the functions of each resource, of the client in Python (packages/python).
import type { ClientModel, Field, NamedType, Operation, Type } from './client-model.ts';
import { pascal } from './client-model.ts';

const MADE =
  '# Made by `npm run generate` from the description of the API: change the routes, not this file.\n';
const WIDTH = 110;
const KEYWORDS = new Set(
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** The files of the package that are generated, by path. */
export function pythonFiles(model: ClientModel): Record<string, string> {
  return {
    'packages/python/src/payhook/types.py': typesFile(model),
    'packages/python/src/payhook/_resources.py': resourcesFile(model, 'sync'),
    'packages/python/src/payhook/_async_resources.py': resourcesFile(model, 'async'),
  };
}

function typesFile({ types, events }: ClientModel): string {
  return `${MADE}"""The records, bodies and events of the API. Amounts are minor units, times RFC 3339 in UTC."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


${types.map(declaration).join('\n\n')}

WebhookBody = Union[
${[...new Set(events.values())].map((name) => `    "${name}",`).join('\n')}
]
"""An event of Payhook as it is sent to an endpoint with \`payload: full\`; \`type\` distinguishes them."""
`;
}

function declaration(type: NamedType): string {
  const { name, doc } = type;
  if (!('fields' in type)) {
    return `${name} = ${typeOf(type.type, 'value')}${doc === '' ? '' : `\n${docstring(doc, '')}`}`;
  }
  const { fields } = type;
  if (fields.some((field) => !isName(field.name))) {
    const items = fields.map(({ name: key, type: of, isRequired }) => {
      const one = typeOf(of, 'value');
      return `        "${key}": ${isRequired ? one : `NotRequired[${one}]`},`;
    });
    return `${name} = TypedDict(\n    "${name}",\n    {\n${items.join('\n')}\n    },\n)`;
  }
  const lines = fields.flatMap(({ name: key, type: of, isRequired, doc: about }) => {
    const one = typeOf(of, 'annotation');
    return [
      `    ${key}: ${isRequired ? one : `NotRequired[${one}]`}`,
      ...(about === '' ? [] : [docstring(about, '    ')]),
    ];
  });
  const head = doc === '' ? [] : [`${docstring(doc, '    ')}\n`];
  const body = [...head, ...lines];
  return `class ${name}(TypedDict):\n${body.length > 0 ? body.join('\n') : '    pass'}\n`;
}

const isName = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name);

/** A type in an annotation, or in a value that is evaluated, where types that come later are quoted. */
function typeOf(type: Type, place: 'annotation' | 'value' | 'types'): string {
  switch (type.kind) {
    case 'string':
    case 'time':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'json':
      return 'Any';
    case 'words':
      return `Literal[${type.words.map((word) => JSON.stringify(word)).join(', ')}]`;
    case 'named':
      if (place === 'value') return `"${type.name}"`;
      return place === 'types' ? `records.${type.name}` : type.name;
    case 'list':
      return `${place === 'types' ? 'builtins.' : ''}list[${typeOf(type.of, place)}]`;
    case 'map':
      return `dict[str, ${typeOf(type.of, place)}]`;
    case 'nullable':
      return either([typeOf(type.of, place), 'None'], place);
    case 'either':
      return either(
        type.of.map((one) => typeOf(one, place)),
        place,
      );
  }
}

const either = (types: readonly string[], place: string) =>
  place === 'value' ? `Union[${types.join(', ')}]` : types.join(' | ');

/** A docstring with this indentation, wrapped. */
function docstring(text: string, indent: string): string {
  const safe = sentence(text.replaceAll('\\', '\\\\').replaceAll('"""', "'''"));
  const lines: string[] = [];
  for (const word of safe.split(/\s+/)) {
    const last = lines.at(-1);
    const room = WIDTH - indent.length - 6;
    if (last === undefined || last.length + word.length + 1 > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  const [first = '', ...rest] = lines;
  if (rest.length === 0) return `${indent}"""${first.endsWith('"') ? `${first} ` : first}"""`;
  return [`${indent}"""${first}`, ...rest.map((line) => indent + line), `${indent}"""`].join('\n');
}

function sentence(text: string): string {
  const capital = /^[a-z]+ /.test(text) ? text[0]?.toUpperCase() + text.slice(1) : text;
  return /[.!?:]$/.test(capital) ? capital : `${capital}.`;
}

/** `payoutSchedules` or `created_at[gte]` as a name of Python: `payout_schedules`, `created_at_gte`. */
export function snake(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .toLowerCase();
  return KEYWORDS.has(words) ? `${words}_` : words;
}

function resourcesFile({ operations }: ClientModel, kind: 'sync' | 'async'): string {
  const names = [...new Set(operations.map(({ resource }) => resource))];
  const prefix = kind === 'sync' ? '' : 'Async';
  const classes = names.map((resource) => {
    const own = operations.filter((operation) => operation.resource === resource);
    return `class ${prefix}${pascal(resource)}:
    def __init__(self, calls: ${prefix}Calls) -> None:
        self._calls = calls

${own.map((operation) => method(operation, kind)).join('\n\n')}
`;
  });
  const attributes = names.map(
    (resource) => `        self.${snake(resource)} = ${prefix}${pascal(resource)}(calls)`,
  );
  return `${MADE}"""The functions of the API by resource."""

from __future__ import annotations

import sys
from typing import Literal

from . import types as records
from ._calls import ${kind === 'sync' ? 'CallOptions, Calls' : 'AsyncCalls, CallOptions'}, ConditionalOptions, KeyedConditionalOptions, KeyedOptions
from ._files import ${prefix}Download, Upload
from ._listing import ${prefix}Listing
from ._publishing import joined, requests_of

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


${classes.join('\n\n')}

class ${prefix}Resources:
    """Every operation of the API, by resource."""

    def __init__(self, calls: ${prefix}Calls) -> None:
${attributes.join('\n')}
`;
}

function optionsOf({ method: verb, isConditional }: Operation): string {
  const isKeyed = ['POST', 'PUT', 'PATCH'].includes(verb);
  if (isKeyed) return isConditional ? 'KeyedConditionalOptions' : 'KeyedOptions';
  return isConditional ? 'ConditionalOptions' : 'CallOptions';
}

function method(operation: Operation, kind: 'sync' | 'async'): string {
  const { pathFields, query, body, result, doc } = operation;
  const isPage = result.kind === 'page';
  const isAsync = kind === 'async';
  const named = [
    ...pathFields.map((field) => `${snake(field.name)}: ${pathType(field)}`),
    ...(body === null ? [] : [bodyParameter(body)]),
  ];
  const byName = query
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
    .map((field) => queryParameter(field, operation));
  const all = ['self', ...named, ...(byName.length > 0 ? ['*', ...byName] : [])];
  const parameters = [...all, `**options: Unpack[${optionsOf(operation)}]`];
  const returns = resultType(operation, kind);
  const name = snake(operation.name);
  const def = `    ${isAsync && !isPage ? 'async ' : ''}def ${name}(`;
  const oneLine = `${def}${parameters.join(', ')}) -> ${returns}:`;
  const head =
    oneLine.length <= WIDTH
      ? oneLine
      : `${def}\n${parameters.map((one) => `        ${one},\n`).join('')}    ) -> ${returns}:`;
  return `${head}\n${docstring(doc, '        ')}\n${call(operation, isAsync)}`;
}

const pathType = ({ type }: Field) => (type.kind === 'integer' ? 'int' : 'str');

function bodyParameter({ type, isRequired }: NonNullable<Operation['body']>): string {
  if (type === 'file') return 'file: Upload';
  return isRequired ? `body: ${typeOf(type, 'types')}` : `body: ${typeOf(type, 'types')} | None = None`;
}

/** The name of a parameter of the query. A part of the path may have the same name. */
function queryName({ name }: Field, { pathFields }: Operation): string {
  return pathFields.some((field) => field.name === name) ? `${snake(name)}_` : snake(name);
}

function queryParameter(field: Field, operation: Operation): string {
  const [name, of] = [queryName(field, operation), typeOf(field.type, 'types')];
  return field.isRequired ? `${name}: ${of}` : `${name}: ${of} | None = None`;
}

function resultType({ result }: Operation, kind: 'sync' | 'async'): string {
  const prefix = kind === 'sync' ? '' : 'Async';
  switch (result.kind) {
    case 'page':
      return `${prefix}Listing[${typeOf(result.of, 'types')}]`;
    case 'record':
      return typeOf(result.of, 'types');
    case 'file':
      return `${prefix}Download`;
    case 'nothing':
      return 'None';
  }
}

function call(operation: Operation, isAsync: boolean): string {
  const { method: verb, path, pathFields, query, body, result } = operation;
  const place = [JSON.stringify(path), ...pathFields.map(({ name }) => snake(name))];
  const target = `${JSON.stringify(verb)}, (${place.join(', ')}${place.length === 1 ? ',' : ''})`;
  if (operation.isInBatches) {
    return `        return joined(
            [
                ${isAsync ? 'await ' : ''}self._calls.record(${target}, body=part, **given)
                for part, given in requests_of(body, options)
            ]
        )`;
  }
  const given = [
    JSON.stringify(verb),
    `(${place.join(', ')}${place.length === 1 ? ',' : ''})`,
    ...(query.length === 0
      ? []
      : [
          `query={${query.map((field) => `${JSON.stringify(field.name)}: ${queryName(field, operation)}`).join(', ')}}`,
        ]),
    ...(body === null ? [] : [body.type === 'file' ? 'file=file' : 'body=body']),
    ...(body?.type === 'file' ? [`media=${JSON.stringify(body.media)}`] : []),
    ...(result.kind === 'page' && result.order !== null ? [`order=${JSON.stringify(result.order)}`] : []),
    '**options',
  ];
  const kind = { page: 'listing', record: 'record', file: 'download', nothing: 'nothing' }[result.kind];
  const start = `        ${result.kind === 'nothing' ? '' : 'return '}${isAsync && result.kind !== 'page' ? 'await ' : ''}self._calls.${kind}(`;
  const oneLine = `${start}${given.join(', ')})`;
  return oneLine.length <= WIDTH
    ? oneLine
    : `${start}\n${given.map((one) => `            ${one},\n`).join('')}        )`;
}
