import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf, maybeRecord } from '../../contract/records.ts';
import { currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId, FileSetId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Payer } from '../../people/accounts/record.ts';
import { PAYMENT_FORMATS } from '../../terms/payments.ts';
import { actorName, actorRecord } from '../ledger/actors.ts';
import { digestField, shownDigest } from '../ledger/file-digests.ts';
import type { Of } from './file-sets.ts';
import { FILE_WARNINGS, type PaymentFormat, WAY } from './format.ts';
import { paymentRows } from './rows.ts';
import { inSeveralFiles, severalFiles, severalFilesCount } from './several-files.ts';
import { summary } from './summary.ts';

/** The answer lists at most this many skipped affiliates, downloads and changes, each. */
const MOST_LISTED = 100;

const count = Type.Integer({ minimum: 0 });
const sum = Type.Integer({ description: 'minor units of the currency given with it' });

const change = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    amount_then: nullable({ ...sum, description: 'in the file; null: not in the file' }),
    amount_now: nullable({ ...sum, description: 'null: a file made now would not contain it' }),
  },
  { title: 'PaymentFileChange' },
);

const download = strict(
  {
    downloaded_at: timestamp,
    by: actorRecord,
    revision: Type.Integer({ description: 'the revision of the payout at the download' }),
    part: nullable(Type.Integer({ description: 'null when the file was not split' })),
    digest: digestField,
    file_set_id: nullable(
      Type.String({
        description: 'all parts of a set have the same content; null for the summary',
        examples: ['pfs_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
      }),
    ),
    replaces_file_set_id: nullable(
      Type.String({ description: 'the set that was downloaded before this one was created; null: none' }),
    ),
    message_id: nullable(Type.String({ description: 'sepa: the MsgId and PmtInfId of the file' })),
    is_outdated: Type.Boolean({
      description:
        'the payout is unpaid, and a download would now give another file, or another file set was downloaded since: download it again',
    }),
    change_count: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'the number of affiliates whose amount differs between an outdated file and a new one; null if the file is ' +
          'not outdated, was downloaded again, or has several currencies',
      }),
    ),
    changes: Type.Array(change, { description: `the first ${MOST_LISTED} of them, by affiliate` }),
  },
  { title: 'PaymentFileDownload' },
);
const downloads = Type.Array(download, { description: `the last ${MOST_LISTED}, newest first` });

const skipped = strict({
  affiliate_id: Type.Integer(),
  name: nullable(Type.String()),
  amount: sum,
  reason: Type.String({ description: 'why the file cannot pay them' }),
});

const rewritten = strict({
  affiliate_id: Type.Integer(),
  account_holder: Type.String({ description: 'as entered' }),
  holder_in_files: Type.String({ description: 'as written in the file' }),
});

const warning = strict(
  {
    code: Type.Enum([...FILE_WARNINGS], { title: 'PaymentFileWarningCode' }),
    message: Type.String({ description: 'the rule, and what to change' }),
    affiliate_count: count,
    affiliate_ids: Type.Array(Type.Integer(), { description: 'the first 20 of them' }),
  },
  { title: 'PaymentFileWarning' },
);

const neededFile = strict(
  {
    format: Type.Enum([...PAYMENT_FORMATS], { description: 'as in the path of the download' }),
    currency: currencyCode,
    affiliate_count: count,
    amount: sum,
    part_count: Type.Integer({ description: 'the number of files its rows need; 0 if it would be empty' }),
    above_limit_count: Type.Integer({ description: 'affiliates in the file above `paypal_payment_limit`' }),
    skipped_count: count,
    skipped_amount: sum,
    skipped: Type.Array(skipped, {
      description: `affiliates who are paid this way but cannot be in the file, at most ${MOST_LISTED}`,
    }),
    rewritten_count: count,
    rewritten: Type.Array(rewritten, {
      description:
        'affiliates whose account holder is spelled differently in the file, because banks take Latin letters without ' +
        `accents; at most ${MOST_LISTED}. The bank of the payee compares names: set account_holder to its spelling if that differs`,
    }),
    warnings: Type.Array(warning, {
      description: 'rules by which a bank may refuse payments that are in the file',
    }),
    downloads,
  },
  { title: 'NeededPaymentFile' },
);

