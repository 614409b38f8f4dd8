// Writes the files that are made from code: docs/openapi.json, docs/errors.md, docs/events.md, docs/configuration.md,
// docs/cli.md, src/client/api.ts.
// With --check it writes nothing and fails when one of them is not what the code says.
import { readFileSync, writeFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { CATALOGUE, exampleEvent } from '../src/catalogue/catalogue.ts';
import { describe } from '../src/http/openapi.ts';
import { ROUTES } from '../src/http/routes.ts';
import { explainConfig } from '../src/kernel/config.ts';
import { REASONS } from '../src/kernel/errors.ts';
import { EVENT_TYPES, type EventType } from '../src/outbox/event-types.ts';
import { OWN_PREFIXES } from '../src/webhooks/types/types.ts';
import { cliPage } from './cli-page.ts';
import { clientTypes } from './client-types.ts';

function errorsPage(): string {
  const rows = Object.entries(REASONS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([reason, { status, meaning }]) => `| ${status} | \`${reason}\` | ${meaning} |`);
  return `# Errors

Every error of \`/v2\` has the same body, with one of six codes:

\`\`\`json
{"error": {"code": "conflict", "message": "payout po_… is unpaid: complete or delete it before creating another"}}
\`\`\`

The precise reason is a stable word in the response header \`Payhook-Reason\`; \`Payhook-Request-Id\` finds the request in
the server's log. Branch on the status and the reason, show the message to people. A refused request has changed nothing.

| status | reason | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function configurationPage(): string {
  const rows = explainConfig({}).map(
    ({ name, meaning, value }) => `| \`${name}\` | ${value === null ? '' : `\`${value}\``} | ${meaning} |`,
  );
  return `# Configuration

Settings come from the environment; each may also come from a file named by \`NAME_FILE\`, which is how secrets are
best given. All mistakes are reported at once at the start. \`payhook config\` shows what is in force, secrets never.

| setting | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

\`payhook --env-file FILE\` takes settings from a file with a line \`NAME=value\` each; what the environment says counts more.
\`--data-dir\` counts more than both.

A command talks to the database of these settings. To talk to a server elsewhere instead, set \`PAYHOOK_URL\` and
\`PAYHOOK_API_KEY\`.
`;
}

interface FieldSchema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** What a field holds, in words. */
function valueText(schema: FieldSchema): string {
  if (schema.anyOf) return schema.anyOf.map(valueText).join(' or ');
  if (schema.enum) return schema.enum.map((word) => `\`${word}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.format === 'date-time') return 'time';
  if (schema.type === 'array') return schema.items?.properties ? 'list' : `list of ${schema.items?.type}s`;
  return schema.type ?? '';
}

function fieldRow(name: string, schema: FieldSchema, optional: boolean): string[] {
  const notes = [schema, ...(schema.anyOf ?? [])]
    .filter(({ format, description }) => description && !(format && description.startsWith('RFC 3339')))
    .map(({ description }) => description);
  if (optional) notes.push('may be missing');
  const row = `| \`${name}\` | ${valueText(schema)} | ${notes.join('; ')} |`;
  return [row, ...(schema.items?.properties ? fieldRows(schema.items, `${name}[].`) : [])];
}

function fieldRows(schema: FieldSchema, path = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    fieldRow(path + name, field, !schema.required?.includes(name)),
  );
}

/** Types that tell of the same record, with its fields once and an example each. */
function eventGroup(data: TSchema, types: readonly EventType[]): string {
  const examples = types.map(
    (type) => `<details><summary>Example: <code>${type}</code></summary>

\`\`\`json
${JSON.stringify(exampleEvent(type), null, 2)}
\`\`\`
</details>`,
  );
  const meanings = types.map((type) =>
    types.length === 1 ? EVENT_TYPES[type] : `- \`${type}\`: ${EVENT_TYPES[type]}`,
  );
  return `## ${types.map((type) => `\`${type}\``).join(', ')}

${meanings.join('\n')}

| field of \`data\` | value | |
| --- | --- | --- |
${fieldRows(data as FieldSchema).join('\n')}

${examples.join('\n\n')}
`;
}

function eventsPage(): string {
  const types = Object.keys(CATALOGUE) as EventType[];
  const groups = new Map<TSchema, EventType[]>();
  for (const type of types) {
    const { data } = CATALOGUE[type];
    groups.set(data, [...(groups.get(data) ?? []), type]);
  }
  return `# Events

An event is stored in the transaction of the change it tells of: both are there, or neither. It is sent to every webhook
endpoint that subscribes to its type, always in the same envelope:

\`\`\`json
{"id": "evt_…", "object": "event", "type": "payout.paid", "timestamp": "2026-09-15T08:30:00.000Z",
 "account_id": "acc_…", "api_version": "2.0.0", "data": {}}
\`\`\`

\`data\` is what the REST GET of the record shows, without its long lists. Every time is RFC 3339 in UTC with milliseconds.
An event may arrive twice, or after a later one: remember the \`id\`. How it is signed, sent and retried is told in
[webhooks.md](webhooks.md). \`GET /v2/event-types\` gives the types below to programs, with a JSON schema and an example
of each.

## Subscribing
An endpoint names the types it wants, one by one or all behind a prefix; \`event_types\` left out (or null) means all.

\`\`\`
POST /v2/webhook-endpoints
{"url": "https://shop.example.com/hooks", "event_types": ["payout.*", "commission.created", "order.*"]}
\`\`\`

Under ${OWN_PREFIXES.map((prefix) => `\`${prefix}\``).join(', ')}
only the types of this page are accepted, so a typing error is refused instead of waiting for ever. An application's
token needs the scope \`affiliates\` besides \`webhooks\` to subscribe to payouts, commissions and affiliates, or to all.

## Publishing your own
A platform sends events of its own through the same endpoints, signed and retried alike, with an API key:

\`\`\`
POST /v2/events
{"type": "order.created", "data": {"order_id": "order-1042"}, "external_id": "order-1042-created"}
\`\`\`

The type is any dotted name that does not begin as ours do; \`data\` is any JSON object, passed on unchanged. The same event
again under the same \`external_id\` is not sent twice: the answer is the one stored.

${[...groups].map(([data, group]) => eventGroup(data, group)).join('\n')}`;
}

const FILES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/openapi.json': () => `${JSON.stringify(describe(ROUTES), null, 2)}\n`,
  'docs/errors.md': errorsPage,
  'docs/configuration.md': configurationPage,
  'docs/events.md': eventsPage,
  'docs/cli.md': cliPage,
  'src/client/api.ts': () => clientTypes(describe(ROUTES)),
};

const check = process.argv.includes('--check');
for (const [name, make] of Object.entries(FILES)) {
  const path = new URL(`../${name}`, import.meta.url);
  const text = await make();
  if (!check) {
    writeFileSync(path, text);
  } else if (text !== readFileSync(path, { encoding: 'utf8', flag: 'a+' })) {
    console.error(`${name} is not what the code says: run \`npm run generate\``);
    process.exitCode = 1;
  }
}
