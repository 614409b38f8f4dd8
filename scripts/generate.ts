// Writes the generated files: docs/openapi.json, docs/errors.md, docs/events.md, docs/configuration.md, docs/cli.md,
// docs/sizes.md, src/client/{api,fields}.ts, the generated files of packages/{python,go}, and the marked tables of
// docs/{payouts-reference,security,alerts,webhooks-reference}.md. With --check it writes nothing and fails when one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { CATALOGUE, exampleEvent } from '../src/catalogue/catalogue.ts';
import { formOf } from '../src/contract/fields.ts';
import {
  CAPABILITIES,
  type Capability,
  capabilitiesOf,
  ROLE_NAMES,
  roleLabel,
  usersWith,
} from '../src/contract/roles.ts';
import { describe, describeInline } from '../src/http/openapi.ts';
import { ROUTES } from '../src/http/routes.ts';
import { explainConfig } from '../src/kernel/config.ts';
import { REASONS } from '../src/kernel/errors.ts';
import { AFFILIATE_FIELDS } from '../src/money/affiliates/fields.ts';
import { COMMISSION_FIELDS } from '../src/money/commissions/fields.ts';
import { DESTINATION_FIELDS } from '../src/money/destinations/fields.ts';
import { approvalTable } from '../src/money/ledger/approval-rules.ts';
import { FORMATS } from '../src/money/payment-files/formats.ts';
import { PROGRAM_FIELDS } from '../src/money/programs/fields.ts';
import { REFUND_FIELDS } from '../src/money/refunds/fields.ts';
import { TAX_PROFILE_FIELDS } from '../src/money/tax-profiles/fields.ts';
import { ALERTS } from '../src/notices/kinds.ts';
import { EVENT_TYPES, type EventType, isUpdate } from '../src/outbox/event-types.ts';
import { protectedTable } from '../src/people/accounts/protection.ts';
import { signalTable } from '../src/terms/payout-signals.ts';
import { ENDPOINT_FIELDS } from '../src/webhooks/endpoints/fields.ts';
import { KNOWN_SCHEMES, type Scheme } from '../src/webhooks/signing/known-schemes.ts';
import { OWN_PREFIXES } from '../src/webhooks/types/types.ts';
import { goFiles } from './client-go.ts';
import { clientModel } from './client-model.ts';
import { pythonFiles } from './client-python.ts';
import { clientTypes, formatted } from './client-types.ts';
import { sizesPage } from './sizes-page.ts';

function errorsPage(): string {
  const rows = Object.entries(REASONS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([reason, { status, meaning }]) => `| ${status} | \`${reason}\` | ${meaning} |`);
  return `# Errors

Every error of \`/v2\` has the same body, with one of six codes:

\`\`\`json
{"error": {"code": "conflict", "message": "payout po_… is unpaid: complete or delete it before creating another"}}
\`\`\`

The response header \`Payhook-Reason\` gives the precise reason, a word that never changes. Branch on the status and the reason, and
show the message to people. \`Payhook-Request-Id\` finds the request in the server's log. A refused request has changed nothing.

| status | reason | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function configurationPage(): string {
  const rows = explainConfig({}).map(
    ({ name, meaning, value }) => `| \`${name}\` | ${value ? `\`${value}\`` : ''} | ${meaning} |`,
  );
  return `# Configuration

Settings come from the environment. \`NAME_FILE\` reads the setting \`NAME\` from a file, which is the best way to pass secrets. All
mistakes are reported together at the start. \`payhook config\` shows the settings in force, but never a secret.

| setting | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

\`payhook --env-file FILE\` reads settings from a file with one \`NAME=value\` per line. The environment overrides the file, and
\`--data-dir\` overrides both.

Commands work on the database of these settings. To work on a server elsewhere instead, set \`PAYHOOK_URL\` and
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

/** The type of a field, in words. */
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
    .filter(({ description }) => description)
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

/** The section of the types that report the same record: its fields once, and an example of each type. */
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

An event is stored in the same transaction as the change it reports, so one never exists without the other. It is sent to every
webhook endpoint that subscribes to its type, always in the same envelope:

\`\`\`json
{"id": "evt_…", "object": "event", "type": "payout.paid", "timestamp": "2026-09-15T08:30:00.000Z",
 "account_id": "acc_…", "api_version": "2.0.0", "data": {}}
\`\`\`

\`data\` is the record as the REST API returns it, without its long lists. Times are RFC 3339 in UTC with milliseconds. An event may
arrive twice, or after a later one, so remember the \`id\`. [webhooks.md](webhooks.md) describes how events are signed, sent and
retried. \`GET /v2/event-types\` returns the types below, and your own, for programs, with a JSON schema and an example of each.

## What changed
Events that report an update have \`changes\`: how the record differs from what it was just before. They are
${types
  .filter(isUpdate)
  .map((type) => `\`${type}\``)
  .join(', ')}.

