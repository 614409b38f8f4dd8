import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import { blocksOf, isAsShown, newcomer, typeBlocks } from './support.ts';

// The page's commands, typed into one shell in a folder that has the first key, against a server with an empty account.
const BLOCKS = blocksOf('docs/integration.md');
const hasTools = ['curl', 'jq'].every((tool) => spawnSync(tool, ['--version']).status === 0);

describe.skipIf(!hasTools)('docs/integration.md', () => {
  const world = useWorld();
  let folder: string;
  let typed: { output: string; code: number }[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'payhook-integration-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/first-api-key'), world.api.key);
    const here = BLOCKS.map((block) => ({
      ...block,
      commands: block.commands.replaceAll('http://127.0.0.1:8080', world.url),
    }));
    typed = await typeBlocks(here, folder, newcomer({}));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(BLOCKS.map((block, index) => ({ ...block, index })))('$heading ($index)', (block) => {
    const { output, code } = typed[block.index] ?? { output: '', code: -1 };
    expect(code, output).toBe(0);
    if (block.output !== undefined && !isAsShown(output, block.output)) expect(output).toBe(block.output);
  });
});
