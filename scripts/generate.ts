// Writes the files that are made from code: docs/openapi.json, docs/errors.md, docs/events.md, docs/configuration.md.
// With --check it writes nothing and fails when one of them is not what the code says.
import { readFileSync, writeFileSync } from 'node:fs';
import type { EventType } from '../src/delivery/queue.ts';
import { CATALOGUE } from '../src/features/events/catalogue.ts';
import { describe } from '../src/http/openapi.ts';
import { ROUTES } from '../src/http/routes.ts';
import { explainConfig } from '../src/kernel/config.ts';
import { REASONS } from '../src/kernel/errors.ts';

function errorsPage(): string {
  const rows = Object.entries(REASONS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([reason, { status, meaning }]) => `| ${status} | \`${reason}\` | ${meaning} |`);
  return `# Errors

Every error of \`/v2\` has the same body, with one of six codes:

\`\`\`json
{"error": {"code": "conflict", "message": "payout po_… is unpaid: complete or delete it before making another"}}
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

A command talks to the database of these settings. To talk to a server elsewhere instead, set \`PAYHOOK_URL\` and
\`PAYHOOK_API_KEY\`.
`;
}

function eventsPage(): string {
  const rows = Object.entries(CATALOGUE).map(([type, { meaning }]) => `| \`${type}\` | ${meaning} |`);
  const sections = Object.keys(CATALOGUE).map((type) => {
    const fields = Object.keys(
      (CATALOGUE[type as EventType].data as { properties?: object }).properties ?? {},
    );
    return `- \`${type}\`: ${fields.map((field) => `\`${field}\``).join(', ')}`;
  });
  return `# Events

Every change stores an event in its own transaction. The payload is the same for all:

\`\`\`json
{"id": "evt_…", "object": "event", "type": "payout.paid", "timestamp": "2026-09-15T08:30:00.000Z",
 "account_id": "acc_…", "api_version": "2.0.0", "data": {}}
\`\`\`

\`data\` is what the REST GET of the record shows, without its long lists.

| type | when |
| --- | --- |
${rows.join('\n')}

## Fields of data
${sections.join('\n')}
`;
}

const FILES: Readonly<Record<string, () => string>> = {
  'docs/openapi.json': () => `${JSON.stringify(describe(ROUTES), null, 2)}\n`,
  'docs/errors.md': errorsPage,
  'docs/configuration.md': configurationPage,
  'docs/events.md': eventsPage,
};

const check = process.argv.includes('--check');
for (const [name, make] of Object.entries(FILES)) {
  const path = new URL(`../${name}`, import.meta.url);
  const text = make();
  if (!check) {
    writeFileSync(path, text);
  } else if (text !== readFileSync(path, { encoding: 'utf8', flag: 'a+' })) {
    console.error(`${name} is not what the code says: run \`npm run generate\``);
    process.exitCode = 1;
  }
}