\`\`\`json
${JSON.stringify({ changes: exampleEvent('payout.paid').changes })}
\`\`\`

| | Fields of \`data\` | Values |
| --- | --- | --- |
| \`added\` | that were null or missing | the new ones |
| \`updated\` | that have another value now | the previous ones |
| \`removed\` | that are null or missing now | the previous ones |

- A field is one value: of an object such as \`metadata\`, or a list such as \`totals\`, you get the whole previous one.
- \`updated_at\` is left out. All three can be empty, if nothing changed that \`data\` shows.
- Some changes have no event: a commission becomes \`unpaid\` at its \`available_at\`, and joins a payout. So its next event can begin with other
  values than its last one had.
- A value in \`changes\` is null only if it is left out: it was [erased](security.md#erasing-a-person), or the event would be larger than 256 KiB.
- Events that an earlier version of Payhook published have no \`changes\`.

[Filters](webhooks-reference.md#fields-that-changed) can read them.

## Subscribing
An endpoint lists the types it wants, one by one or with a prefix. Without \`event_types\`, or with null, it gets all of them.

\`\`\`
POST /v2/webhook-endpoints
{"url": "https://shop.example.com/hooks", "event_types": ["payout.*", "commission.created", "order.*"]}
\`\`\`

Under ${OWN_PREFIXES.map((prefix) => `\`${prefix}\``).join(', ')}
only the types on this page are accepted, so a misspelt type is refused instead of never matching. An application's token needs
the scope \`affiliates\` as well as \`webhooks\` to subscribe to payouts, commissions, affiliates and imports, or to all types.

## Publishing your own
With an API key, a platform can send its own events through the same endpoints. They are signed and retried in the same way:

\`\`\`
POST /v2/events
{"type": "order.created", "data": {"order_id": "order-1042"}, "external_id": "order-1042-created"}
\`\`\`

The type is any dotted name without one of the prefixes above, and \`data\` is any JSON object, passed on unchanged. Publishing the
same event again under the same \`external_id\` does not send it twice: the response is the stored event. You can
[describe your types](webhooks-reference.md#your-own-event-types), and have events checked against their schema.

${[...groups].map(([data, group]) => eventGroup(data, group)).join('\n')}`;
}

/** A guide as it is, with tables made from code between `<!-- name -->` and `<!-- /name -->`. */
function withTables(file: string, tables: Readonly<Record<string, string>>): string {
  const page = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [open, close] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];
    const [from, to] = [text.indexOf(open), text.indexOf(close)];
    if (from < 0 || to < from) throw new Error(`${file} has no place for the table ${name}`);
    return text.slice(0, from + open.length) + table + text.slice(to);
  }, page);
}

