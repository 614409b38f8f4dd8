import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';

/** A request as it arrived. */
export interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server with scripted responses, and a client of it. */
export interface Stub {
  readonly client: Client;
  readonly url: string;
  readonly seen: Seen[];
}

/** Starts a server that answers its requests from this list; the last response repeats forever. */
export async function stub(...answers: Answer[]): Promise<Stub> {
  const seen: Seen[] = [];
  const http = createServer(async (request, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    const { method, url, headers } = request;
    const body = await text(request).catch(() => 'cut off');
    seen.push({ method, url, headers, body });
    answer?.(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const client = createClient({ url, apiKey: 'secret' });
  onTestFinished(async () => {
    await client.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { client, url, seen };
}

type Headers = Readonly<Record<string, string>>;

/** Closes the connection instead of answering. */
export const hangUp: Answer = (request) => void request.socket.destroy();

/** Answers with JSON. */
export const json =
  (status: number, body: unknown, headers: Headers = {}): Answer =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

/** Answers without a body. */
export const nothing: Answer = (_, response) => void response.writeHead(204).end();

/** Answers with an error in the envelope. */
export const refusal = (status: number, code: string, headers: Headers = {}) =>
  json(status, { error: { code, message: `it is ${code}` } }, headers);
