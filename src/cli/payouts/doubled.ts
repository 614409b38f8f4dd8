import type { Client, PaymentFiles, Payout } from '../../client/client.ts';
import { count } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import { shortTime } from '../terminal/time.ts';

/** At most this many are named. */
const MOST_NAMED = 5;

/** The exported file, to compare with other files. */
interface Exported {
  readonly affiliates_in_other_files: number;
  readonly file_set_id: string | null;
}

/** Warns of affiliates in the exported file who are also paid by other downloaded files, with their names and files. */
export async function describeDoubled(
  client: Client,
  { id }: Payout,
  { affiliates_in_other_files: number, file_set_id }: Exported,
): Promise<string> {
  const { in_several_files, files: needed } = await client.payouts.paymentFiles(id);
  const downloads = needed.flatMap((each) => each.downloads);
  const found = in_several_files.filter(({ files }) =>
    files.some((file) => file.file_set_id === file_set_id),
  );
  const names = found.slice(0, MOST_NAMED).map(nameOf).join(', ');
  const others = found.flatMap(({ files }) => files).filter((file) => file.file_set_id !== file_set_id);
  const files = [...new Set(others.map((file) => describe(file, downloads)))];
  const more = number > MOST_NAMED && names !== '' ? ` and ${number - MOST_NAMED} more` : '';
  return (
    `WARNING: ${count(number, 'affiliate')} in this file ${number === 1 ? 'is' : 'are'} also in another file that was downloaded earlier ` +
    `and differs${names === '' ? '' : `: ${names}${more}`}. Send only one of these files, or they are paid twice. ` +
    `The other ${files.length === 1 ? 'file' : 'files'}: ${files.slice(0, MOST_NAMED).join('; ')}${files.length > MOST_NAMED ? '; …' : ''}.`
  );
}

type Doubled = PaymentFiles['in_several_files'][number];
const nameOf = ({ name, affiliate_id }: Doubled) => (name === null ? `#${affiliate_id}` : printable(name));
type Downloads = PaymentFiles['files'][number]['downloads'];

/** Identifies a file: its id, if it has one, and the time of its download. */
function describe({ format, part, revision, file_set_id }: Doubled['files'][number], all: Downloads): string {
  const download = all.find((each) => each.file_set_id === file_set_id && (each.part ?? 1) === part);
  const name = download?.message_id ?? `revision ${revision}`;
  const time = download === undefined ? '' : `, downloaded ${shortTime(download.downloaded_at)} (UTC)`;
  return `${format}, part ${part}, ${name}${time}`;
}

/** The rules by which a bank may refuse payments of this format, each with the affiliates whom it concerns. */
export async function describeWarnings(client: Client, { id }: Payout, format: string): Promise<string[]> {
  const { files } = await client.payouts.paymentFiles(id);
  return files
    .filter((file) => file.format === format)
    .flatMap(({ warnings }) => warnings)
    .map(({ message, affiliate_count: number, affiliate_ids: ids }) => {
      const more = number > MOST_NAMED ? ` and ${number - MOST_NAMED} more` : '';
      return `WARNING: ${message} (${count(number, 'affiliate')}: ${ids.slice(0, MOST_NAMED).join(', ')}${more}).`;
    });
}
