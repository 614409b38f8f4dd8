import { printable } from '../terminal/table.ts';

/** An invalid command line: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A failed command, with a remedy: exit code 1. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;
  readonly reason: string | null;

  constructor(message: string, about: { code?: string; reason?: string } = {}) {
    super(message);
    this.code = about.code ?? 'failed';
    this.reason = about.reason ?? null;
  }
}

/** An error as shown to the user. An `unexpected` one is a bug and includes its stack. */
export interface ErrorReport {
  readonly exitCode: 1 | 2;
  readonly code: string;
  readonly reason: string | null;
  readonly message: string;
  readonly unexpected: boolean;
}

interface Known {
  name?: string;
  outcome?: unknown;
  code?: unknown;
  reason?: unknown;
  message?: string;
  errors?: readonly Error[];
}

// Compared by name, because the modules that throw them are loaded only by the commands that need them.
const EXIT_2 = new Set(['UsageError', 'ConfigError', 'CommanderError', 'InvalidIdError']);
const EXIT_1 = new Set([
  'CommandError',
  'ApiError',
  'ConnectionError',
  'EmbeddedDatabaseError',
  'MigrationError',
  'NoDataError',
  'PoolerError',
  'BackupError',
  'CellError',
  'SecretKeyError',
]);
const SYSTEM_CODE = /^E[A-Z]+$/;
// PostgreSQL refuses the connection: authorisation, unknown database, too many connections, starting up.
const DATABASE_CODE = /^(28|3D|53|57P|08)/;

/** Describes any thrown value for the user. */
export function reportOf(thrown: unknown): ErrorReport {
  const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Known;
  const name = error.name ?? '';
  const report = { reason: textOr(error.reason, null), unexpected: false };
  if (EXIT_2.has(name)) {
    const code = name === 'ConfigError' ? 'configuration' : 'usage';
    return { ...report, exitCode: 2, code, message: error.message?.replace(/^error: /, '') ?? '' };
  }
  if (error.name === 'ConnectionError' && error.outcome === 'unknown') {
    const message = `${error.message}. Check the result before you repeat the command, or it may be done twice`;
    return { ...report, exitCode: 1, code: 'outcome_unknown', message };
  }
  const code = typeof error.code === 'string' ? error.code : '';
  if (EXIT_1.has(name)) {
    return { ...report, exitCode: 1, code: code || 'failed', message: error.message ?? '' };
  }
  // A refused connection to "localhost" is an AggregateError without a message of its own.
  const message = error.message || error.errors?.[0]?.message || String(thrown);
  if (DATABASE_CODE.test(code) || isConnectionFailure(code, message)) {
    return {
      ...report,
      exitCode: 1,
      code: 'database',
      message: `the database cannot be reached: ${message}`,
    };
  }
  if (SYSTEM_CODE.test(code)) return { ...report, exitCode: 1, code: 'failed', message };
  return { ...report, exitCode: 1, code: 'internal_error', message, unexpected: true };
}

/** The text for standard error: with --json, one JSON document. */
export function textOf(
  { code, reason, message, unexpected }: ErrorReport,
  thrown: unknown,
  json: boolean,
): string {
  if (json) return `${JSON.stringify({ error: { code, message, reason } })}\n`;
  return `payhook: ${unexpected ? stackOf(thrown) : printableLines(message)}\n`;
}

const stackOf = (thrown: unknown) => (thrown instanceof Error ? thrown.stack : String(thrown));
// Messages quote texts from files and records.
const printableLines = (text: string) => text.split('\n').map(printable).join('\n');

function isConnectionFailure(code: string, message: string): boolean {
  return (
    /^(ECONN|EHOST|ENET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect/.test(message)
  );
}

function textOr(value: unknown, fallback: null): string | null {
  return typeof value === 'string' ? value : fallback;
}
