import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTING_LIST } from '../../src/kernel/settings.ts';
import { ROOT } from '../cli/support.ts';
import { certificateFor } from '../support/certificate.ts';
import { plainEnvironment } from '../support/environment.ts';

const COMPOSE = join(ROOT, 'operations/compose');
const CHART = join(ROOT, 'operations/chart');
const tools = createRequire(join(ROOT, 'test/tools/package.json'));
const hasTools = existsSync(join(ROOT, 'test/tools/node_modules/dockerfile-utils'));
const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
const names = new Set(SETTING_LIST.map(({ name }) => name));
const isSetting = (name: string) => names.has(name) || names.has(name.replace(/_FILE$/, ''));

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
type Any = any;
const yaml = (text: string): Any => tools('yaml').parse(text);
const yamls = (text: string): Any[] =>
  tools('yaml')
    .parseAllDocuments(text)
    .map((each: Any) => each.toJS())
    .filter(Boolean);

describe.skipIf(!hasTools)(
  'the Dockerfile (needs the programs of test/tools, which .ci/run installs)',
  () => {
    const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

    test('a linter finds nothing', () => {
      expect(tools('dockerfile-utils').validate(text, {})).toEqual([]);
    });

    test('its copied files exist and are not excluded from the build', () => {
      const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
        sources.split(' '),
      );
      expect(copied.length).toBeGreaterThan(10);
      const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
      expect(copied.filter((name) => !existsSync(join(ROOT, name)) || ignored.includes(name))).toEqual([]);
    });

    test('its user is a number, which orchestrators require, and its settings exist', () => {
      expect(text).toMatch(/^USER \d+:\d+$/m);
      expect(text).toMatch(/^HEALTHCHECK /m);
      const [, set = ''] = /^ENV (.+)$/m.exec(text) ?? [];
      const given = set.split(' ').map((each) => each.split('=')[0] ?? '');
      expect(given.filter((name) => !isSetting(name))).toEqual(['NODE_ENV']);
    });
  },
);

/** Builds the program of test/tools/operations from downloaded modules; null = it cannot be built here. */
function buildJudge(): string | null {
  const out = join(ROOT, 'test/tools/out');
  mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(out, 'operations-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'judge');
  const built = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(ROOT, 'test/tools/operations'),
    env: { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly' },
  });
  return built.status === 0 ? program : null;
}
const judge = buildJudge();
const NEEDS_JUDGE = 'needs Go and the modules of test/tools/operations, which .ci/run fetches';

/** The errors of Docker Compose or a cluster for a text; empty = none. */
function refusalOf(kind: 'compose' | 'kubernetes', text: string, env: NodeJS.ProcessEnv = {}): string {
  const options = {
    input: text,
    cwd: COMPOSE,
    env: { ...plainEnvironment(), ...env },
    encoding: 'utf8',
  } as const;
  const { status, stderr } = spawnSync(judge ?? '', [kind], options);
  return status === 0 ? '' : stderr || `it ended with ${status}`;
}

describe.skipIf(!judge)(`the loader of Docker Compose (${NEEDS_JUDGE})`, () => {
  const text = readFileSync(join(COMPOSE, 'compose.yaml'), 'utf8');
  const env = { BASE_URL: 'https://pay.example.com' };

  test('accepts the compose file', () => {
    expect(refusalOf('compose', text, env)).toBe('');
  });

  test('requires the public address, and refuses an unknown key and an undeclared volume', () => {
    expect(refusalOf('compose', text)).toContain('BASE_URL is missing a value: the public address');
    expect(refusalOf('compose', text.replace('ports:', 'portz:'), env)).toContain('portz');
    expect(refusalOf('compose', text.replace('- temporary:/tmp', '- tmp:/tmp'), env)).toContain(
      'undefined volume',
    );
  });
});

describe.skipIf(!hasTools)('the compose file (needs the programs of test/tools)', () => {
  const compose = hasTools ? yaml(readFileSync(join(COMPOSE, 'compose.yaml'), 'utf8')) : {};
  const services = Object.entries(compose.services ?? {}) as [string, Any][];

  test('Payhook gets existing settings, and has this version', () => {
    const { environment, image } = compose.services.payhook;
    expect(Object.keys(environment).filter((name) => !isSetting(name))).toEqual([]);
    expect(image).toBe(`payhook:${version}`);
  });

  test('each secret, network, volume and file that a service uses exists, and each image has a version', () => {
    for (const [name, service] of services) {
      for (const kind of ['secrets', 'networks'] as const) {
        const used = (service[kind] ?? []) as string[];
        expect({ name, missing: used.filter((each) => !(each in compose[kind])) }).toEqual({
          name,
          missing: [],
        });
      }
      for (const mount of (service.volumes ?? []) as string[]) {
        const [source = ''] = mount.split(':');
        expect(
          source.startsWith('./') ? existsSync(join(COMPOSE, source)) : source in compose.volumes,
          mount,
        ).toBe(true);
      }
      expect(service.image, name).toMatch(/:\d/);
    }
    const files = Object.values(compose.secrets as Record<string, { file: string }>).map(({ file }) => file);
    const page = readFileSync(join(ROOT, 'docs/production.md'), 'utf8');
    expect(files.filter((file) => !page.includes(file.replace('secrets/', '')))).toEqual([]);
  });

  test.skipIf(spawnSync('nginx', ['-v']).status !== 0)('nginx accepts its configuration', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payhook-nginx-'));
    const { key, cert } = certificateFor('pay.example.com');
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'tls.crt'), cert);
    const server = readFileSync(join(COMPOSE, 'nginx.conf'), 'utf8')
      .replaceAll('/run/secrets/', `${folder}/`)
      .replaceAll('/var/log/nginx/', `${folder}/`);
    writeFileSync(join(folder, 'nginx.conf'), `pid ${folder}/pid;\nevents {}\nhttp {\n${server}\n}\n`);
    const ran = spawnSync('nginx', ['-t', '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(ran.status, ran.stderr).toBe(0);
  });
});

