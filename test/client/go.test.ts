import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { longRun } from '../support/depth.ts';
import { hasGo, runGo, withoutGo } from '../support/go.ts';
import { startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';

// The module in Go as its users see it: its own tests, and the programs of its README.
const world = useWorld({ delivers: true });
const PATIENCE_MS = 300_000;
const MODULE = join(ROOT, 'packages/go');
const README = readFileSync(join(MODULE, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'go-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of the README, as the body of a function. */
const programOf = (name: string) =>
  README.split('```go\n')
    .find((block) => block.startsWith(`// ${name}`))
    ?.split('```')[0] ?? '';

test('the README has at most 40 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

longRun.test.skipIf(!hasGo)(
  `the module is formatted, vetted and passes its tests${withoutGo}`,
  { timeout: PATIENCE_MS },
  async () => {
    expect(await runGo(['gofmt', '-l', '.'], MODULE)).toEqual({ code: 0, output: '' });
    expect(await runGo(['go', 'vet', './...'], MODULE)).toEqual({ code: 0, output: '' });
    expect(await runGo(['go', 'test', './...'], MODULE)).toMatchObject({ code: 0 });
  },
);

test.skipIf(!hasGo)(
  `the programs of the README run in a module of their own, against a server and with a real delivery${withoutGo}`,
  { timeout: PATIENCE_MS },
  async () => {
    writeFileSync(join(folder, 'go.mod'), 'module shop\n\ngo 1.24\n');
    const edit = ['go', 'mod', 'edit', '-require', 'payhook@v0.0.0', '-replace', `payhook=${MODULE}`];
    expect(await runGo(edit, folder)).toEqual({ code: 0, output: '' });
    writeFileSync(
      join(folder, 'main.go'),
      `package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"payhook"
)

func pay(ctx context.Context) error {
${programOf('pay.go')}
	return err
}

func receive(body []byte, request *http.Request) int {
${programOf('receive.go')}}

func main() {
	if len(os.Args) == 1 {
		_ = pay(context.Background())
		return
	}
	body, _ := os.ReadFile(os.Args[1])
	request := &http.Request{Header: http.Header{}}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		request.Header.Set(name, os.Getenv(name))
	}
	fmt.Println(receive(body, request), receive(append(body, ' '), request))
}
`,
    );
    expect(await runGo(['go', 'build', '-o', 'shop', '.'], folder)).toEqual({ code: 0, output: '' });

    await world.api.post('/v2/affiliates', { email: 'ada@example.com' });
    const environment = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key };
    expect(await runGo([join(folder, 'shop')], folder, environment)).toEqual({
      code: 0,
      output: 'ada@example.com <nil>\nnothing_to_pay\n',
    });

    const receiver = await startReceiver();
    const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', { url: receiver.url });
    await world.api.post(`/v2/webhook-endpoints/${endpoint.id}/test`);
    const [delivery] = await receiver.until(1);
    writeFileSync(join(folder, 'body'), delivery?.body ?? '');
    const received = await runGo([join(folder, 'shop'), join(folder, 'body')], folder, {
      ...(delivery?.headers as Record<string, string>),
      PAYHOOK_WEBHOOK_SECRET: String(endpoint.secret),
    });
    expect(received).toEqual({ code: 0, output: '204 400\n' });
    await receiver.close();
  },
);
