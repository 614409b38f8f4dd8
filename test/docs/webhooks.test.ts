import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createPrivateKey, sign as signWithKey } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong, someOf } from '../support/depth.ts';
import { checkAgainstCatalogue } from '../support/description.ts';

// The programs of the guide, run as a reader would: extracted from the page, started, and called with requests.
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = ['webhooks', 'webhooks-verify', 'webhooks-reference']
  .map((name) => readFileSync(join(ROOT, `docs/${name}.md`), 'utf8'))
  .join('\n');

/** The code blocks of a language under the heading that begins with this text; under any heading without one. */
function blocks(language: string, heading = ''): string[] {
  return PAGE.split(/^#{2,3} /m)
    .filter((section) => section.startsWith(heading))
    .flatMap((section) => [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)])
    .filter(([, fence]) => fence === language)
    .map(([, , code = '']) => code);
}

/**
 * The parts of a Rack server that the receiver of the page needs: one request a connection, headers as Rack passes
 * them.
 */
const RACK = `
require 'socket'
require 'stringio'
def run(app)
  server = TCPServer.new('127.0.0.1', 9000)
  loop do
    socket = server.accept.binmode
    next socket.close unless socket.gets
    env = {}
    while (line = socket.gets) && line != "\\r\\n"
      name, value = line.chomp.split(':', 2)
      env["HTTP_#{name.upcase.tr('-', '_')}"] = value.strip
    end
    env['rack.input'] = StringIO.new(socket.read(env['HTTP_CONTENT_LENGTH'].to_i))
    status, = app.call(env)
    socket.write("HTTP/1.1 #{status} -\\r\\nConnection: close\\r\\n\\r\\n")
    socket.close
  end
end
`;

interface Language {
  readonly heading: string;
  readonly fence: string;
  readonly file: string;
  /** The command that shows that the language is on this machine. */
  readonly probe: readonly [string, ...string[]];
  /** Compiles it, where the language requires that. */
  readonly build?: readonly [string, ...string[]];
  readonly run: (port: number) => readonly [string, ...string[]];
  /** Added before and after the page's code. */
  readonly before?: string;
  readonly after?: string;
  /** The packages that it needs of test/tools. */
  readonly needs?: readonly string[];
  /** What it verifies with, if it is not a secret, and how its requests are signed. */
  readonly byKey?: true;
}

const TOOLS = join(ROOT, 'test/tools/node_modules');

const NODE: Pick<Language, 'fence' | 'file' | 'probe' | 'run'> = {
  fence: 'ts',
  file: 'webhook.js',
  probe: [process.execPath, '--version'],
  run: () => [process.execPath, 'webhook.js'],
};

const LANGUAGES: readonly Language[] = [
  { ...NODE, heading: 'TypeScript, with the package `standardwebhooks`' },
  { ...NODE, heading: 'TypeScript, by hand' },
  { ...NODE, heading: 'TypeScript, with a public key', byKey: true },
  { ...NODE, heading: 'TypeScript, with Express', needs: ['express'] },
  { ...NODE, heading: 'TypeScript, with Fastify' },
  {
    ...NODE,
    heading: 'TypeScript, with Next.js',
    needs: ['@hono/node-server'],
    // as Next.js calls it: with a request of the web
    after: "\nimport { serve } from '@hono/node-server';\nserve({ fetch: POST, port: 9000 });\n",
  },
  { ...NODE, heading: 'TypeScript, with Hono', needs: ['hono', '@hono/node-server'] },
  {
    heading: 'Python',
    fence: 'python',
    file: 'webhook.py',
    probe: ['python3', '--version'],
    run: () => ['python3', 'webhook.py'],
  },
  {
    heading: 'Go',
    fence: 'go',
    file: 'webhook.go',
    probe: ['go', 'version'],
    build: ['go', 'build', '-o', 'webhook', 'webhook.go'],
    run: () => ['./webhook'],
  },
  {
    heading: 'PHP',
    fence: 'php',
    file: 'webhook.php',
    probe: ['php', '--version'],
    run: (port) => ['php', '-S', `127.0.0.1:${port}`, 'webhook.php'],
  },
  {
    heading: 'Ruby',
    fence: 'ruby',
    file: 'webhook.rb',
    probe: ['ruby', '--version'],
    run: () => ['ruby', 'webhook.rb'],
    before: RACK,
  },
];

