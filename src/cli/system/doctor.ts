import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import type { Inspection } from '../../app/inspection.ts';
import type { Config } from '../../kernel/config.ts';
import type { Cli } from '../command/cli.ts';
import { reportOf } from '../command/errors.ts';
import { readConfigHere } from '../command/session.ts';
import { count } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Check, check, type Status, verdict } from './check.ts';
import { checkCells } from './doctor-cells.ts';
import { checkHorizon } from './doctor-horizon.ts';

const MEGABYTE = 1e6;
const GIGABYTE = 1e9;
const LEAST_DISK = 0.2 * GIGABYTE;
const LITTLE_DISK = 2 * GIGABYTE;
const CLOCK_MS = 1000;
const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
const OLDEST_POSTGRES = 15;
const NEWEST_POSTGRES = 18;

/** `payhook doctor`: checks everything and changes nothing. Returns 1 if a check fails. */
export async function doctor({ terminal }: Cli): Promise<number> {
  const checks = await examine(terminal);
  const ok = checks.every(({ status }) => status !== 'failed');
  terminal.result({ ok, checks }, () => describe(checks, ok, terminal));
  return ok ? 0 : 1;
}

async function examine(terminal: Terminal): Promise<Check[]> {
  let config: Config;
  try {
    config = await readConfigHere(terminal);
  } catch (error) {
    const isFolder = (error as Error).name === 'EmbeddedDatabaseError';
    return [check(isFolder ? 'data folder' : 'settings', 'failed', reportOf(error).message)];
  }
  const checks = [check('settings', 'ok', 'all are valid'), ...checkFolder(config)];
  const { exposedSecretKey } = await import('../../app/secret-keys.ts');
  const exposed = exposedSecretKey(config);
  if (exposed !== null) checks.push(check('secret key file', 'warning', exposed));
  try {
    const { inspectInstallation } = await import('../../app/inspection.ts');
    const found = await inspectInstallation(config);
    if (found === null)
      checks.push(
        check('database', 'skipped', 'does not exist yet: payhook init or the first start creates it'),
      );
    else {
      checks.push(...(await checkCell(found.first, config)));
      checks.push(...(await checkCells(found, (...cell) => checkCell(cell[0], config, cell[1]))));
    }
  } catch (error) {
    checks.push(check('database', 'failed', reportOf(error).message));
  }
  return checks;
}

/** The checks of a cell, with those of its server unless another cell's include them. */
async function checkCell(facts: Inspection, config: Config, withServer = true): Promise<Check[]> {
  if (facts.distribution !== null) return [check('Citus', 'failed', facts.distribution)];
  return [
    ...(withServer ? checkServer(facts) : []),
    checkSchema(facts),
    ...checkReadiness(facts),
    ...checkLog(facts, config.delivery.retentionDays),
    await checkSecretKey(config, facts.secretKey),
    checkBackups(facts.backups, config.backup),
    checkAlerts(facts.alerts, config.mail),
    checkCertificates(facts.endingCertificates),
    checkBankSettings(facts.refusedSettings),
    checkOrder(facts.longWaits),
    checkChores(facts.failingChores),
    ...checkHorizon(facts),
    checkTables(facts.largeTables),
  ];
}

function checkCertificates(ending: Inspection['endingCertificates']): Check {
  const [first] = ending;
  if (!first) return check('client certificates', 'ok', 'none expires within 30 days');
  const { account, endpoint, expiresAt } = first;
  return check(
    'client certificates',
    'warning',
    `${ending.length} expired or expiring within 30 days, first that of ${endpoint} at ${expiresAt}: ` +
      `payhook --account ${account} webhooks change ${endpoint} --client-certificate FILE`,
  );
}

/** Settings of bank files that a rule of 2026 made banks refuse. */
function checkBankSettings(refused: Inspection['refusedSettings']): Check {
  const name = 'bank files';
  if (refused.length === 0) return check(name, 'ok', 'every debtor and originator follows the rules of 2026');
  const list = refused
    .map(({ account, setting, wanted }) => `${setting} of ${account} should be ${wanted}`)
    .join('; ');
  return check(name, 'warning', `banks may refuse files: ${list} (payhook account change)`);
}

/** Tables that are larger than src/db/tables.ts expects, each with a remedy. */
function checkTables(tables: Inspection['largeTables']): Check {
  const name = 'table sizes';
  if (tables.length === 0) return check(name, 'ok', 'no table is larger than expected');
  const megabytes = (bytes: number) => `${Math.ceil(bytes / MEGABYTE).toLocaleString('en-US')} MB`;
  const parts = tables.map(
    ({ name: table, bytes, expected_bytes, remedy }) =>
      `${table} has ${megabytes(bytes)}, about ${megabytes(expected_bytes)} expected: ${remedy}`,
  );
  return { ...check(name, 'warning', parts.join('. ')), tables };
}

