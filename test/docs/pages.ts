import { spawnSync } from 'node:child_process';
import { SECTIONS } from '../../src/screens/reference/sections.ts';

/** The addresses of the reference. */
export const ADDRESSES = ['/docs', ...SECTIONS.map(({ slug }) => `/docs/${slug}`)];

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The text of a piece of HTML. */
export const plain = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** An operation as a page shows it: the command, its file, the response. */
export interface Shown {
  readonly id: string;
  readonly text: string;
  readonly command: string;
  readonly file: string | undefined;
  readonly status: string;
  readonly answer: string;
}

/** The operations of a page. */
export function shownOn(page: string): Shown[] {
  return [...page.matchAll(/<section class="op" id="(\w+)"[\s\S]*?<\/section>/g)].map(([html, id = '']) => {
    const figures = [
      ...html.matchAll(
        /<figure class="code (\w*)"><figcaption>(.*?)<\/figcaption><pre[^>]*>([\s\S]*?)<\/pre>/g,
      ),
    ].map(([, kind, title = '', code = '']) => ({ kind, title: plain(title), code: plain(code) }));
    const of = (kind: string) => figures.find((each) => each.kind === kind);
    return {
      id,
      text: plain(html),
      command: of('request')?.code ?? '',
      file: of('')?.code,
      status: of('response')?.title ?? '',
      answer: of('response')?.code ?? '',
    };
  });
}

/** A command that calls curl, as a shell parses it. */
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Parses commands with a POSIX shell, whose `curl` only prints its arguments: one call of each. */
export function callsOf(commands: readonly string[]): Call[] {
  const each = commands.map((command) => `( :\n${command}\n)\nprintf '\\1'\n`).join('');
  const script = `curl() { printf '%s\\0' "$@"; }\n${each}`;
  const { stdout, stderr, status } = spawnSync('sh', ['-eu', '-c', script], {
    encoding: 'utf8',
    env: { PAYHOOK_API_KEY: 'the-key' },
  });
  if (status !== 0 || stderr !== '') throw new Error(stderr);
  return stdout.split('\u0001').slice(0, -1).map(callOf);
}

/** The call with these arguments of curl, each with a NUL at its end. */
function callOf(printed: string): Call {
  const words = printed.split('\0').slice(0, -1);
  const headers: [string, string][] = [];
  const rest = new Map<string, string>();
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) rest.set('url', word);
    else if (word === '-H') headers.push((words.shift() ?? '').split(/: (.*)/s, 2) as [string, string]);
    else rest.set(word, words.shift() ?? '');
  }
  const body = rest.get('-d') ?? rest.get('--data-binary');
  return {
    method: rest.get('-X') ?? (body === undefined ? 'GET' : 'POST'),
    url: rest.get('url') ?? '',
    headers: Object.fromEntries(headers),
    body,
  };
}