/** The payment files that a payout needs. */
export const paymentFiles = strict(
  {
    object: Type.Literal('payment_files'),
    payout_id: Type.String({ examples: ['po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    revision: Type.Integer(),
    files: Type.Array(neededFile),
    by_hand: Type.Array(strict({ currency: currencyCode, affiliate_count: count, amount: sum }), {
      description: 'affiliates paid in another way: their destination or `payout_method` is other',
    }),
    summary_downloads: downloads,
    in_several_files_count: Type.Integer({
      minimum: 0,
      description:
        'a warning: affiliates who are in several different downloaded files, in the same currency. If two of the files are sent, they ' +
        'are paid twice',
    }),
    in_several_files: Type.Array(inSeveralFiles, { description: `the first ${MOST_LISTED} of them` }),
  },
  { title: 'PaymentFiles' },
);
type PaymentFiles = Static<typeof paymentFiles>;

/** The destination type of a row `r`. Without a destination and a method, it is PayPal. */
const homeOf = `coalesce(${WAY}, 'paypal')`;

/** The warnings about a row, as an array of {code, message}. */
const warningsIn = ({ warnings }: PaymentFormat, payer: Payer): Sql =>
  join(
    [
      sql`array[]::jsonb[]`,
      ...(warnings?.(payer) ?? []).map(
        ({ code, message, when }) =>
          sql`case when ${raw(when)} then array[jsonb_build_object('code', ${code}::text, 'message', ${message}::text)] end`,
      ),
    ],
    ' || ',
  );

/** What an overview is made from. */
interface Wanted {
  readonly formats: readonly PaymentFormat[];
  readonly payer: Payer;
  readonly outdated: readonly FileSetId[];
}

/** The rows each format would pay, with the reason if its file leaves one out. */
const judged = ({ account, payout }: Of, { formats, payer }: Wanted): Sql =>
  join(
    formats
      .filter(({ destination }) => destination !== null)
      .map(
        (format) => sql`
        select ${format.name}::text as format, ${format.maxRows}::int as max_rows, r.currency, r.affiliate_id, r.name,
               r.account_holder, r.holder_in_files, r.amount, ${raw(format.refusal)} as refusal, ${raw(format.aboveLimit)} as is_above,
               ${warningsIn(format, payer)} as warnings
        from (${raw(paymentRows({ account, payout, format, wholeUnits: false }))}) r
        where ${raw(homeOf)} = ${format.destination}`,
      ),
    ' union all ',
  );

/**
 * Whether a download `w` is outdated. A file that moves no money has no set and is outdated once the revision changes.
 */
const isOutdated = `p.status = 'unpaid' and case when w.set_id is null then w.revision <> p.revision
  else w.set_id = any(array(select set_id from outdated)) end`;
/**
 * How the rows of an outdated file `w` differ from those of a new download. Only the last download of a file is compared;
 * earlier ones have null.
 */
const changesOf = (select: string) => `case when ${isOutdated} and not exists (
    select from payment_file_downloads later
    where later.account_id = w.account_id and later.payout_id = w.payout_id and later.format = w.format
      and later.currency = w.currency and later.part is not distinct from w.part and later.id > w.id) then (
    select ${select} from (
      select coalesce(b.affiliate_id, n.affiliate_id) as affiliate_id, b.amount as amount_then, n.amount as amount_now,
             row_number() over (order by coalesce(b.affiliate_id, n.affiliate_id)) as place
      from unnest(w.affiliate_ids, w.amounts) as b (affiliate_id, amount)
      full join (select affiliate_id, amount from judged
                 where format = w.format and currency = w.currency and refusal is null) n
        on n.affiliate_id = b.affiliate_id
      -- an affiliate who was added since may be in another part
      where b.amount is distinct from n.amount and (w.part is null or b.affiliate_id is not null)) c
    join affiliates a on a.account_id = w.account_id and a.id = c.affiliate_id
    where w.amounts is not null) end`;
const changeRecord = `json_build_object('affiliate_id', c.affiliate_id,
    'name', nullif(trim(concat_ws(' ', a.name_first, a.name_last)), ''),
    'amount_then', c.amount_then, 'amount_now', c.amount_now)`;
const downloadRecord = columnsOf(download, {
  downloaded_at: 'iso(id_time(w.id))',
  by: `json_build_object('kind', w.actor_kind, 'id', w.actor_id, 'name', ${actorName})`,
  revision: 'w.revision',
  part: 'w.part',
  digest: shownDigest('w.file_digest'),
  file_set_id: "public_id('pfs', w.set_id)",
  replaces_file_set_id: `(select public_id('pfs', s.replaces) from payment_file_sets s
    where s.account_id = w.account_id and s.payout_id = w.payout_id and s.id = w.set_id)`,
  message_id: `case when w.format = 'sepa'
    then coalesce(w.message_id, concat('P', p.number, '-R', w.revision, '-F', coalesce(w.part, 1))) end`,
  is_outdated: isOutdated,
  change_count: changesOf('case when w.amounts is not null then count(*)::int end'),
  changes: `coalesce(${changesOf(
    `json_agg(${changeRecord} order by c.place) filter (where c.place <= ${MOST_LISTED})`,
  )}, '[]')`,
});
const downloadsOf = (condition: string) => sql`(
  select coalesce(json_agg(row_to_json(d)), '[]') from (
    select ${downloadRecord} from payment_file_downloads w
    where w.account_id = p.account_id and w.payout_id = p.id and ${raw(condition)}
    order by w.id desc limit ${raw(String(MOST_LISTED))}) d)`;

const isIn = 'filter (where j.refusal is null)';
const isOut = 'filter (where j.refusal is not null)';
const fileRecord = columnsOf(neededFile, {
  format: 'j.format',
  currency: 'j.currency',
  affiliate_count: `count(*) ${isIn}`,
  amount: `coalesce(sum(j.amount) ${isIn}, 0)::int8`,
  part_count: `ceil(count(*) ${isIn}::numeric / coalesce(max(j.max_rows), greatest(count(*), 1)))::int`,
  above_limit_count: 'count(*) filter (where j.refusal is null and j.is_above)',
  skipped_count: `count(*) ${isOut}`,
  skipped_amount: `coalesce(sum(j.amount) ${isOut}, 0)::int8`,
  skipped: `coalesce(json_agg(json_build_object('affiliate_id', j.affiliate_id, 'name', j.name, 'amount', j.amount,
    'reason', j.refusal) order by j.affiliate_id) filter (where j.refusal is not null and j.place <= ${MOST_LISTED}), '[]')`,
  rewritten_count: 'count(*) filter (where j.is_rewritten)',
  rewritten: `coalesce(json_agg(json_build_object('affiliate_id', j.affiliate_id, 'account_holder', j.account_holder,
    'holder_in_files', j.holder_in_files) order by j.affiliate_id)
    filter (where j.is_rewritten and j.place <= ${MOST_LISTED}), '[]')`,
  warnings: `(
    select coalesce(json_agg(json_build_object('code', w.code, 'message', w.message, 'affiliate_count', w.count,
             'affiliate_ids', w.first) order by w.code), '[]')
    from (select e ->> 'code' as code, e ->> 'message' as message, count(*)::int as count,
                 (array_agg(k.affiliate_id order by k.affiliate_id))[1:20] as first
          from judged k cross join unnest(k.warnings) e
          where k.format = j.format and k.currency = j.currency and k.refusal is null
          group by 1, 2) w)`,
  downloads: downloadsOf('w.format = j.format and w.currency = j.currency'),
});

const overview = (account: AccountId, payout: PayoutId, formats: readonly PaymentFormat[]) =>
  columnsOf(paymentFiles, {
    object: "'payment_files'",
    payout_id: "public_id('po', p.id)",
    revision: 'p.revision',
    files: sql`(
      select coalesce(json_agg(row_to_json(f)), '[]') from (
        select ${fileRecord} from (
          select *, row_number() over (
            partition by format, currency, refusal is null, is_rewritten order by affiliate_id) as place
          from (select *, refusal is null and account_holder is distinct from holder_in_files as is_rewritten
                from judged) all_judged) j
        group by j.format, j.currency order by j.format, j.currency) f)`,
    by_hand: sql`(
      select coalesce(json_agg(row_to_json(h)), '[]') from (
        select r.currency, count(*) as affiliate_count, sum(r.amount)::int8 as amount
        from (${raw(paymentRows({ account, payout, format: summary, wholeUnits: false }))}) r
        where ${raw(homeOf)} <> all(${formats.flatMap(({ destination }) => destination ?? [])}::text[]) group by r.currency order by r.currency) h)`,
    summary_downloads: downloadsOf("w.format = 'summary'"),
    in_several_files_count: severalFilesCount,
    in_several_files: severalFiles(MOST_LISTED),
  });

/** The payment files that a payout needs, or null if there is no such payout. Takes its outdated file sets. */
export function readPaymentFiles(db: Reader, of: Of, wanted: Wanted): Promise<Json<PaymentFiles> | null> {
  const { account, payout } = of;
  return maybeRecord(
    db,
    overview(account, payout, wanted.formats),
    sql`payouts p where p.account_id = ${account} and p.id = ${payout}`,
    {
      ctes: sql`judged as materialized (${judged(of, wanted)}),
        outdated as (select unnest(${wanted.outdated}::uuid[]) as set_id)`,
    },
  );
}
