import { escapeHtml } from '../../kernel/html.ts';
import { curlOf, fileNameOf, jsonHtml } from './code.ts';
import type { Operation } from './description.ts';

const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
};

/** A block of code with its name; it scrolls inside itself, with the keyboard too. `code` is HTML. */
export function figure(name: string, code: string, kind = ''): string {
  return (
    `<figure class="code ${kind}"><figcaption>${escapeHtml(name)}</figcaption>` +
    `<pre tabindex="0" role="group" aria-label="${escapeHtml(name)}"><code>${code}</code></pre></figure>`
  );
}

const linesOf = (file: string) => escapeHtml(file.replaceAll('\r\n', '\n').trimEnd());

/** The request of the example as a command, and the file it sends. */
export function requestFigure(operation: Operation, baseUrl: string): string {
  const command = figure('Request', escapeHtml(curlOf(operation, baseUrl)), 'request');
  const { body } = operation;
  if (typeof body?.example !== 'string') return command;
  return command + figure(fileNameOf(operation), linesOf(body.example));
}

/** An answer as it comes: its status, the headers that matter, its body. */
interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const nameOfAnswer = (status: number) => `Response ${status} ${STATUS_WORDS[status] ?? ''}`.trimEnd();

/** Headers, each on its line, as HTML. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `<span class="h">${escapeHtml(`${name}: ${value}`)}</span>`)
    .join('\n');
}

function answerCode({ headers, body }: Shown): string {
  const blocks = [
    ...(Object.keys(headers).length > 0 ? [headerLines(headers)] : []),
    ...(body === undefined ? [] : [typeof body === 'string' ? linesOf(body) : jsonHtml(body)]),
  ];
  return blocks.length === 0 ? '<span class="h">no body</span>' : blocks.join('\n\n');
}

/** An answer; `wrap` breaks its long lines, for messages that people read. */
export function answerFigure(shown: Shown, kind: 'response' | 'wrap' = 'response'): string {
  return figure(nameOfAnswer(shown.status), answerCode(shown), kind);
}

/** The examples of what an operation refuses, folded. */
function refusalFigures({ refusals }: Operation): string {
  return refusals
    .map(({ status, example }) => {
      if (example === null) return '';
      const name = nameOfAnswer(status);
      return (
        `<details class="code wrap"><summary>${name}</summary><pre tabindex="0" role="group" aria-label="${name}">` +
        `<code>${answerCode({ status, ...example })}</code></pre></details>`
      );
    })
    .join('');
}

/** Request and answer of an operation's example, and what it refuses. */
export function exampleFigures(operation: Operation, baseUrl: string): string {
  const [answer] = operation.answers;
  if (!answer) return '';
  const { status, headers, content } = answer;
  return (
    requestFigure(operation, baseUrl) +
    answerFigure({ status, headers, body: content?.example }) +
    refusalFigures(operation)
  );
}
