import { type Readable, Transform } from 'node:stream';
import sql from 'sql-template-tag';
import { type FileReply, file } from '../../contract/route.ts';
import { type Database, type Reader, rows, type Snapshot } from '../../db/database.ts';

/** A column of a file: its name in the header row, and the SQL expression of its cells. */
export type Column = readonly [name: string, expression: string];

/** A file to be sent. */
export interface CsvFile {
  readonly stream: Readable;
  /** The file name to save it as. */
  readonly name: string;
  /** What it is; default CSV. */
  readonly contentType?: string;
  /** Additional response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with the digest of what was sent. */
  readonly noteDigest?: FileReply['noteDigest'];
}

/** The select list of a file. */
export function selectList(columns: readonly Column[]): string {
  return columns.map(([name, expression]) => `${expression} as "${name}"`).join(', ');
}

/** The bytes of a COPY with CRLF line ends. Memory is constant at any size; an error midway aborts the stream. */
export function csvOut(db: Snapshot, copy: string): Readable {
  const source = db.copyOut(copy);
  const stream = crlf();
  source.once('error', (error) => stream.destroy(error));
  stream.once('close', () => source.destroy());
  return source.pipe(stream);
}

/**
 * Has the rest of the transaction join lines by hash: the planner has no statistics about a payout that was just
 * created, and a nested loop would read all lines for each of them.
 */
export const joinByHash = (db: Reader): Promise<unknown> => rows(db, sql`set local enable_nestloop = off`);

/** 200 with the CSV file that `make` starts, on one snapshot, whose statements use hash joins. */
export const csvReply = (
  snapshot: Database['snapshot'],
  make: (db: Snapshot) => Promise<CsvFile>,
): Promise<FileReply> =>
  fileReply(
    snapshot(async (db) => {
      await joinByHash(db);
      return make(db);
    }),
  );

/** 200 with a file. */
export async function fileReply(made: Promise<CsvFile>): Promise<FileReply> {
  const { stream, name, contentType, headers, noteDigest } = await made;
  const described = {
    'content-type': contentType ?? 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    ...headers,
  };
  return file(stream, described, noteDigest);
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CRLF = Buffer.from('\r\n');

/** Ends lines with CRLF, as in RFC 4180; a line feed inside quotes is text and stays. */
function crlf(): Transform {
  let quoted = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const parts: Buffer[] = [];
      let start = 0;
      let position = 0;
      while (position < chunk.length) {
        const end = chunk.indexOf(LINE_FEED, position);
        const until = end === -1 ? chunk.length : end;
        for (
          let at = chunk.indexOf(QUOTE, position);
          at !== -1 && at < until;
          at = chunk.indexOf(QUOTE, at + 1)
        ) {
          quoted = !quoted;
        }
        if (end === -1) break;
        if (!quoted) {
          parts.push(chunk.subarray(start, end), CRLF);
          start = end + 1;
        }
        position = end + 1;
      }
      parts.push(chunk.subarray(start));
      done(null, Buffer.concat(parts));
    },
  });
}