const SECRET = `whsec_${Buffer.from('a secret of 32 bytes, for tests!').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`;
const ID = 'evt_0199d2c4a7f07a3b9c5d1e2f30415263';
// Bytes that change when they are parsed and written again.
const BODY = `{"id":"${ID}", "object":"event", "type":"payout.paid", "data":{"name":"Zo\\u00eb – 漢字", "n":1.0}}`;
const ENTRY = `${ID} payout.paid`;

type Headers = Record<string, string>;

const now = () => Math.floor(Date.now() / 1000);
// a key pair: the examples of RFC 8037 and of RFC 8032, section 7.1, test 2
const PUBLIC_KEY = `whpk_${Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url').toString('base64')}`;
const keyOf = (d: string, x: string) =>
  createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
const KEYS: Readonly<Record<string, ReturnType<typeof keyOf>>> = {
  [SECRET]: keyOf(
    'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  ),
  [OTHER_SECRET]: keyOf(
    'TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs',
    'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw',
  ),
};
/** Whether the program that is running verifies with a public key. */
let byKey = false;
const signed = (timestamp: number, secret = SECRET) => {
  const [key, content] = [KEYS[secret], Buffer.from(`${ID}.${timestamp}.${BODY}`)];
  return byKey && key
    ? `v1a,${signWithKey(null, content, key).toString('base64')}`
    : new Webhook(secret).sign(ID, new Date(timestamp * 1000), BODY);
};

function headers(
  changes: { signature?: string | ((right: string, timestamp: number) => string); timestamp?: number } = {},
): Headers {
  const { timestamp = now(), signature: given } = changes;
  const right = signed(timestamp);
  const signature = typeof given === 'function' ? given(right, timestamp) : (given ?? right);
  return { 'webhook-id': ID, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
}

function without(name: string): Headers {
  const { [name]: _, ...rest } = headers();
  return rest;
}

/** The signature under the key "": valid wherever a missing secret is treated as an empty one. */
function signedWithNothing(): Headers {
  const timestamp = now();
  const webhook = new Webhook(new Uint8Array([0]), { format: 'raw' }); // HMAC pads keys with zeros
  return headers({ timestamp, signature: webhook.sign(ID, new Date(timestamp * 1000), BODY) });
}

interface Case {
  readonly title: string;
  readonly make: () => { headers: Headers; body?: string };
}

const other = (timestamp: number) => signed(timestamp, OTHER_SECRET);
const ACCEPTED: readonly Case[] = [
  { title: 'a right signature', make: () => ({ headers: headers() }) },
  {
    title: 'two signatures of which the second is right',
    make: () => ({ headers: headers({ signature: (right, at) => `${other(at)} ${right}` }) }),
  },
  {
    title: 'two signatures of which the first is right',
    make: () => ({ headers: headers({ signature: (right, at) => `${right} ${other(at)}` }) }),
  },
  {
    title: 'a right signature among those of other versions',
    make: () => ({ headers: headers({ signature: (right) => `v1a,abc v2,def ${right}` }) }),
  },
  { title: 'a timestamp of 4 minutes ago', make: () => ({ headers: headers({ timestamp: now() - 240 }) }) },
  { title: 'a timestamp 4 minutes ahead', make: () => ({ headers: headers({ timestamp: now() + 240 }) }) },
];

const garbage = (signature: string): Case => ({
  title: `the signature ${JSON.stringify(signature.slice(0, 20))}`,
  make: () => ({ headers: headers({ signature }) }),
});
const REFUSED: readonly Case[] = [
  {
    title: 'a signature of another secret',
    make: () => ({ headers: headers({ signature: signed(now(), OTHER_SECRET) }) }),
  },
  {
    title: 'two wrong signatures',
    make: () => {
      const wrong = signed(now(), OTHER_SECRET);
      return { headers: headers({ signature: `${wrong} ${wrong}` }) };
    },
  },
  { title: 'a timestamp of 6 minutes ago', make: () => ({ headers: headers({ timestamp: now() - 360 }) }) },
  { title: 'a timestamp 6 minutes ahead', make: () => ({ headers: headers({ timestamp: now() + 360 }) }) },
  {
    title: 'a timestamp made young after signing',
    make: () => ({ headers: headers({ signature: signed(now() - 10) }) }),
  },
  {
    title: 'a body changed by one byte',
    make: () => ({ headers: headers(), body: BODY.replace('payout.paid', 'payout.Paid') }),
  },
  {
    title: 'a body that was parsed and written again',
    make: () => ({ headers: headers(), body: JSON.stringify(JSON.parse(BODY)) }),
  },
  { title: 'no body', make: () => ({ headers: headers(), body: '' }) },
  { title: 'another id', make: () => ({ headers: { ...headers(), 'webhook-id': 'evt_1' } }) },
  { title: 'no headers', make: () => ({ headers: {} }) },
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) => [
    { title: `no ${name}`, make: () => ({ headers: without(name) }) },
    { title: `${name} that is empty`, make: () => ({ headers: { ...headers(), [name]: '' } }) },
    { title: `${name} of bytes`, make: () => ({ headers: { ...headers(), [name]: '\u00ff\u00e9,\u0080' } }) },
  ]),
  ...['soon', 'NaN', '-1', '1e400', '0x7fffffff', '9'.repeat(400), '-9223372036854775808'].map(
    (timestamp): Case => ({
      title: `the timestamp ${timestamp.slice(0, 20)}`,
      make: () => ({ headers: { ...headers(), 'webhook-timestamp': timestamp } }),
    }),
  ),
  ...['v1', 'v1,', ',', ',,,', 'v1,???', 'v1,=', `v1,${'A'.repeat(4000)}`, 'v1,a '.repeat(800)].map(garbage),
  {
    title: 'the right signature under another version',
    make: () => ({ headers: headers({ signature: (right) => right.replace(/^v1a?,/, 'v2,') }) }),
  },
  {
    title: 'the right signature truncated',
    make: () => ({ headers: headers({ signature: (right) => right.slice(0, -3) }) }),
  },
];

