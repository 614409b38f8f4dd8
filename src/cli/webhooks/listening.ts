import { isWebhookSecret } from '../../client/verify.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readInteger } from '../command/numbers.ts';
import { secretReader } from '../command/secret-option.ts';
import { readRemoteFor } from '../command/session.ts';
import { aborted, untilStopped } from '../terminal/interrupt.ts';
import { count } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';
import { judge, type Verdict } from './judge.ts';
import { content, readObject } from './payload.ts';
import { type Incoming, openReceiver, type Reply } from './receiver.ts';
import { accountSigners, givenSigners } from './signers.ts';
import { cut } from './view.ts';

/** The options of `payhook listen`, as typed. */
export interface ListenOptions {
  readonly port: string;
  readonly fail?: string;
  readonly slow?: string;
  readonly secret?: readonly string[];
  readonly payload?: boolean;
  readonly once?: boolean;
}

const LONGEST_SLOW_S = 600;
const REMEMBERED = 10_000;

/** `payhook listen`: receives webhooks until it is stopped. */
export async function listen(cli: Cli, options: ListenOptions): Promise<undefined> {
  const { terminal } = cli;
  const { secret: typed, fail, slow } = options;
  const secrets = typed && (await readSecrets(typed));
  const port = readInteger('--port', options.port, { from: 0, to: 65_535 });
  const status = fail === undefined ? 200 : readInteger('--fail', fail, { from: 300, to: 599 });
  const afterMs = slow === undefined ? 0 : readSeconds(slow);
  if (secrets?.some((secret) => !isWebhookSecret(secret))) {
    throw new UsageError('--secret must be whsec_ and a key in base64, as payhook webhooks secret prints it');
  }
  const signers = secrets ? givenSigners(secrets) : accountSigners(cli);
  const stopped = untilStopped();
  const seen = createSeen();
  let endOnce: () => void = () => undefined;
  const onceDone = new Promise<void>((resolve) => {
    endOnce = () => options.once && resolve();
  });

  async function handle(incoming: Incoming): Promise<Reply> {
    const verdict = await judge(incoming, signers, terminal);
    const { isVerified } = verdict;
    const answer = isVerified ? status : verdict.status;
    const seenBefore = seen.count(incoming);
    const wait = isVerified ? afterMs : 0;
    print(terminal, { incoming, verdict, seen: seenBefore, answer, wait, whole: options.payload ?? false });
    return {
      status: answer,
      text: `payhook listen: ${verdict.reason ?? (answer < 300 ? 'verified' : 'verified, refused by --fail')}`,
      afterMs: wait,
      sent() {
        if (isVerified && answer < 300) seen.answered(incoming);
        if (isVerified) endOnce();
      },
    };
  }

  const receiver = await openReceiver(port, handle);
  announce(cli, receiver.url, { status, afterMs, given: secrets?.length ?? 0 });
  await Promise.race([aborted(stopped), onceDone]);
  receiver.close();
}

async function readSecrets(typed: readonly string[]): Promise<string[]> {
  const reader = secretReader();
  const secrets: string[] = [];
  for (const each of typed) secrets.push(...(await reader.lines('--secret', each)));
  return secrets;
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= LONGEST_SLOW_S) return seconds * 1000;
  throw new UsageError(`--slow must be a number of seconds from 0 to ${LONGEST_SLOW_S}, not ${text}`);
}

function announce(
  { terminal, account }: Cli,
  url: string,
  { status, afterMs, given }: { status: number; afterMs: number; given: number },
): void {
  const slow = afterMs > 0 ? ` after ${afterMs / 1000} s` : '';
  // only the operator on the server's machine may create an endpoint on a loopback address, not an API key
  const where = readRemoteFor(account()) ? "on the server's machine, without PAYHOOK_URL: " : '';
  const secrets = given > 0 ? `${count(given, 'secret')} from --secret` : "those of the account's endpoints";
  terminal.result({ object: 'listener', url }, () =>
    [
      `Listening on ${terminal.paint.strong(url)} for webhooks. Ctrl-C stops it.`,
      `  Answers     ${status}${slow} to verified webhooks, an error to others`,
      `  Secrets     ${secrets}`,
      `  Endpoint    ${where}payhook webhooks create ${url}`,
      '',
      '',
    ].join('\n'),
  );
}

/** How often an event was received. */
interface Seen {
  readonly attempt: number;
  /** It was already answered with success. */
  readonly isDuplicate: boolean;
}

const idOf = ({ headers }: Incoming) => {
  const id = headers['webhook-id'];
  return typeof id === 'string' ? cut(id, 200) : null;
};

function createSeen() {
  const events = new Map<string, { attempts: number; answered: boolean }>();
  return {
    count(incoming: Incoming): Seen {
      const id = idOf(incoming);
      if (id === null) return { attempt: 1, isDuplicate: false };
      const { attempts, answered } = events.get(id) ?? { attempts: 0, answered: false };
      events.delete(id);
      events.set(id, { attempts: attempts + 1, answered });
      const [oldest = ''] = events.keys();
      if (events.size > REMEMBERED) events.delete(oldest);
      return { attempt: attempts + 1, isDuplicate: answered };
    },
    answered(incoming: Incoming): void {
      const event = events.get(idOf(incoming) ?? '');
      if (event) event.answered = true;
    },
  };
}

interface Line {
  readonly incoming: Incoming;
  readonly verdict: Verdict;
  readonly seen: Seen;
  readonly answer: number;
  readonly wait: number;
  readonly whole: boolean;
}

function print(terminal: Terminal, line: Line): void {
  const { incoming, verdict, seen, answer } = line;
  const now = new Date().toISOString();
  const payload = readObject(incoming.body);
  const type = typeof payload?.type === 'string' ? payload.type : null;
  const id = idOf(incoming);
  const record = {
    object: 'received_webhook',
    received_at: now,
    verified: verdict.isVerified,
    reason: verdict.reason,
    id,
    type,
    webhook_endpoint_id: verdict.endpoint,
    attempt: seen.attempt,
    duplicate: seen.isDuplicate,
    answer,
    payload,
  };
  terminal.result(record, () => describe(terminal, line, { now, payload, type, id }));
}

function describe(
  { paint, width }: Terminal,
  { incoming, verdict, seen, answer, wait, whole }: Line,
  about: { now: string; payload: object | null; type: string | null; id: string | null },
): string {
  const verified = verdict.isVerified ? paint.good('verified    ') : paint.bad('NOT VERIFIED');
  const attempt = `attempt ${seen.attempt}${seen.isDuplicate ? ', duplicate: it was already answered with 200' : ''}`;
  const slow = wait > 0 ? ` after ${wait / 1000} s` : '';
  const head = [
    exactTime(about.now),
    verified,
    paint.strong(printable(cut(titleOf(about), 100))),
    ...(about.id === null ? [] : [printable(about.id), seen.isDuplicate ? paint.warning(attempt) : attempt]),
    `answer ${answer}${slow}`,
  ];
  const lines = [head.join('  ')];
  if (verdict.reason !== null) lines.push(`  ${paint.bad(printable(verdict.reason))}`);
  return `${lines.join('\n')}\n${content(incoming.body, about.payload, { width, whole })}`;
}

const titleOf = ({ payload, type }: { payload: object | null; type: string | null }) =>
  Array.isArray(payload) ? count(payload.length, 'event') : (type ?? '(no type)');
