import { readFileSync } from 'node:fs';
import { HEADER_COMPONENTS } from '../contract/headers.ts';
import { ROOT } from '../kernel/installation.ts';

/** A recorded request and its response, shown in the reference. */
export interface Example {
  readonly request: {
    /** Parameter values by name. */
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    /** JSON, or the text of a file. */
    readonly body?: unknown;
  };
  readonly response: ExampleAnswer;
  /** Why other requests of the operation were refused. */
  readonly refusals?: readonly ExampleAnswer[];
}

export interface ExampleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Json = Record<string, unknown>;

interface Answers {
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

let stored: Readonly<Record<string, Example>> | undefined;

/** The examples of docs/examples.json by operation, read once; empty if the file is missing. */
function storedExamples(): Readonly<Record<string, Example>> {
  if (stored === undefined) {
    try {
      stored = JSON.parse(readFileSync(new URL('docs/examples.json', ROOT), 'utf8')) as Record<
        string,
        Example
      >;
    } catch {
      stored = {}; // examples only document the server; it runs without them
    }
  }
  return stored;
}

/** The description with the examples added to parameters, request bodies and responses. */
export function withExamples(description: Json): Json {
  const examples = storedExamples();
  const paths = description.paths as Record<string, Record<string, Json>>;
  const exemplified = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => {
        const example = examples[operation.operationId as string];
        return [method, example ? withExample(operation, example) : operation];
      }),
    ),
  ]);
  return { ...description, paths: Object.fromEntries(exemplified) };
}

function withExample(operation: Json, { request, response, refusals = [] }: Example): Json {
  const given: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
    path: request.path,
    query: request.query,
    header: request.headers,
  };
  const parameters = (operation.parameters as Json[]).map((parameter) => {
    const example = given[parameter.in as string]?.[parameter.name as string];
    return example === undefined ? parameter : { ...parameter, example: typed(parameter, example) };
  });
  const { requestBody, responses } = operation as unknown as Answers;
  return {
    ...operation,
    parameters,
    ...(requestBody ? { requestBody: withBody(requestBody, request.body) } : {}),
    responses: [response, ...refusals].reduce(withAnswer, responses),
  };
}

/** The text of a parameter as a value of its type. */
function typed({ schema }: Json, text: string): unknown {
  const { type } = schema as { readonly type?: string };
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

function withAnswer(responses: Answers['responses'], example: ExampleAnswer): Answers['responses'] {
  const answer = responses[example.status];
  if (!answer) return responses;
  return { ...responses, [example.status]: withHeaders(withBody(answer, example.body), example.headers) };
}

function withBody(holder: Json, example: unknown): Json {
  if (example === undefined || holder.content === undefined) return holder;
  const types = Object.entries(holder.content as Json);
  const content = types.map(([type, media]) => [
    type,
    types.length > 1 && !isOfType(type, example) ? media : { ...(media as Json), example },
  ]);
  return { ...holder, content: Object.fromEntries(content) };
}

/** Whether a recorded file is of this type: PDF is not recorded. */
const isOfType = (type: string, example: unknown): boolean => {
  if (typeof example !== 'string') return type === 'application/json';
  if (example.startsWith('<?xml')) return type === 'application/xml';
  return example.startsWith('<') ? type === 'text/html' : type === 'text/csv' || type === 'text/plain';
};

const without = (headers: Record<string, Json>, names: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !(name in names)));

function withHeaders(answer: Json, examples: ExampleAnswer['headers'] = {}): Json {
  const known = (answer.headers ?? {}) as Record<string, Json>;
  const described = Object.entries(examples).map(([name, text]) => {
    const header = (HEADER_COMPONENTS[name] ?? known[name] ?? { schema: { type: 'string' } }) as Json;
    return [name, { ...header, example: typed(header, text) }];
  });
  return described.length === 0
    ? answer
    : { ...answer, headers: { ...Object.fromEntries(described), ...without(known, examples) } };
}
