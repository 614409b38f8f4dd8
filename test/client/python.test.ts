import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { longRun } from '../support/depth.ts';
import { hasMypy, python, runPython, withoutMypy, withoutPython } from '../support/python.ts';
import { startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';

// The package in Python as its users see it: the programs of its README and of examples/python, and its types.
const world = useWorld({ delivers: true });
const PATIENCE_MS = 180_000;
const README = readFileSync(join(ROOT, 'packages/python/README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'python-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a program of the README to a file. */
function programOf(name: string): string {
  const code = README.split('```python\n').find((block) => block.startsWith(`# ${name}`));
  const file = join(folder, name);
  writeFileSync(file, code?.split('```')[0] ?? '');
  return file;
}

const environment = () => ({ PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key });

test('the README has at most 40 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test.skipIf(!python)(`the first call of the README prints what it says${withoutPython}`, async () => {
  await world.api.post('/v2/affiliates', { email: 'ada@example.com', external_id: 'a1' });
  expect(await runPython([programOf('pay.py')], environment())).toEqual({
    code: 0,
    output: 'Default\nada@example.com\nnothing_to_pay nothing to pay; no unpaid commission matches\n',
  });
});

test.skipIf(!python)(
  `examples/python/first_call.py prints the account and its affiliates${withoutPython}`,
  async () => {
    const { code, output } = await runPython(['examples/python/first_call.py'], environment());
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Default pays in usd\n/),
    });
    const refused = await runPython(['examples/python/first_call.py'], {
      ...environment(),
      PAYHOOK_API_KEY: 'wrong',
    });
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('refused (invalid_credentials)'),
    });
  },
);

test.skipIf(!python)(
  `the receiver of the README accepts a real delivery and refuses a changed one${withoutPython}`,
  async () => {
    const receiver = await startReceiver();
    const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', { url: receiver.url });
    await world.api.post(`/v2/webhook-endpoints/${endpoint.id}/test`);
    const [delivery] = await receiver.until(1);
    programOf('receiver.py');
    const program = [
      'import json, sys; from receiver import receive',
      'given = json.load(open(sys.argv[1]))',
      'print(receive(given["body"].encode(), given["headers"]), receive(given["body"].encode() + b" ", given["headers"]))',
    ];
    writeFileSync(join(folder, 'delivery.json'), JSON.stringify(delivery));
    writeFileSync(join(folder, 'main.py'), program.join('\n'));
    const result = await runPython([join(folder, 'main.py'), join(folder, 'delivery.json')], {
      PAYHOOK_WEBHOOK_SECRET: String(endpoint.secret),
    });
    expect(result).toEqual({ code: 0, output: '204 400\n' });
    await receiver.close();
  },
);

longRun.test.skipIf(!hasMypy)(
  `the package, its example and the programs of its README have strict types${withoutMypy}`,
  { timeout: PATIENCE_MS },
  async () => {
    const wrong = join(folder, 'wrong.py');
    const mypy = ['-m', 'mypy', '--strict', '--no-warn-return-any', '--cache-dir', join(folder, 'cache')];
    // the programs, and the modules of the package that they import, which are all
    const files = ['examples/python', programOf('pay.py'), programOf('receiver.py')];
    expect(await runPython([...mypy, ...files])).toMatchObject({ code: 0 });
    writeFileSync(
      wrong,
      'from payhook import Payhook\nPayhook("", api_key="").payouts.create({"filters": {"curency": "usd"}})\n',
    );
    const refused = await runPython([...mypy, wrong]);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('[arg-type]') });
  },
);