interface Receiver {
  readonly child: ChildProcess;
  readonly port: number;
  readonly output: () => string;
}

async function stop({ child }: Receiver): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'close');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.end());
  });

/** Sends the event to a receiver. Returns the status, or null when the receiver closed the connection. */
function post(port: number, { headers: given, body = BODY }: { headers: Headers; body?: string }) {
  return new Promise<number | null>((resolve) => {
    const length = Buffer.byteLength(body);
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/payhook',
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': length, ...given },
    });
    sent.once('response', (response) => resolve(response.resume().statusCode ?? null));
    sent.once('error', () => resolve(null));
    sent.end(body);
  });
}

/** A project whose programs find our packages, and those of test/tools. */
function projectFolder(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'payhook-docs-')), 'project');
  mkdirSync(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, '../node_modules'));
  symlinkSync(TOOLS, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  return folder;
}

const removeProject = (folder: string) => rmSync(join(folder, '..'), { recursive: true, force: true });

const FRAMEWORK = /, with (Fastify|Next\.js|Hono)$/;

describe.each(LANGUAGES.filter(({ heading }) => isLong || !FRAMEWORK.test(heading)))(
  'the program under $heading',
  (language) => {
    const [probe, ...probeArgs] = language.probe;
    const missing = (language.needs ?? []).filter((name) => !existsSync(join(TOOLS, name)));
    if (spawnSync(probe, probeArgs).status !== 0) missing.push(probe);
    const isHere = missing.length === 0;
    const there = isHere ? '' : ` (skipped: no ${missing.join(' and ')} on this machine)`;
    let folder: string;
    const started: Receiver[] = [];
    let receiver: Receiver;

    /** Writes the page's program with a free port instead of 9000, and compiles it where the language requires that. */
    async function build(): Promise<number> {
      const [code, ...more] = blocks(language.fence, language.heading);
      expect(code, `one block of ${language.fence}`).toBeDefined();
      expect(more).toEqual([]);
      const port = await freePort();
      const program = [language.before, code, language.after].join('').replaceAll('9000', String(port));
      // types are removed, as newer versions of Node do; a test below checks those of all programs at once
      const executed = language.fence === 'ts' ? transformSync(program, { loader: 'ts' }).code : program;
      writeFileSync(join(folder, language.file), executed);
      if (language.build)
        execFileSync(language.build[0], language.build.slice(1), { cwd: folder, stdio: 'pipe' });
      return port;
    }

    async function start(secret: string | undefined, port: number): Promise<Receiver> {
      const [command, ...args] = language.run(port);
      const { PAYHOOK_WEBHOOK_SECRET: _, ...env } = process.env;
      const child = spawn(command, args, {
        cwd: folder,
        detached: true,
        env: { ...env, ...(secret === undefined ? {} : { PAYHOOK_WEBHOOK_SECRET: secret }) },
        stdio: 'pipe',
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk;
        });
      }
      const made = { child, port, output: () => output };
      started.push(made);
      const isUp = async () => (await answers(port)) || child.exitCode !== null;
      while (!(await isUp())) await pause(20);
      return made;
    }

    beforeAll(async () => {
      if (!isHere) return;
      folder = projectFolder();
      byKey = language.byKey ?? false;
      receiver = await start(byKey ? PUBLIC_KEY : SECRET, await build());
      expect(receiver.child.exitCode, receiver.output()).toBeNull();
    });
    afterAll(async () => {
      if (!isHere) return;
      await Promise.all(started.map(stop));
      removeProject(folder);
    });

    const entries = () => receiver.output().split(ENTRY).length - 1;

    for (const { title, make } of ACCEPTED) {
      test.skipIf(!isHere)(`accepts ${title}${there}`, async () => {
        const before = entries();
        expect(await post(receiver.port, make()), receiver.output()).toBe(204);
        await expect.poll(entries).toBe(before + 1);
      });
    }

    for (const { title, make } of REFUSED) {
      test.skipIf(!isHere)(`refuses ${title}${there}`, async () => {
        const before = entries();
        expect(await post(receiver.port, make()), receiver.output()).toBe(400);
        expect(entries()).toBe(before);
      });
    }

    test.skipIf(!isHere)(`still accepts a valid signature after all that${there}`, async () => {
      expect(await post(receiver.port, { headers: headers() })).toBe(204);
      expect(receiver.child.exitCode).toBeNull();
    });

    test.skipIf(!isHere)(
      `without a secret accepts nothing, not even a request signed with no key${there}`,
      async () => {
        const port = await build();
        for (const secret of someOf([undefined, 'whsec_', ''], 2)) {
          const without = await start(secret, port);
          const { output } = without;
          expect(await post(port, { headers: signedWithNothing() }), output()).not.toBe(204);
          expect(output()).not.toContain(ENTRY);
          await stop(without);
        }
      },
    );
  },
);

