import type { WorkOf } from '../threads/task.ts';
import { pageOf } from './page.ts';
import type { MAKE_PAPER } from './tasks.ts';

/** Makes a document in a thread. */
export const makePaper: WorkOf<typeof MAKE_PAPER> = async ({ paper, format, attachment }) => {
  if (format === 'html') return Buffer.from(pageOf(paper));
  const { pdfOf } = await import('./pdf.ts'); // loaded for the first document
  return pdfOf(paper, attachment);
};
