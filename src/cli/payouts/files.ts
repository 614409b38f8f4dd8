import type { Client, DownloadPaymentFileQuery, Payout } from '../../client/client.ts';
import type { PaymentFormatName } from '../../terms/payments.ts';
import { type FileSet, inExports, markName, pipeOut, type Receive } from '../command/csv-files.ts';
import { CommandError } from '../command/errors.ts';

/** The kind of file: commissions, a summary for people, what may point to fraud, or a payment file for PayPal, Wise or a bank. */
export type Format = 'commissions' | 'summary' | 'signals' | PaymentFormatName;

/** The payout to export, and the choices. */
export interface Source {
  readonly client: Client;
  readonly payout: Payout;
  readonly format: Format;
  readonly query: DownloadPaymentFileQuery;
}

/** A written file; `part` is null if it is whole. */
export interface WrittenFile {
  readonly file: string;
  readonly bytes: number;
  readonly part: number | null;
}

interface Written {
  readonly files: readonly WrittenFile[];
  /** Affiliates that the file leaves out. */
  readonly skipped: number;
  /** Affiliates in the file who get more than the provider sends in one payment. */
  readonly aboveLimit: number;
  /** Affiliates in the file who are also paid by another downloaded file. */
  readonly inOtherFiles: number;
  /** The file set, and the one it replaces. */
  readonly fileSet: string | null;
  readonly replacesFileSet: string | null;
}

/** Writes every part of the file, under its own name or that of `output`. Throws like `ask`. */
export async function writeParts(
  source: Source,
  { output, files, receive }: { output: string | undefined; files: FileSet; receive: Receive },
): Promise<Written> {
  const written: WrittenFile[] = [];
  let inOtherFiles = 0;
  let first: FilePart | null = null;
  for (let part = 1, parts = 1; part <= parts; part += 1) {
    const download = await ask(source, part);
    first ??= download;
    if (download.fileSet !== first.fileSet) throw changed(source, 'its parts belong to two file sets');
    inOtherFiles += download.inOtherFiles;
    ({ parts } = download);
    const mark = (name: string) => (parts > 1 ? markName(name, `part-${part}`) : name);
    const own = download.name ?? mark(`payout-${source.payout.number}.csv`);
    const file = output === undefined ? inExports(own) : mark(output);
    const bytes = await files.write(file, receive(file, download.stream));
    written.push({ file, bytes, part: parts > 1 ? part : null });
  }
  const { skipped = 0, aboveLimit = 0, fileSet = null, replacesFileSet = null } = first ?? {};
  return { files: written, skipped, aboveLimit, inOtherFiles, fileSet, replacesFileSet };
}

/** Writes the file to standard output. Throws like `ask`, and CommandError if it has several parts. */
export async function pipeWhole(source: Source): Promise<Written> {
  const { stream, parts, ...about } = await ask(source, 1);
  if (parts > 1) {
    throw new CommandError(
      `the payout needs ${parts} files, which cannot be written to standard output: leave out -o -`,
      {
        code: 'bad_request',
        reason: 'several_parts',
      },
    );
  }
  await pipeOut(stream);
  return { files: [], ...about };
}

/**
 * Requests a part of the file; a single part is the whole file. Throws CommandError if it is not of the revision that
 * was read first: parts of two revisions could pay somebody twice, or not at all.
 */
async function ask(source: Source, part: number) {
  const { client, payout, format, query } = source;
  const answer =
    format === 'commissions'
      ? client.payouts.download(payout.id)
      : format === 'signals'
        ? client.payouts.downloadSignals(payout.id)
        : client.payouts.paymentFile(payout.id, format, format === 'summary' ? {} : { ...query, part });
  const { name, stream, skipped, aboveLimit, inOtherFiles, fileSet, replacesFileSet, ...tag } =
    await answer.catch((error: unknown) => {
      throw inOptions(error);
    });
  const revision = tag.revision ?? Number(/^payout-\d+-r(\d+)-/.exec(name ?? '')?.[1] ?? 0);
  const found = /-part-(\d+)-of-(\d+)\.\w+$/.exec(name ?? '');
  const isAsked = found === null ? part === 1 : Number(found[1]) === part;
  if (revision !== payout.revision || !isAsked) {
    throw changed(source, `it was at revision ${payout.revision}, and is at ${revision || 'another'}`);
  }
  return {
    name,
    stream,
    skipped: skipped ?? 0,
    aboveLimit: aboveLimit ?? 0,
    inOtherFiles: inOtherFiles ?? 0,
    fileSet,
    replacesFileSet,
    parts: Number(found?.[2] ?? 1),
  };
}

type FilePart = Awaited<ReturnType<typeof ask>>;

const changed = ({ payout }: Source, how: string) =>
  new CommandError(
    `payout ${payout.number} changed in the meantime: ${how}. Nothing was written: export it again`,
    { code: 'conflict', reason: 'payout_changed' },
  );

/** A refusal that names a choice of the API, restated with the option of the command line. */
function inOptions(error: unknown): unknown {
  const { name, code, reason, message } = error as CommandError;
  if (name !== 'ApiError') return error;
  const inWords = message
    .replace('choose with currency,', 'choose with --currency,')
    .replace(/^currency: /, '--currency: ')
    .replace('allow_skipped=true', '--allow-skipped')
    .replace('whole_units=down', '--whole-units')
    .replace(/^rows_per_file must/, '--rows-per-file must');
  return new CommandError(inWords, { code, ...(reason === null ? {} : { reason }) });
}
