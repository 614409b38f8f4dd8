import type { Readable } from 'node:stream';
import { type Entry, fromFd, type ZipFile } from 'yauzl';
import { quote } from '../../kernel/csv-refusal.ts';
import { WorkbookError } from './workbook-error.ts';

/** The most bytes of one part of a workbook when unpacked. */
const MOST_BYTES = 200 * 2 ** 20;
const MOST_ENTRIES = 10_000;

const CUT_OFF =
  'the file is a zip archive that cannot be unpacked: it is cut off or damaged. Save the workbook again and send it again';

/** The files of a zip archive. Their names are the same in upper and lower case: ECMA-376 part 2, 6.3.5. */
export interface Archive {
  /** In lower case. */
  readonly names: readonly string[];
  /** The text (UTF-8) of a file, piece by piece. Throws WorkbookError when there is none, or it is too large. */
  text(name: string): AsyncGenerator<string>;
}

/**
 * Lists a zip archive (APPNOTE 6.3) by its central directory, without closing `descriptor`. The size that the directory
 * states for a file is enforced while it is unpacked. Throws WorkbookError, also when two files have one name.
 */
export async function openArchive(descriptor: number): Promise<Archive> {
  const zip = await openZip(descriptor);
  const entries = new Map<string, Entry>();
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      const name = entry.fileName.toLowerCase();
      if (entries.has(name))
        return reject(new WorkbookError(`the workbook has two parts named ${quote(name)}: it is damaged`));
      entries.set(name, entry);
      zip.readEntry();
    });
    zip.once('end', resolve);
    zip.once('error', () => reject(new WorkbookError(CUT_OFF)));
    zip.readEntry();
  });
  return {
    names: [...entries.keys()],
    async *text(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) throw new WorkbookError(CUT_OFF);
      if (entry.uncompressedSize > MOST_BYTES) throw tooLarge();
      if (entry.isEncrypted()) throw new WorkbookError(PASSWORD);
      const decoder = new TextDecoder('utf-8', { fatal: true });
      try {
        for await (const piece of await streamOf(zip, entry)) yield decoder.decode(piece, { stream: true });
        yield decoder.decode();
      } catch (error) {
        throw error instanceof WorkbookError ? error : new WorkbookError(CUT_OFF);
      }
    },
  };
}

export const PASSWORD =
  'the workbook is protected with a password: open it, remove the password, save it and send it again';

export const tooLarge = (): WorkbookError =>
  new WorkbookError(
    `the workbook has a sheet of more than ${MOST_BYTES / 2 ** 20} MB when unpacked: save the sheet as a CSV file and send that`,
  );

function openZip(descriptor: number): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromFd(descriptor, { lazyEntries: true, autoClose: false, strictFileNames: false }, (error, zip) => {
      if (error) reject(new WorkbookError(CUT_OFF));
      else if (zip.entryCount > MOST_ENTRIES) reject(tooLarge());
      else resolve(zip);
    });
  });
}

function streamOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}