const hasFrameworks = ['@types/express', 'hono'].every((name) => existsSync(join(TOOLS, name)));
const noFrameworks = hasFrameworks ? '' : ' (skipped: no packages of test/tools)';
test.skipIf(!hasFrameworks)(
  `the TypeScript of the page compiles under the strict types of this repository${noFrameworks}`,
  () => {
    const folder = projectFolder();
    try {
      const found = blocks('ts');
      expect(found).toHaveLength(LANGUAGES.filter(({ fence }) => fence === 'ts').length);
      found.forEach((code, index) => {
        writeFileSync(join(folder, `${index}.ts`), code);
      });
      const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
      compilerOptions.typeRoots = [join(ROOT, 'node_modules/@types')];
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const { stdout, status } = spawnSync(
        join(ROOT, 'node_modules/.bin/tsc'),
        ['-p', folder, '--checkers', '1'],
        {
          encoding: 'utf8',
        },
      );
      expect(stdout).toBe('');
      expect(status).toBe(0);
    } finally {
      removeProject(folder);
    }
  },
);

test('the example for other languages is right', () => {
  const row = (name: string) => new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'm').exec(PAGE)?.[1] ?? '';
  const at = new Date(Number(row('`webhook-timestamp`')) * 1000);
  const signature = new Webhook(row('secret')).sign(row('`webhook-id`'), at, row('body, UTF-8'));
  expect(signature).toBe(row('`webhook-signature`'));
});

test('the example of a body is an event of the catalogue', () => {
  const [body = '', ...more] = blocks('json');
  expect(more).toEqual([]);
  checkAgainstCatalogue(body);
});

test('the shell can read every command of the page', () => {
  const commands = blocks('sh');
  expect(commands.length).toBeGreaterThan(4);
  for (const code of commands)
    expect(spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' }).stderr).toBe('');
});