/** An event that a receiver refuses does not disable its endpoint, but can block others for the whole retry schedule. */
function checkOrder(waits: Inspection['longWaits']): Check {
  const name = 'ordering keys';
  if (waits === null) return check(name, 'ok', 'no event has been waiting for another one for an hour');
  const { count: keys, account, endpoint, event, since } = waits;
  return check(
    name,
    'warning',
    `events of ${count(keys, 'key')} have been waiting for others for an hour or more, the first since ${since}: ` +
      `payhook --account ${account} webhooks show ${endpoint} ${event}`,
  );
}

/** A failure less than an hour old may be fixed by the next try. */
function checkChores(failing: Inspection['failingChores']): Check {
  const isLong = failing.some((chore) => chore.isLong);
  return check(
    'chores',
    verdict(failing.length === 0, isLong ? 'failed' : 'warning'),
    failing.length === 0
      ? 'none is failing'
      : failing.map(({ name, since, message }) => `${name} has failed since ${since}: ${message}`).join('; '),
  );
}

function checkFolder({ dataDir, databaseUrl }: Config): Check[] {
  const about = statSync(dataDir, { throwIfNoEntry: false });
  if (!about)
    return [
      check(
        'data folder',
        'skipped',
        `${dataDir} does not exist yet: payhook init or the first start creates it`,
      ),
    ];
  if (!about.isDirectory()) return [check('data folder', 'failed', `${dataDir} is not a folder`)];
  const mode = about.mode & 0o777;
  const isPrivate = (mode & 0o077) === 0;
  const others = isPrivate ? '' : `, open to other users: chmod 700 ${dataDir}`;
  const disk = statfsSync(dataDir);
  const free = disk.bavail * disk.bsize;
  const space: Status = free < LEAST_DISK ? 'failed' : verdict(free >= LITTLE_DISK, 'warning');
  return [
    check(
      'data folder',
      verdict(isWritable(dataDir)),
      `${dataDir}${isWritable(dataDir) ? '' : ' is not writable'}`,
    ),
    check('its mode', verdict(isPrivate, 'warning'), `0${mode.toString(8)}${others}`),
    // with your own database, only two small files are stored there
    check('free disk', databaseUrl ? 'ok' : space, `${(free / GIGABYTE).toFixed(1)} GB`),
  ];
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function checkServer(facts: Inspection): Check[] {
  const major = Math.floor(facts.versionNumber / 10_000);
  const isSupported = major >= OLDEST_POSTGRES && major <= NEWEST_POSTGRES;
  return [
    check('database', 'ok', 'answers'),
    check('PostgreSQL', verdict(isSupported), `${facts.version}; Payhook runs on 15 to 18`),
    check('encoding', verdict(facts.encoding === 'UTF8'), facts.encoding),
    check(
      'letters',
      verdict(facts.lowersAccents),
      facts.lowersAccents
        ? "lower('É') is é"
        : "lower('É') is not é: create the database with a UTF-8 locale",
    ),
    check(
      'role',
      verdict(!facts.isSuperuser, 'warning'),
      `${facts.role}${facts.isSuperuser ? ' is a superuser: give Payhook its own role' : ', not a superuser'}`,
    ),
    check('fsync', verdict(facts.fsync), facts.fsync ? 'on' : 'off: a power cut loses acknowledged changes'),
    checkServerSettings(facts),
    ...checkConnections(facts),
    ...checkReplica(facts),
    checkClock(facts.clockAheadMs),
  ];
}

function checkServerSettings({ settings, harms }: Inspection): Check {
  const jit = settings.jit === 'on' ? '; jit is on, which Payhook turns off for its own sessions' : '';
  return harms.length === 0
    ? check('server settings', 'ok', `none is harmful${jit}`)
    : check('server settings', 'warning', `${harms.join('; ')}${jit}`);
}

function checkConnections({ isPooled, listening, readersAreReadOnly }: Inspection): Check[] {
  const way = isPooled
    ? 'through a pooler; listeners connect to PostgreSQL directly'
    : 'to PostgreSQL directly';
  const connections = check('connections', verdict(listening === null), listening ?? way);
  if (readersAreReadOnly === null) return [connections];
  const can = readersAreReadOnly
    ? 'PostgreSQL prevents readers from writing'
    : 'readers could write: begin read only has no effect here';
  return [connections, check('readers', verdict(readersAreReadOnly), can)];
}

/** An unused replica, or downloads that may be cut off, are warnings only: the primary answers. */
function checkReplica({ replica }: Inspection): Check[] {
  if (replica === null) return [];
  const { problem, hasFeedback, lagBytes } = replica;
  if (problem !== null) {
    const behind = lagBytes === null ? '' : ` and is ${lagBytes} bytes of WAL behind`;
    return [check('replica', 'warning', `the replica ${problem}${behind}; the primary is used instead`)];
  }
  const detail = hasFeedback
    ? 'up to date'
    : 'up to date; set hot_standby_feedback = on there, so that long downloads are not cut off';
  return [check('replica', verdict(hasFeedback === true, 'warning'), detail)];
}

function checkClock(aheadMs: number): Check {
  const direction = aheadMs < 0 ? 'behind' : 'ahead of';
  const detail = `the database is ${Math.abs(aheadMs)} ms ${direction} this machine`;
  return check('clocks', verdict(Math.abs(aheadMs) <= CLOCK_MS, 'warning'), detail);
}

function checkSchema({ schemaVersion, newestSchemaVersion, foreignSchema }: Inspection): Check {
  if (schemaVersion === 0) {
    return check('schema', 'skipped', 'does not exist yet: payhook init or the first start creates it');
  }
  if (foreignSchema !== null) return check('schema', 'failed', foreignSchema);
  if (schemaVersion === newestSchemaVersion) return check('schema', 'ok', `version ${schemaVersion}`);
  const detail = `version ${schemaVersion}, this program has ${newestSchemaVersion}: run payhook migrate`;
  return check('schema', 'failed', detail);
}

/** The checks of /readyz, with remedies. The disk is covered by `free disk`. */
function checkReadiness({ schemaVersion, checks }: Inspection): Check[] {
  if (schemaVersion === 0) {
    return [check('partitions', 'skipped', 'do not exist yet: the first start creates them')];
  }
  return checks
    .filter(({ name }) => name !== 'disk')
    .map(({ name, problem, detail }) =>
      // deliveries also wait if no server is running
      check(name, verdict(problem === null, name === 'delivery' ? 'warning' : 'failed'), detail),
    );
}

function checkLog({ logBegins, clockAheadMs, retentionBehindMs }: Inspection, days: number | null): Check[] {
  const kept = days === null ? 'kept for ever' : `kept for ${days} days`;
  const clock = check(
    'retention clock',
    verdict((retentionBehindMs ?? 0) < DAY_MS, 'warning'),
    `${Math.floor((retentionBehindMs ?? 0) / DAY_MS)} days behind the database, catching up 4 hours per hour: normal after a ` +
      'long stop. Otherwise the clock was set ahead, and nothing has been dropped because of it yet',
  );
  const checks = clock.status === 'ok' ? [] : [clock];
  if (logBegins === null) return [check('webhook log', 'ok', `empty; ${kept}`), ...checks];
  const age = (Date.now() + clockAheadMs - Date.parse(logBegins)) / DAY_MS;
  const isOld = days !== null && age > days + 2 * DAYS_OF_WEEK;
  const reason = isOld ? ': older events were not delivered yet, or retention did not run' : '';
  const detail = `goes back to the week of ${logBegins.slice(0, 10)}; ${kept}${reason}`;
  return [check('webhook log', verdict(!isOld, 'warning'), detail), ...checks];
}

function checkBackups(state: Inspection['backups'], { everyMs }: Config['backup']): Check {
  const name = 'backups';
  if (state?.failure) return check(name, 'failed', `the last one failed: ${state.failure.message}`);
  if (!state?.last) return check(name, 'skipped', 'none yet: see payhook backup --help');
  const hours = Math.floor((state.age_s ?? 0) / 3600);
  const isLate = everyMs !== undefined && (state.age_s ?? 0) * 1000 > 2 * everyMs;
  const detail = `the last one is ${hours} hours old: ${state.last.file}`;
  return isLate
    ? check(
        name,
        'failed',
        `${detail}. BACKUP_EVERY requires a newer one: is a server with these settings running?`,
      )
    : check(name, 'ok', detail);
}

function checkAlerts(state: Inspection['alerts'], { server }: Config['mail']): Check {
  const name = 'alerts';
  if (state === null) return check(name, 'skipped', 'do not exist yet: the first start creates them');
  const way = server ? `e-mail goes out by ${server.host}` : 'no e-mail is sent: SMTP_URL is not set';
  if (state.failed_count === 0) return check(name, 'ok', `${way}; ${state.waiting_count} wait`);
  return check(
    name,
    'warning',
    `${state.failed_count} were abandoned within a week, the last one because of: ${state.last_error}; ${way}`,
  );
}

async function checkSecretKey(config: Config, state: Inspection['secretKey']): Promise<Check> {
  const { refusalOfKeys, short, unfinished } = await import('../../app/secret-keys.ts');
  const name = 'secret key';
  if (!state?.current) return check(name, 'skipped', 'the database has none yet');
  const refusal = refusalOfKeys(config, state);
  if (refusal !== null) return check(name, 'failed', refusal);
  const toDo = unfinished(config, state);
  const detail = `fingerprint ${short(state.current)}${toDo === null ? '' : `; ${toDo}`}`;
  return check(name, verdict(toDo === null, 'warning'), detail);
}

function describe(checks: readonly Check[], ok: boolean, { paint }: Terminal): string {
  const signs = { ok: '✓', warning: '!', failed: '✗', skipped: '-' };
  const paints = { ok: paint.good, warning: paint.warning, failed: paint.bad, skipped: paint.faint };
  const rows = checks.map(({ name, status, detail }) => [signs[status], name, detail.replaceAll('\n', ' ')]);
  const plain = table([{ heading: '' }, { heading: '' }, { heading: '' }], rows).split('\n');
  const painted = plain.map((line, index) => {
    const status = checks[index]?.status;
    return status ? paints[status](line.slice(0, 1)) + line.slice(1) : line;
  });
  return `${painted.join('\n')}${ok ? '' : paint.bad('A check failed.') + '\n'}`;
}