const HELM = process.env.HELM ?? 'helm';
const hasHelm = spawnSync(HELM, ['version']).status === 0;
const GIVEN = ['image.repository=registry.example.com/payhook', 'secret.existing=payhook'];

/** Runs helm on the chart with these values. */
function helm(command: readonly string[], values: readonly string[]) {
  const set = values.flatMap((value) => ['--set', value]);
  return spawnSync(HELM, [...command, CHART, '--kube-version', '1.30.0', ...set], { encoding: 'utf8' });
}
const rendered = (values: readonly string[]) => {
  const { status, stdout, stderr } = helm(['template', 'payhook'], [...GIVEN, ...values]);
  expect(status, stderr).toBe(0);
  return stdout;
};
const objects = (values: readonly string[]) =>
  new Map(yamls(rendered(values)).map((each) => [`${each.kind} ${each.metadata.name}`, each]));

const ALL = [
  'worker.enabled=true',
  'ingress.enabled=true,ingress.host=pay.example.com,ingress.tlsSecret=tls',
  'metrics.enabled=true,metrics.serviceMonitor=true',
  'secret.existing=,secret.databaseUrl=postgres://db/payhook,secret.secretKey=key',
  'settings.SHUTDOWN_DELAY_MS=8000',
];

test('the chart has this version, and its schema has the settings', () => {
  const chart = readFileSync(join(CHART, 'Chart.yaml'), 'utf8');
  expect(chart).toContain(`\nversion: ${version}\n`);
  expect(chart).toContain(`\nappVersion: ${version}\n`);
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  const own = ['HOST', 'PORT', 'DATA_DIR', 'METRICS_HOST', 'METRICS_PORT', 'DELIVERY_WORKER'];
  const free = SETTING_LIST.filter(({ name, secret }) => !secret && !own.includes(name)).map(
    ({ name }) => name,
  );
  expect(schema.properties.settings.propertyNames.enum.toSorted()).toEqual(free.toSorted());
});

describe.skipIf(!hasTools || !hasHelm)('the chart (needs helm and the programs of test/tools)', () => {
  test('helm finds nothing', () => {
    const { status, stdout } = helm(['lint', '--strict'], GIVEN);
    expect(status, stdout).toBe(0);
  });

  test('by default it is two servers that deliver, a service and a disruption budget', () => {
    const made = objects([]);
    expect([...made.keys()].toSorted()).toEqual([
      'Deployment payhook',
      'PodDisruptionBudget payhook',
      'Service payhook',
    ]);
    const { spec } = made.get('Deployment payhook').spec.template;
    const [container] = spec.containers;
    expect(container).toMatchObject({ args: ['serve'], envFrom: [{ secretRef: { name: 'payhook' } }] });
    expect(container.env).toContainEqual({ name: 'DELIVERY_WORKER', value: 'on' });
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    expect(container.env.map(({ name }: Any) => name).filter((name: string) => !isSetting(name))).toEqual([]);
    expect(spec.terminationGracePeriodSeconds).toBe(30);
    expect(made.get('Service payhook').spec.selector).toMatchObject({
      'app.kubernetes.io/component': 'serve',
    });
  });

  test('workers, an ingress, metrics and a secret are optional', () => {
    const made = objects(ALL);
    expect([...made.keys()].toSorted()).toEqual([
      'Deployment payhook',
      'Deployment payhook-worker',
      'Ingress payhook',
      'PodDisruptionBudget payhook',
      'Secret payhook',
      'Service payhook',
      'Service payhook-metrics',
      'ServiceMonitor payhook',
    ]);
    for (const name of ['payhook', 'payhook-worker']) {
      const { spec } = made.get(`Deployment ${name}`).spec.template;
      expect(spec.terminationGracePeriodSeconds).toBe(33);
      expect(spec.containers[0].env).toContainEqual({ name: 'DELIVERY_WORKER', value: 'off' });
      expect(spec.containers[0].env).toContainEqual({ name: 'SHUTDOWN_DELAY_MS', value: '8000' });
    }
    expect(made.get('Deployment payhook-worker').spec.template.spec.containers[0].args).toEqual(['worker']);
  });

  test.skipIf(!judge)(`a cluster knows every field of its objects (${NEEDS_JUDGE})`, () => {
    // a ServiceMonitor belongs to the Prometheus operator, not to Kubernetes
    const made = ALL.map((value) => value.replace(',metrics.serviceMonitor=true', ''));
    const text = rendered(made);
    expect(refusalOf('kubernetes', text)).toBe('');
    expect(refusalOf('kubernetes', text.replace('readinessProbe', 'readynessProbe'))).toContain(
      'unknown field "spec.template.spec.containers[0].readynessProbe"',
    );
  });

  test.each([
    ['no image', ['image.repository=', 'secret.existing=x'], 'image.repository'],
    ['no secret', ['image.repository=x'], 'secret.databaseUrl or secret.existing must be set'],
    ['an unknown setting', [...GIVEN, 'settings.BASE_URI=x'], 'BASE_URI'],
    ['an unknown value', [...GIVEN, 'replicas=3'], 'replicas'],
  ])('refuses %s', (_, values, message) => {
    const { status, stderr } = helm(['template', 'payhook'], values);
    expect(status).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
