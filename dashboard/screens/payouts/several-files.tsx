import { Link } from '@tanstack/react-router';
import type { PaymentFiles } from '../../../src/client/api.ts';
import { Notice } from '../../parts/feedback.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.files;
/** At most this many are named. */
const MOST = 5;

/** Warns of affiliates that are paid by several downloaded files with different contents. */
export function InSeveralFiles({
  files: { files: needed, in_several_files: found, in_several_files_count: all },
}: {
  files: PaymentFiles;
}) {
  if (all === 0) return null;
  const shown = found.slice(0, MOST);
  const downloads = needed.flatMap((each) => each.downloads);
  return (
    <Notice tone="bad">
      <p>
        <b>{texts.several(all)}</b>
      </p>
      <ul className="changes">
        {shown.map(({ affiliate_id, name, currency, files }) => (
          <li key={`${affiliate_id} ${currency}`}>
            <Link to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
              <Name>{name ?? `#${affiliate_id}`}</Name>
            </Link>
            {': '}
            {files.map(({ format, file_set_id, part, revision, is_current }, index) => {
              const download = downloads.find(
                (each) => each.file_set_id === file_set_id && (each.part ?? 1) === part,
              );
              const name = download?.message_id ?? texts.revision(revision);
              return (
                <span key={`${file_set_id} ${part}`}>
                  {index > 0 && '; '}
                  {texts.inFile(`${payouts.methods[format]} · ${currency.toUpperCase()}`, part, name)}
                  {download && (
                    <>
                      , <Time at={download.downloaded_at} />
                    </>
                  )}
                  {!is_current && ` ${texts.replaced}`}
                </span>
              );
            })}
          </li>
        ))}
        {all > shown.length && <li>{payouts.changes.more(all - shown.length)}</li>}
      </ul>
    </Notice>
  );
}