/** The signature schemes, for the guide to webhooks. */
function schemesTable(): string {
  const shown = (template: string) => `\`${template.replaceAll(/\{(\w+)\}/g, '<$1>')}\``;
  const rows = Object.entries<Scheme>(KNOWN_SCHEMES).map(([name, scheme]) => {
    const headers = Object.entries({ [scheme.header]: scheme.value, ...scheme.proofs, ...scheme.companions });
    return [
      name === 'standard' ? '`standard` (default)' : `\`${name}\``,
      headers.map(([header, value]) => shown(`${header}: ${value}`)).join(', '),
      shown(scheme.content),
      scheme.secret.key,
      scheme.furtherValue === undefined ? 'the old one signs until it expires' : 'both sign',
    ];
  });
  const cells = [
    ['`signing`', 'Headers', 'Signed text', 'Key', 'Two secrets'],
    Array(5).fill('---'),
    ...rows,
    [
      '`custom`',
      'of `custom_signing`',
      'of `custom_signing`',
      'the whole secret',
      'the old one signs until it expires',
    ],
  ];
  return cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** The signature schemes as forms and commands know them. */
const clientSchemes = () =>
  Object.fromEntries(
    Object.entries(KNOWN_SCHEMES).map(([name, { label, header, content }]) => [
      name,
      { label, header, content },
    ]),
  );

/** The fields of each resource as forms and commands know them. */
function clientFields(): string {
  const lists = {
    AFFILIATE_FIELDS,
    COMMISSION_FIELDS,
    DESTINATION_FIELDS,
    ENDPOINT_FIELDS,
    PROGRAM_FIELDS,
    REFUND_FIELDS,
    TAX_PROFILE_FIELDS,
  };
  const texts = Object.entries(lists).map(
    ([name, fields]) =>
      `export const ${name} = ${JSON.stringify(formOf(fields))} as const satisfies FormFields;`,
  );
  return formatted(`// Made by \`npm run generate\` from the list of fields of each noun (\`fields.ts\`): change those, not this file.

    /** A field that requests can set, as forms and commands know it. */
    export interface FormField {
      readonly label: string;
      /** How the value is typed. */
      readonly type: string;
      /** What the field is for, if the label does not say it. */
      readonly help?: string;
      /** The option of commands, such as \`--name-first <name>\`. */
      readonly option: string;
      readonly choices?: readonly string[];
      /** The word that clears it, or the object that it is a part of, on the command line; by default \`none\`. */
      readonly clearWord?: string;
      /** Whether a portal can set it. */
      readonly isOfPortal?: boolean;
      /** The range of a whole number. */
      readonly from?: number;
      readonly to?: number;
      /** A new record needs it. */
      readonly isRequired?: true;
      /** The optional object that it is a part of needs it. */
      readonly isNeededInObject?: true;
      /** The types of the record that need the field, and those that accept it; without both every type accepts it. */
      readonly neededBy?: readonly string[];
      readonly acceptedBy?: readonly string[];
      /** null clears it. */
      readonly isNullable?: true;
      /** The column of a file that gives it. */
      readonly column?: string;
    }
    export type FormFields = Readonly<Record<string, FormField>>;

    ${texts.join('\n\n')}

    /** The signature schemes of other products (\`webhooks/signing/known-schemes.ts\`); names in braces stand for values. */
    export const SIGNING_SCHEMES = ${JSON.stringify(clientSchemes())} as const;`);
}

/** The formats of payment files. */
function paymentFilesTable(): string {
  const rows = FORMATS.map(({ name, about, destination, currency, maxRows, choices }) => [
    `\`${name}\``,
    about,
    destination === null ? 'any' : `\`${destination}\``,
    currency === null ? 'any' : currency.toUpperCase(),
    maxRows === null ? 'any' : `up to ${maxRows.toLocaleString('en')}`,
    choices.map((choice) => `\`${choice}\``).join(', ') || 'none',
  ]);
  const heads = ['Format', 'What it is', 'Paid through', 'Currency', 'Rows', 'Parameters'];
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** What each role may do. */
function rolesTable(): string {
  const rows = Object.entries(CAPABILITIES).map(([name, does]) => {
    const cells = ROLE_NAMES.map((role) =>
      capabilitiesOf(role).includes(name as Capability) ? 'yes' : 'no',
    );
    return `| ${does} (\`${name}\`) | ${cells.join(' | ')} |`;
  });
  return [
    `| | ${ROLE_NAMES.map(roleLabel).join(' | ')} |`,
    `| --- |${' --- |'.repeat(ROLE_NAMES.length)}`,
    ...rows,
  ].join('\n');
}

/** Every kind of alert, and who gets it by e-mail unless they choose otherwise. */
function alertsTable(): string {
  const rows = Object.entries(ALERTS).map(
    ([kind, { label, meaning, notifies }]) =>
      `| ${label} (\`${kind}\`) | ${meaning} | ${notifies === null ? 'nobody' : usersWith(notifies)} |`,
  );
  return ['| Alert | When | By e-mail by default |', '| --- | --- | --- |', ...rows].join('\n');
}

const FILES: Readonly<Record<string, () => string | Promise<string>>> = {
  'src/client/fields.ts': clientFields,
  'docs/openapi.json': () => `${JSON.stringify(describe(ROUTES), null, 1)}\n`,
  'docs/errors.md': errorsPage,
  'docs/configuration.md': configurationPage,
  'docs/events.md': eventsPage,
  // commands read the fields, so they are loaded once those are written
  'docs/cli.md': async () => (await import('./cli-page.ts')).cliPage(),
  'docs/payouts-reference.md': () =>
    withTables('docs/payouts-reference.md', {
      'approval rules': approvalTable(),
      'payment files': paymentFilesTable(),
      'protected actions': protectedTable(),
      signals: signalTable(),
    }),
  'docs/security.md': () => withTables('docs/security.md', { roles: rolesTable() }),
  'docs/alerts.md': () => withTables('docs/alerts.md', { alerts: alertsTable() }),
  'docs/webhooks-reference.md': () =>
    withTables('docs/webhooks-reference.md', { 'signature schemes': schemesTable() }),
  'docs/sizes.md': sizesPage,
  'src/client/api.ts': () => clientTypes(describeInline(ROUTES)),
};

/** The generated files of the clients in other languages. */
function clientFiles(): Record<string, string> {
  const model = clientModel(describeInline(ROUTES));
  return { ...pythonFiles(model), ...goFiles(model) };
}

const check = process.argv.includes('--check');
async function* texts(): AsyncGenerator<[name: string, text: string]> {
  for (const [name, make] of Object.entries(FILES)) yield [name, await make()];
  yield* Object.entries(clientFiles());
}

for await (const [name, text] of texts()) {
  const path = new URL(`../${name}`, import.meta.url);
  if (!check) {
    writeFileSync(path, text);
  } else if (text !== readFileSync(path, { encoding: 'utf8', flag: 'a+' })) {
    console.error(`${name} is not what the code says: run \`npm run generate\``);
    process.exitCode = 1;
  }
}
