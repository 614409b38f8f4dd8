// Writes docs/sizes.md from the list of tables.
import { KEEPING_SETTINGS, TABLES, type TableFacts, UNITS, type Unit } from '../src/db/tables.ts';

const YEARS = 3;
const DAYS_OF_YEAR = 365;
const DAYS_OF_WEEK = 7;
type Installation = 'merchant' | 'platform';

/** How many days rows are kept; null = forever. */
function daysOf(facts: TableFacts): number | null {
  if (!('chore' in facts)) return null;
  if ('days' in facts) return facts.days;
  const days = KEEPING_SETTINGS[facts.setting];
  // the log is dropped by whole weeks
  return days !== null && facts.chore === 'webhook log' ? days + DAYS_OF_WEEK : days;
}

/** Bytes of a table after this many years. */
export function bytesAfter(facts: TableFacts, installation: Installation, years = YEARS): number {
  const amount: { merchant: number; platform: number; isYearly?: true } = UNITS[facts.unit];
  const days = daysOf(facts);
  const kept = !amount.isYearly ? 1 : days === null ? years : Math.min(years, days / DAYS_OF_YEAR);
  return amount[installation] * kept * facts.bytes;
}

function sizeText(bytes: number): string {
  if (bytes < 1e6) return '< 1 MB';
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`;
}

function removalText(facts: TableFacts): string {
  if ('stays' in facts) return `never: ${facts.stays}`;
  if ('removed' in facts) return facts.removed;
  if ('after' in facts) return `${facts.after} (chore \`${facts.chore}\`)`;
  const days = KEEPING_SETTINGS[facts.setting];
  return `\`${facts.setting}\`, ${days === null ? 'forever' : `${days} days`} by default (chore \`${facts.chore}\`)`;
}

/** The bytes of one unit, of the tables that grow with these units. */
function bytesOf(...units: readonly Unit[]): string {
  const parts = Object.entries(TABLES).filter(([, { unit }]) => units.includes(unit));
  const sum = parts.reduce((total, [, { bytes }]) => total + bytes, 0);
  return `${sum.toLocaleString('en-US')} bytes (${parts.map(([name]) => `\`${name}\``).join(', ')})`;
}

const total = (installation: Installation, years = YEARS) =>
  sizeText(Object.values(TABLES).reduce((sum, facts) => sum + bytesAfter(facts, installation, years), 0));

export function sizesPage(): string {
  const rows = Object.entries(TABLES).map(
    ([name, facts]) =>
      `| \`${name}\` | ${facts.unit} | ${facts.bytes.toLocaleString('en-US')} | ${removalText(facts)} | ` +
      `${sizeText(bytesAfter(facts, 'merchant'))} | ${sizeText(bytesAfter(facts, 'platform'))} |`,
  );
  return `# How large the database becomes

Made from \`src/db/tables.ts\`. Bytes are those on disk, with indexes. \`npm run bench -- --only sizes\` measures them for the tables
that grow with commissions, events and requests; the others are estimated from their columns. Events have 1 KB of data, and
attempts a short answer.

| One … | takes |
| --- | --- |
| commission | ${bytesOf('commission')} |
| payout line | ${bytesOf('payout line')} |
| audited request | ${bytesOf('audited request')} |
| request with an Idempotency-Key, for a day | ${bytesOf('request with an Idempotency-Key')} |
| event with one delivery and one attempt | ${bytesOf('event', 'delivery', 'attempt')} |

A **merchant** has ${UNITS.commission.merchant.toLocaleString('en-US')} commissions and ${UNITS.event.merchant.toLocaleString('en-US')} events a year. A **platform** has \
${UNITS.account.platform.toLocaleString('en-US')} accounts and ten times as many of both. With the default settings:

| | after one year | after three years |
| --- | --- | --- |
| merchant | ${total('merchant', 1)} | ${total('merchant')} |
| platform | ${total('platform', 1)} | ${total('platform')} |

\`payhook doctor\` compares the tables with this list and names those that are larger than they should be.

## Every table

| table | grows with each | bytes | rows are removed | merchant, three years | platform, three years |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
