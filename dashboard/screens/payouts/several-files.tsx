import { Link } from '@tanstack/react-router';
import type { PaymentFiles } from '../../../src/client/api.ts';
import { Notice } from '../../parts/feedback.tsx';
import { Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.files;
/** How many of them are named. */
const MOST = 5;

/** Warns of affiliates whom several downloaded files pay that differ. */
export function InSeveralFiles({
  files: { in_several_files: found, in_several_files_count: all },
}: {
  files: PaymentFiles;
}) {
  if (all === 0) return null;
  const shown = found.slice(0, MOST);
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
            {files
              .map(({ format, part, revision, is_current }) =>
                texts.inFile(
                  `${payouts.methods[format]} · ${currency.toUpperCase()}`,
                  part,
                  revision,
                  is_current,
                ),
              )
              .join('; ')}
          </li>
        ))}
        {all > shown.length && <li>{payouts.changes.more(all - shown.length)}</li>}
      </ul>
    </Notice>
  );
}
