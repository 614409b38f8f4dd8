import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { eventSchema } from '../../src/catalogue/catalogue.ts';
import { describeInline } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { EventType } from '../../src/outbox/event-types.ts';

interface Operation {
  readonly responses: Record<
    string,
    { headers?: Record<string, { schema: object }>; content?: Record<string, { schema: object }> }
  >;
}

// Validates every response of the suite with a validator other than the program's.
// A process checks few bodies of a kind, so optimizing the code of a validator costs more than it saves.
const ajv = new Ajv2020({ strict: false, allErrors: false, code: { optimize: false } });
addFormats.default(ajv);
// through JSON, as a client reads it
const description = JSON.parse(JSON.stringify(describeInline(ROUTES))) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

// one schema for the whole description, so that each component is compiled once
ajv.addSchema(description, 'description', false, false);

/** The paths of the description, with every component reference replaced by the component. */
export function inlinePaths(): unknown {
  const { schemas } = description.components;
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: string };
    const component = $ref === undefined ? {} : (inline(schemas[$ref.split('/').at(-1) ?? '']) as object);
    const own = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, inline(inner)]));
    return { ...component, ...own };
  };
  return inline(description.paths);
}

/** Headers of HTTP itself, which a description does not list, and headers for browser security. */
const PLAIN = new Set([
  ...[
    'connection',
    'content-length',
    'content-encoding',
    'content-type',
    'date',
    'keep-alive',
    'transfer-encoding',
    'vary',
  ],
  ...['x-content-type-options', 'access-control-allow-origin', 'access-control-expose-headers'],
]);

const validators = new Map<string, ValidateFunction>();

// a literal path takes precedence over one with parameters, as in the router
const PATTERNS = Object.entries(description.paths)
  .toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([pattern, methods]) => {
    const fits = new RegExp(`^${pattern.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return { pattern, methods, fits };
  });

function operationAt(method: string, path: string): { pattern: string; operation: Operation } | undefined {
  const plain = path.split('?', 1)[0]?.replace(/\/$/, '') ?? '';
  for (const { pattern, methods, fits } of PATTERNS) {
    const operation = methods[method.toLowerCase()];
    if (operation && fits.test(plain)) return { pattern, operation };
  }
  return undefined;
}

const TYPE = 'application/json';

/** The validator of a response body, by its place in the description. */
function validatorOf(pattern: string, method: string, status: string): ValidateFunction {
  const place = ['paths', pattern, method, 'responses', status, 'content', TYPE, 'schema']
    .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = ajv.getSchema(`description#/${place}`);
  if (!validate) throw new Error(`no schema at ${place}`);
  return validate;
}

const eventValidators = new Map<string, ValidateFunction>();

/** Throws when a stored event does not match the catalogue's schema of its type. */
export function checkAgainstCatalogue(payload: string): void {
  const event: unknown = JSON.parse(payload);
  const { type } = event as { type: EventType };
  let validate = eventValidators.get(type);
  if (!validate) {
    validate = ajv.compile(JSON.parse(JSON.stringify(eventSchema(type))));
    eventValidators.set(type, validate);
  }
  if (!validate(event))
    throw new Error(`${type} violates its schema: ${ajv.errorsText(validate.errors)}\n${payload}`);
}

/** Throws when the OpenAPI description does not declare a response for the operation. */
export function checkAgainstDescription(
  method: string,
  path: string,
  answer: { status: number; reason: string | null; text: string; body: unknown; headers: Headers },
): void {
  const found = operationAt(method, path);
  // the path lacks the method: the request did not mean a similar path with parameters
  if (!found || answer.status === 405) return;
  const where = `${method} ${found.pattern} -> ${answer.status}`;
  const response = found.operation.responses[String(answer.status)];
  if (!response)
    throw new Error(`${where} ${answer.reason ?? ''} is not declared: ${answer.text.slice(0, 300)}`);
  const reasons = (response.headers?.['Payhook-Reason']?.schema as { enum?: string[] } | undefined)?.enum;
  if (reasons && !reasons.includes(answer.reason ?? ''))
    throw new Error(`${where} does not declare ${answer.reason}`);
  const declared = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const undeclared = [...answer.headers.keys()].filter(
    (name) => !declared.includes(name) && !PLAIN.has(name),
  );
  if (undeclared.length > 0)
    throw new Error(`${where} does not declare the headers ${undeclared.join(', ')}`);
  if (!response.content?.[TYPE]?.schema) {
    if (!response.content && answer.text !== '') throw new Error(`${where} declares no body: ${answer.text}`);
    return;
  }
  let validate = validators.get(where);
  if (!validate) {
    validate = validatorOf(found.pattern, method.toLowerCase(), String(answer.status));
    validators.set(where, validate);
  }
  if (!validate(answer.body)) {
    throw new Error(
      `${where} violates its schema: ${ajv.errorsText(validate.errors)}\n${answer.text.slice(0, 500)}`,
    );
  }
}
