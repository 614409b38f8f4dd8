import sql, { type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { currencyCode, nullable, strict } from '../../contract/schemas.ts';
import { PAYMENT_FORMATS } from '../../terms/payments.ts';
import { fullName } from '../ledger/payout-record.ts';

/** An affiliate who is in several different downloaded files. */
export const inSeveralFiles = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    currency: currencyCode,
    files: Type.Array(
      strict({
        format: Type.Enum([...PAYMENT_FORMATS]),
        file_set_id: Type.String(),
        part: Type.Integer(),
        revision: Type.Integer({ description: 'of the payout when the file set was first downloaded' }),
        is_current: Type.Boolean({
          description: 'no other file set of its format and currency was downloaded since',
        }),
      }),
      { description: 'oldest first' },
    ),
  },
  { title: 'AffiliateInSeveralFiles' },
);

/** The affiliates and currencies in more than one file set of a payout `p`, numbered. */
const found = sql`(
  select f.affiliate_id, f.currency, row_number() over (order by f.affiliate_id, f.currency) as place
  from payment_file_payees f where f.account_id = p.account_id and f.payout_id = p.id
  group by f.affiliate_id, f.currency having count(*) > 1)`;

export const severalFilesCount = sql`(select count(distinct g.affiliate_id)::int from ${found} g)`;

/** The first `most` of them as `inSeveralFiles`. */
export const severalFiles = (most: number): Sql => sql`(
  select coalesce(json_agg(json_build_object(
    'affiliate_id', g.affiliate_id, 'name', ${fullName('a')}, 'currency', g.currency, 'files', (
      select json_agg(json_build_object('format', s.format, 'file_set_id', public_id('pfs', s.id), 'part', f.part,
        'revision', s.revision, 'is_current', s.is_current) order by s.id)
      from payment_file_payees f
      join payment_file_sets s on s.account_id = f.account_id and s.payout_id = f.payout_id and s.id = f.set_id
      where f.account_id = p.account_id and f.payout_id = p.id and f.affiliate_id = g.affiliate_id and f.currency = g.currency)
    ) order by g.place), '[]')
  from ${found} g join affiliates a on a.account_id = p.account_id and a.id = g.affiliate_id
  where g.place <= ${most})`;
