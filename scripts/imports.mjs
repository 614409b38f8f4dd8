// Who may import whom, from real paths. Prints every import that breaks a rule; ARCHITECTURE.md has the picture.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// The first pattern that fits names the area of a file.
const AREAS = [
  ['route', /^src\/http\/(route|lists|page|cookies|headers)\.ts$/],
  ['queue', /^src\/delivery\/(queue|counts|secrets)\.ts$/],
  ['feature', /^src\/features\//],
  ['app', /^src\/((app|chores|data-folder|readiness)\.ts$|secret-key\/)/],
  ...['kernel', 'db', 'http', 'delivery', 'oauth', 'pages', 'client', 'cli', 'web'].map((area) => [
    area,
    new RegExp(`^src/${area}/`),
  ]),
];

const MAY_IMPORT = {
  kernel: ['kernel'],
  db: ['db', 'kernel'],
  route: ['route', 'db', 'kernel'],
  queue: ['queue', 'db', 'kernel'],
  delivery: ['delivery', 'queue', 'db', 'kernel'],
  feature: ['feature', 'route', 'queue', 'db', 'kernel'],
  pages: ['pages', 'route', 'feature', 'db', 'kernel'],
  oauth: ['oauth', 'pages', 'route', 'feature', 'db', 'kernel'],
  http: ['http', 'route', 'feature', 'oauth', 'pages', 'db', 'kernel'],
  app: ['app', 'http', 'delivery', 'queue', 'oauth', 'feature', 'db', 'kernel'],
  client: ['client', 'kernel'],
  cli: ['cli', 'app', 'client', 'kernel'],
  web: ['web', 'client'],
};

// [what, where it may stand]
const ONLY_IN = [
  [/from 'fastify'/, /^src\/http\//, 'fastify belongs to http/'],
  [
    /from 'undici'/,
    /^src\/(client\/|delivery\/(send|dial)\.ts)/,
    'outbound HTTP belongs to client/ and delivery/',
  ],
  [
    /from 'sql-template-tag'/,
    /^src\/(db|delivery)\/|^src\/oauth\/store\.ts$|^src\/http\/(lists|idempotency)\.ts$|^src\/features\/(?!.*(routes|service|state|schema)\.ts)/,
    'SQL does not stand in routes, services or states',
  ],
  [/process\.env/, /^src\/kernel\/config\.ts$/, 'process.env is read in kernel/config only'],
  [/process\.exit\(/, /^src\/cli\/main\.ts$/, 'process.exit is called in cli/main only'],
  [
    /new Date\(\)|Date\.now\(\)/,
    /^src\/(?!features|delivery|oauth|pages)/,
    "the database's clock decides, not the machine's",
  ],
];

// Written by scripts/client-types.ts: nobody reads it from top to bottom.
const GENERATED = 'src/client/api.ts';

const areaOf = (file) => AREAS.find(([, pattern]) => pattern.test(file))?.[0];

const files = readdirSync(join(root, 'src'), { recursive: true })
  .map((name) => join('src', name))
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));

const problems = [];
const graph = new Map();

for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const values = code.replaceAll(/^import type [^;]*;/gm, '');
  for (const [what, where, rule] of ONLY_IN) {
    if (what.test(values) && !where.test(file)) problems.push(`${file}: ${rule}`);
  }
  const area = areaOf(file);
  if (!area) problems.push(`${file}: lies in no area of the house`);
  const targets = [];
  for (const [statement, specifier] of code.matchAll(
    /(?:import|export)[^;]*?from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g,
  )) {
    const path = specifier ?? /import\('([^']+)'/.exec(statement)[1];
    const target = relative(root, join(root, dirname(file), path));
    const typeOnly = /^import type\b/.test(statement);
    if (!typeOnly) targets.push(target);
    const to = areaOf(target);
    if (area && to && !MAY_IMPORT[area].includes(to))
      problems.push(`${file} (${area}) may not import ${target} (${to})`);
    const [from, into] = [file, target].map((name) => /^src\/features\/([^/]+)\//.exec(name)?.[1]);
    if (from && into && from !== into && !typeOnly && /(routes|store|lists)\.ts$/.test(target)) {
      problems.push(`${file} may not import ${target}: another feature is used through its service`);
    }
  }
  graph.set(file, targets);
}

const done = new Set();
function walk(file, path) {
  if (path.includes(file)) {
    problems.push(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
    return;
  }
  if (done.has(file)) return;
  for (const target of graph.get(file) ?? []) walk(target, [...path, file]);
  done.add(file);
}
for (const file of files) walk(file, []);

for (const file of files) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
  if (lines > 400 && file !== GENERATED)
    console.warn(`warning: ${file} has ${lines} lines: is it two things?`);
}
if (problems.length > 0) {
  console.error([...new Set(problems)].join('\n'));
  process.exit(1);
}
console.log(`imports: ${files.length} files keep the rules`);
