import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODINGS, type Coding, codingFor } from '../../contract/codings.ts';
import { ROOT } from '../../kernel/installation.ts';

/** A built file, as it is and as the build compressed it. */
interface Built {
  readonly type: string;
  readonly body: Buffer;
  readonly compressed: ReadonlyMap<Coding, Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** The suffixes of compressed files. */
const SUFFIXES: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

const FOLDER = fileURLToPath(new URL('dist/dashboard/', ROOT));
const INDEX = 'index.html';
const PORTAL = 'portal.html';
const SCREENS = 'screens.json';

let built: { readonly at: number; readonly files: ReadonlyMap<string, Built> } | undefined;

/** The built dashboard by path below its folder, cached until the next build; null if there is none. */
function files(): ReadonlyMap<string, Built> | null {
  const at = statSync(FOLDER + INDEX, { throwIfNoEntry: false })?.mtimeMs;
  if (at === undefined) return null;
  if (built?.at !== at) built = { at, files: readAll() };
  return built.files;
}

function readAll(): Map<string, Built> {
  const names = readdirSync(FOLDER, { recursive: true }).map((name) => String(name).replaceAll('\\', '/'));
  const found = new Map<string, Built>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const codings = CODINGS.filter((coding) => names.includes(name + SUFFIXES[coding]));
    found.set(name, {
      type,
      body: readFileSync(FOLDER + name),
      compressed: new Map(codings.map((coding) => [coding, readFileSync(FOLDER + name + SUFFIXES[coding])])),
    });
  }
  return found;
}

/** What the build adds to the page of a screen, as HTML. */
interface Screen {
  readonly files: string;
  /** The requests of the screen at its address without parameters. */
  readonly reads: string;
  readonly head: string;
}

/**
 * The HTML page of the dashboard for an address; null if it was not built. It names the files and requests of the screen, which the
 * browser otherwise requests only after it has run the first files, and shows the title of a main screen.
 */
export function indexPage(path: string, hasQuery: boolean): string | null {
  const page = textOf(INDEX);
  const screen = screenAt(path);
  if (page === null || screen === undefined) return page;
  const { files, reads, head } = screen;
  return page
    .replace('</head>', `${files}${hasQuery ? '' : reads}</head>`)
    .replace('<div id="root">', `<div id="root">${head}`);
}

/** The screen at a path, which may end with the id of a record. */
function screenAt(path: string): Screen | undefined {
  const screens: Readonly<Record<string, Screen>> = JSON.parse(textOf(SCREENS) ?? '{}');
  return screens[path] ?? screens[`${path.slice(0, path.lastIndexOf('/') + 1)}$id`];
}

/** The HTML page of a portal; null if it was not built. */
export const portalPage = (): string | null => textOf(PORTAL);

const textOf = (name: string) => files()?.get(name)?.body.toString() ?? null;

/**
 * A file for a client that accepts these codings (an Accept-Encoding header); `coding` is null if it is sent
 * uncompressed.
 */
export function assetFor(
  name: string,
  accepted: string,
): { readonly type: string; readonly body: Buffer; readonly coding: Coding | null } | null {
  const file = files()?.get(name);
  if (file === undefined) return null;
  const { type, body, compressed } = file;
  const coding = codingFor(accepted);
  const small = coding === null ? undefined : compressed.get(coding);
  return small === undefined ? { type, body, coding: null } : { type, body: small, coding };
}
