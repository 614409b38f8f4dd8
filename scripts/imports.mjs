// Checks all imports, type imports included, against rooms.mjs, and proves that neither rooms nor files import each other in a
// circle. Prints every import that breaks a rule.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DASHBOARD_ROOMS, FOR_DASHBOARD, ROOMS } from './rooms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

// [what, where it may stand, the rule]
const ONLY_IN = [
  [/from 'fastify'/, /^src\/http\//, 'fastify belongs to http/'],
  [
    /from 'undici'/,
    /^src\/webhooks\/engine\/(connections|dial)\.ts/,
    'outbound HTTP belongs to webhooks/engine/ and, by Node alone, to client/',
  ],
  [
    /from 'sql-template-tag'/,
    /^src\/((db|outbox|notices|alerts\/sender|webhooks\/engine)\/|oauth\/store\.ts$|contract\/(lists|page-cuts|cursors|changes|records)\.ts$|http\/idempotency\.ts$|(money|people|webhooks|alerts)\/(?!.*(routes|service|state|schema)\.ts))/,
    'routes, services and states contain no SQL',
  ],
  [/pg_(try_)?advisory/, /^src\/db\/(locks|listen)\.ts$/, 'advisory locks are those of db/locks'],
  [/process\.env/, /^src\/kernel\/config\.ts$/, 'process.env is read in kernel/config only'],
  [/process\.exit\(/, /^src\/cli\/main\.ts$/, 'process.exit is called in cli/main only'],
  [
    /new Date\(\)|Date\.now\(\)/,
    /^src\/(?!money|people|webhooks|alerts|notices|outbox|catalogue|contract|oauth|screens)/,
    "the database's clock decides, not the machine's",
  ],
];

// A noun is used through its service; the rooms below the nouns are open.
const INSIDE =
  /^src\/(money|people|webhooks|alerts)\/(?!ledger|files|refund-lines|types|engine|sender)[^/]+\/(routes|store|lists)\.ts$/;

// Written by scripts/client-types.ts, and not read from top to bottom.
const GENERATED = 'src/client/api.ts';
const MOST_LINES = 400;

const problems = [];
const rooms = new Map(ROOMS.map(([name, , knows]) => [name, new Set(knows)]));
const outer = (room) => room.split('/')[0];

/** Whether a room may import another: they are the same, a line says so, or the room around it may. */
function mayKnow(from, to) {
  if (from === to || outer(from) === to) return from === to || rooms.get(from)?.has(to);
  if (outer(from) === outer(to)) return !from.includes('/') || rooms.get(from)?.has(to);
  return rooms.get(outer(from))?.has(outer(to)) ?? false;
}

const files = readdirSync(join(root, 'src'), { recursive: true })
  .map((name) => join('src', name))
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));
const roomOf = (file) => relative('src', dirname(file));

const fileGraph = new Map();
const roomGraphs = { outer: new Map(), inner: new Map() };
const link = (graph, from, to) => {
  if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
};

for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.trimEnd().split('\n').length;
  if (lines > MOST_LINES && file !== GENERATED)
    problems.push(`${file} has ${lines} lines, at most ${MOST_LINES}`);
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const values = code.replaceAll(/^import type [^;]*;/gm, '');
  for (const [what, where, rule] of ONLY_IN) {
    if (what.test(values) && !where.test(file)) problems.push(`${file}: ${rule}`);
  }
  const from = roomOf(file);
  if (!rooms.has(from)) problems.push(`${file}: scripts/rooms.mjs has no line for src/${from}`);
  const targets = new Set();
  for (const [statement, specifier, imported] of code.matchAll(
    /(?:import|export)[^;]*?from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g,
  )) {
    const target = relative(root, join(root, dirname(file), specifier ?? imported));
    const to = roomOf(target);
    const isType = /^(import|export) type\b/.test(statement);
    if (!isType) targets.add(target);
    link(roomGraphs.inner, from, to);
    link(roomGraphs.outer, outer(from), outer(to));
    if (!mayKnow(from, to)) problems.push(`${file} may not import ${target}: ${from} does not know ${to}`);
    if (from !== to && !isType && INSIDE.test(target) && !/^(http|catalogue|app)/.test(from)) {
      problems.push(`${file} may not import ${target}: another noun is used through its service`);
    }
  }
  fileGraph.set(file, targets);
}

function refuseCircles(graph, what) {
  const done = new Set();
  const walk = (node, path) => {
    const start = path.indexOf(node);
    if (start >= 0) problems.push(`a circle of ${what}: ${[...path.slice(start), node].join(' -> ')}`);
    if (start >= 0 || done.has(node)) return;
    for (const next of graph.get(node) ?? []) walk(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) walk(node, []);
}
refuseCircles(fileGraph, 'files');
refuseCircles(roomGraphs.outer, 'rooms');
refuseCircles(roomGraphs.inner, 'rooms');

for (const [room, , knows] of ROOMS) {
  for (const known of knows) {
    const graph = room.includes('/') ? roomGraphs.inner : roomGraphs.outer;
    if (!graph.get(room)?.has(known))
      problems.push(`scripts/rooms.mjs: ${room} does not need to know ${known}`);
  }
}

const dashboard = readdirSync(join(root, 'dashboard'), { recursive: true })
  .map((name) => join('dashboard', name))
  .filter((name) => /\.tsx?$/.test(name));
const dashboardRooms = new Map(DASHBOARD_ROOMS.map(([name, , knows]) => [name, new Set([name, ...knows])]));
// vite.config.ts replaces react by another package
const PACKAGES = /^(react|react-dom\/client|@tanstack\/react-(query|router)|virtual:tokens\.css)$/;
const nounOf = (file) => file.split('/').slice(1, -1);
for (const file of dashboard.filter((name) => name !== 'dashboard/vite.config.ts')) {
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n').length - 1;
  if (lines > MOST_LINES) problems.push(`${file} has ${lines} lines, at most ${MOST_LINES}`);
  const [room = '', noun] = nounOf(file);
  if (!dashboardRooms.has(room))
    problems.push(`${file}: scripts/rooms.mjs has no line for dashboard/${room}`);
  for (const [, named, lazy, bare] of text.matchAll(
    /^(?:import|export)\s[^;']*?from '([^']+)'|import\('([^']+)'\)|^import '([^']+)'/gm,
  )) {
    const specifier = named ?? lazy ?? bare;
    if (specifier.endsWith('.css') && specifier.startsWith('.')) continue;
    const target = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
    const [to = '', toNoun] = target.startsWith('dashboard/') ? nounOf(target) : ['src'];
    const isAllowed =
      target.startsWith('.') || target.startsWith('src/')
        ? FOR_DASHBOARD.test(target) && dashboardRooms.get(room)?.has('src')
        : target.startsWith('dashboard/')
          ? dashboardRooms.get(room)?.has(to) && !(room === 'screens' && to === 'screens' && noun !== toNoun)
          : PACKAGES.test(target);
    if (!isAllowed) problems.push(`${file} may not import ${target}`);
  }
}

if (problems.length > 0) {
  console.error([...new Set(problems)].join('\n'));
  process.exit(1);
}
console.log(
  `imports: ${files.length} files in ${ROOMS.length} rooms keep the rules, and ${dashboard.length} of the dashboard`,
);
