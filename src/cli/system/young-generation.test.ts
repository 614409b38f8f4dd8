import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const SURVIVORS = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { keepYoungGenerationSmall } from ${JSON.stringify(new URL('./young-generation.ts', import.meta.url).href)};
  const kept = [];
  const room = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  const fill = () => {
    for (let count = 0; count < 4e6; count += 1) kept.push({ count });
    return room();
  };
  const first = room();
  const letGrow = keepYoungGenerationSmall();
  const small = fill();
  letGrow();
  process.stdout.write(JSON.stringify({ first, small, grown: fill() }));
`;

test('the room of young objects stays small while many survive, until it may grow', () => {
  // what reads the script has let it grow already, so there must be room for more
  const options = ['--max-semi-space-size=128', '--import', 'tsx', '--input-type=module', '-e', SURVIVORS];
  const { first, small, grown } = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' }));
  expect(small).toBeLessThanOrEqual(first);
  expect(grown).toBeGreaterThan(first);
});
