import { type Task, taskOf } from '../threads/task.ts';
import type { Paper } from './paper.ts';
import type { Attachment } from './pdf.ts';

/** The formats of a document. */
export const PAPER_FORMATS = ['pdf', 'html'] as const;
export type PaperFormat = (typeof PAPER_FORMATS)[number];

/** A document to make. */
export interface PaperOrder {
  readonly paper: Paper;
  readonly format: PaperFormat;
  /** A file to embed in a PDF. */
  readonly attachment?: Attachment | undefined;
}

/** Makes a document. */
export const MAKE_PAPER: Task<PaperOrder, Uint8Array> = taskOf('makePaper', 'making the document');
