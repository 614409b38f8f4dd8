import { fromBuffer } from 'yauzl';

/** The files of a zip archive, by name, in order. Names that occur twice are refused. */
export async function filesIn(archive: Buffer): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {};
  await new Promise<void>((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true, validateEntrySizes: true }, (refused, zip) => {
      if (refused) return reject(refused);
      zip.on('error', reject).on('end', resolve);
      zip.on('entry', (entry) => {
        if (entry.fileName in found) return reject(new Error(`${entry.fileName} is there twice`));
        zip.openReadStream(entry, async (failed, stream) => {
          if (failed) return reject(failed);
          found[entry.fileName] = Buffer.concat(await stream.toArray());
          zip.readEntry();
        });
      });
      zip.readEntry();
    });
  });
  return found;
}
