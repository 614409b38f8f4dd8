import { Readable } from 'node:stream';
import { type FileReply, file } from '../contract/route.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { Threads } from '../threads/pool.ts';
import type { Task } from '../threads/task.ts';
import type { PaperFormat } from './tasks.ts';

export const PAPER_TYPES: Readonly<Record<PaperFormat, string>> = {
  pdf: 'application/pdf',
  html: 'text/html',
};

// the page loads nothing and links nowhere
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Responds 200 with a document that a thread makes, as a PDF to save or as a page for the browser. `name` is the file
 * name without its extension. Throws `too_much_work`.
 */
export async function paperReply<Input extends { readonly format: PaperFormat }>(
  { threads, account }: { readonly threads: Threads; readonly account: AccountId },
  task: Task<Input, Uint8Array>,
  input: Input,
  name: string,
): Promise<FileReply> {
  const made = await threads.run(task, input, { account, inTurn: true });
  const bytes = Buffer.from(made.buffer, made.byteOffset, made.byteLength);
  if (input.format === 'pdf') {
    return file(Readable.from([bytes]), {
      'content-type': PAPER_TYPES.pdf,
      'content-disposition': `attachment; filename="${name}.pdf"`,
    });
  }
  return file(Readable.from([bytes]), {
    'content-type': `${PAPER_TYPES.html}; charset=utf-8`,
    'content-disposition': `inline; filename="${name}.html"`,
    'content-security-policy': POLICY,
  });
}
