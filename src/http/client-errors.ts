import type { Socket } from 'node:net';
import { fail } from '../kernel/errors.ts';
import { linger } from './connections.ts';
import { newRequestId } from './observe.ts';
import { envelope } from './respond.ts';

const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'the method is not an HTTP method',
  HPE_HEADER_OVERFLOW: 'the headers are larger than 16 KiB',
};

/** The socket with the response that Node is writing, if any. Node's own error handler reads the same field. */
type Answered = Socket & { readonly _httpMessage?: { readonly headersSent: boolean } | null };

/**
 * Responds to requests that the HTTP parser refused or timed out, with the error body, and closes the connection. If a
 * response has begun, the connection ends in the middle of it.
 */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  const isAnswering = (socket as Answered)._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy();
  const failure =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? fail('request_timeout', 'the head of the request did not arrive in time')
      : fail('malformed_request', UNREADABLE[error.code ?? ''] ?? 'the HTTP request could not be read');
  const body = envelope(failure);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\npayhook-reason: ${failure.reason}\r\n` +
      `x-content-type-options: nosniff\r\npayhook-request-id: ${newRequestId()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  linger(socket);
}
