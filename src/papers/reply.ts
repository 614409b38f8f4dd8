import { Readable } from 'node:stream';
import { type FileReply, file } from '../contract/route.ts';
import { pageOf } from './page.ts';
import type { Paper } from './paper.ts';
import type { Attachment } from './pdf.ts';

/** The kinds of files that a document is made as. */
export const PAPER_FORMATS = ['pdf', 'html'] as const;
export type PaperFormat = (typeof PAPER_FORMATS)[number];

export const PAPER_TYPES: Readonly<Record<PaperFormat, string>> = {
  pdf: 'application/pdf',
  html: 'text/html',
};

// the page loads nothing and leads nowhere
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * 200 with the document as a PDF to save, or as a page that a browser shows. `name` is that of the file, without its
 * extension, `attachment` a file to put into the PDF.
 */
export async function paperReply(
  paper: Paper,
  format: PaperFormat,
  name: string,
  attachment?: Attachment,
): Promise<FileReply> {
  if (format === 'pdf') {
    const { pdfOf } = await import('./pdf.ts'); // loaded when the first one is made
    return file(Readable.from([await pdfOf(paper, attachment)]), {
      'content-type': PAPER_TYPES.pdf,
      'content-disposition': `attachment; filename="${name}.pdf"`,
    });
  }
  return file(Readable.from([Buffer.from(pageOf(paper))]), {
    'content-type': `${PAPER_TYPES.html}; charset=utf-8`,
    'content-disposition': `inline; filename="${name}.html"`,
    'content-security-policy': POLICY,
  });
}
