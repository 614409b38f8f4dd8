import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canMount, isNodeForAll, type OtherSystem, startOtherSystem } from '../support/other-system.ts';
import { blocksOf, newcomer, type Running, startShell, typeBlocks } from './support.ts';

// The page typed by root, on a system with folders of the test. In place of systemctl, the test does what the unit
// says.
describe.skipIf(!canMount || !isNodeForAll)('docs/production.md', () => {
  const blocks = blocksOf('docs/production.md');
  let system: OtherSystem;
  let server: Running | undefined;
  const type = (commands: string) =>
    typeBlocks([{ heading: '', commands: system.entered(commands), output: undefined }], '/', env).then(
      ([typed]) => typed ?? { output: '', code: -1 },
    );
  const env = newcomer({ PATH: `/usr/local/sbin:${process.env.PATH}` });
  const blockWith = (text: string) => blocks.find(({ commands }) => commands.includes(text))?.commands ?? '';

  beforeAll(() => {
    system = startOtherSystem();
  });
  afterAll(async () => {
    await server?.interrupt();
    system.close();
  });

  test('the service is installed, and doctor accepts the settings of a fresh machine', async () => {
    const installed = await type(
      `cd /opt/payhook && ${lineWith(blockWith('service install'), 'service install')}`,
    );
    expect(installed, installed.output).toMatchObject({ code: 0 });
    const doctor = await type(blockWith('cat > /etc/payhook.env'));
    expect(doctor.output).toContain('does not exist yet');
    expect(doctor, doctor.output).toMatchObject({ code: 0 });
    const rights = await type("stat -c '%U %a' /etc/payhook.env && ls -A /var/lib/payhook");
    expect(rights.output).toBe('root 640\n');
  });

  test('the key is readable by the service only', async () => {
    const key = await type(blockWith('openssl rand').replace(/^payhook doctor$/m, ''));
    expect(key, key.output).toMatchObject({ code: 0 });
    const read = await type("stat -c '%U %a' /etc/payhook.key; runuser -u payhook -- cat /etc/payhook.key");
    expect(read.output).toMatch(/^payhook 600\n\S{32,}\n$/);
  });

  test('before the first start migrate creates nothing; the service starts as its unit says, and the upgrade finds its data', async () => {
    const early = await type('payhook migrate');
    expect(early).toMatchObject({
      code: 1,
      output: expect.stringContaining('no Payhook data in /var/lib/payhook/data'),
    });

    const unit = readFileSync(system.path('/etc/systemd/system/payhook.service'), 'utf8');
    const directives = Object.fromEntries(
      [...unit.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Number(directives.RestartSec)).toBeGreaterThan(2); // after five starts within ten seconds systemd gives up
    server = startShell(
      `exec ${system.entered(
        `cd ${directives.WorkingDirectory} && umask ${directives.UMask} && set -a && . ${directives.EnvironmentFile} && PORT=0 ` +
          `exec setpriv --reuid ${directives.User} --regid ${directives.Group} --clear-groups --no-new-privs ${directives.ExecStart}`,
      )}`,
      '/',
      env,
    );
    await server.until(/Ctrl-C stops it/);
    expect(server.printed()).toContain('in /var/lib/payhook/data/first-api-key');
    expect(server.printed()).not.toMatch(/ph_\w{20}|token=/);

    const migrated = await type(
      lineWith(blockWith('payhook migrate'), 'payhook migrate').replace(/ && systemctl.*/, ''),
    );
    expect(migrated).toMatchObject({ code: 0, output: expect.stringContaining('already') });
    const link = await type('payhook users setup-link');
    expect(link.output).toMatch(/^https:\/\/pay\.example\.com\/set-up\?token=/);
  });
});

/** The line of a block with this text. */
function lineWith(block: string, text: string): string {
  const line = block.split('\n').find((each) => each.includes(text));
  if (line === undefined) throw new Error(`the page has no "${text}"`);
  // the earlier lines are for an existing folder
  return line.replace(/^.*npm ci && /, '');
}
