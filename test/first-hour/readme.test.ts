import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { isLong } from '../support/depth.ts';
import {
  type Block,
  blocksOf,
  type Clone,
  freePorts,
  freshClone,
  isAsShown,
  newcomer,
  type Ports,
  QUICK_NPX,
  type Running,
  startShell,
  typeBlocks,
  withPorts,
} from './support.ts';

// A newcomer's first hour: every command block of the README in a fresh clone, in order, compared with the output that
// the README shows. The first block is terminal one, which keeps the server running; the others are terminal two. There
// the reader continues with the receiver and, in a long run, with the page for programmers, so that the two never contradict
// each other; integration.test.ts types that page in every run.
const BLOCKS = blocksOf('README.md');
// `.ci/run` has just installed and built this clone with the same command, which takes a minute of processor time, and
// package.test.ts starts a server with npx: only the long run types both.
const INSTALLS = isLong;
const NPX = INSTALLS ? '' : QUICK_NPX;
const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;
const hasCurl = has('curl');
const RECEIVER = blocksOf('docs/webhooks.md').filter(({ heading }) => heading === 'Try it on this machine');
const NEXT = isLong && has('jq') ? blocksOf('docs/integration.md') : [];

describe.skipIf(!hasCurl)(
  'the README in a fresh clone, then a receiver of docs/webhooks.md and, in a long run, docs/integration.md',
  () => {
    let clone: Clone;
    let ports: Ports;
    let server: Running;
    let started: string;
    let typed: { output: string; code: number }[];
    const [start, ...second] = BLOCKS as [Block, ...Block[]];
    // cli/demo.test.ts runs the demo, which costs as much as all others
    const isTyped = ({ commands }: Block) => isLong || !commands.startsWith('npx payhook demo');
    const rest = [...second.filter(isTyped), ...RECEIVER, ...NEXT];

    beforeAll(async () => {
      clone = freshClone(INSTALLS);
      ports = await freePorts([8080, 9000]);
      const commands = INSTALLS ? start.commands : start.commands.replace('npm ci && ', '');
      server = startShell(commands, clone.folder, newcomer({ PORT: String(ports.get(8080)) }));
      await server.until(/Ctrl-C stops it.*\n/);
      started = server.printed();
      const here = rest.map((block) => ({ ...block, commands: withPorts(block.commands, ports) }));
      if (here[0]) here[0].commands = NPX + here[0].commands;
      typed = await typeBlocks(here, clone.folder, newcomer({}));
    });

    afterAll(async () => {
      await server?.interrupt();
      clone?.remove();
    });

    test('the two commands start it and it prints what the README shows', () => {
      expectShown(started, start);
    });

    test.each(rest.map((block, index) => ({ ...block, index, title: firstLine(block) })))(
      '$heading: $title',
      (block) => {
        const { output, code } = typed[block.index] ?? { output: '', code: -1 };
        expect(code, output).toBe(0);
        expectShown(output, block);
      },
    );

    function expectShown(output: string, { output: shown }: Block): void {
      if (shown === undefined) return;
      const expected = withPorts(shown, ports);
      // compared as texts on a mismatch, for a readable difference
      if (!isAsShown(output, expected)) expect(output).toBe(expected);
    }
  },
);

test('the README shows the output of its commands, and has room for no more', () => {
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  expect(BLOCKS.length).toBeGreaterThan(6);
  expect(RECEIVER.length).toBe(3);
  expect(BLOCKS[0]?.commands).toContain('npm ci && npm start');
  expect(BLOCKS.filter(({ output }) => output !== undefined).length).toBeGreaterThan(BLOCKS.length / 2);
});

test('what the shell prints about ended jobs is not output of a block', async () => {
  const blocks = ['sleep 60 &', 'kill %%', 'cd /; wait; echo one; echo two'].map((commands) => ({
    heading: '',
    commands,
    output: undefined,
  }));
  const typed = await typeBlocks(blocks, ROOT, newcomer({}));
  expect(typed.at(-1)).toEqual({ output: 'one\ntwo\n', code: 0 });
});

test('the comparison finds every difference', () => {
  expect(isAsShown('one\ntwo\n', 'one\ntwo\n')).toBe(true);
  expect(isAsShown('one\ntwo\n', 'one\n')).toBe(false);
  expect(isAsShown('one 17 x\n', 'one … x\n')).toBe(true);
  expect(isAsShown('one 17 y\n', 'one … x\n')).toBe(false);
  expect(isAsShown('a\nb\nc\n', '…\nc\n')).toBe(true);
  expect(isAsShown('a\nb\nc\n', 'a\n…\n')).toBe(true);
  expect(isAsShown('a\nb\nc\n', '…\nb\n')).toBe(false);
});

const firstLine = ({ commands }: Block) => commands.trim().split('\n')[0] ?? '';
