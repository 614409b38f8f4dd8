import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import type { AccountId, CorrectionId, DestinationId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { AccountVault, SealedIn } from '../../kernel/vault.ts';
import type { Corrected } from '../../terms/ach-codes.ts';
import { afterBankingDays } from '../../terms/us-banking-days.ts';
import { actorName, actorRecord } from './actors.ts';
import { fullName } from './payout-record.ts';
import { byteaText, markedText, sealedNumbers } from './sealed-numbers.ts';

/*
 * What banks correct in where affiliates are paid: a notification of change after an ACH payment. It is proposed, and a person
 * decides. The originator must make the change within six banking days, or before the next payment to the account if that is later
 * (moov-io.github.io/ach/changes; Banner Bank, ACH Originator Guide; both read in November 2026).
 */
const BANKING_DAYS = 6;

/** `outdated`: the destination was replaced since. */
export const CORRECTION_STATUSES = ['open', 'outdated', 'accepted', 'dismissed'] as const;

const date = (description: string) =>
  Type.String({ description: `${description}, YYYY-MM-DD`, examples: ['2026-11-27'] });

/** A correction of a destination by a bank. */
export const destinationCorrection = strict(
  {
    id: Type.String({ examples: ['cor_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('destination_correction'),
    affiliate_id: Type.Integer(),
    name: nullable(Type.String({ description: 'the name of the affiliate' })),
    payout_id: Type.String({ description: 'the payout whose payment the bank corrected' }),
    currency: nullable({
      ...currencyCode,
      description: 'of the destination; null: the one for all currencies',
    }),
    code: Type.String({ description: 'the change code of Nacha, C01 to C07' }),
    changes: Type.Array(
      strict(
        {
          field: Type.Enum(['account_holder', 'routing_number', 'account_number', 'account_type'], {
            title: 'CorrectedField',
          }),
          from: nullable(Type.String({ description: 'as it was paid; of an account number the end' })),
          to: Type.String({ description: 'what the bank says; of an account number the end' }),
        },
        { title: 'DestinationChange' },
      ),
      { description: 'what the bank corrects' },
    ),
    status: Type.Enum([...CORRECTION_STATUSES], {
      title: 'CorrectionStatus',
      description:
        'open: to be decided. outdated: the destination was replaced since, so it cannot be accepted',
    }),
    received_on: date('when the bank sent it'),
    due_on: date(`when the change must be made: ${BANKING_DAYS} banking days later`),
    decided_by: nullable({ ...actorRecord, description: 'who accepted or dismissed it' }),
    decided_at: nullable(timestamp),
  },
  { title: 'DestinationCorrection' },
);
export type DestinationCorrection = Static<typeof destinationCorrection>;

/** The status of the correction `w`. */
export const correctionStatus = `coalesce(w.decision, case when exists (
  select from affiliate_destinations f
  where f.account_id = w.account_id and f.id = w.destination_id and f.replaced_at is null) then 'open' else 'outdated' end)`;

/** Its columns, over `destination_corrections w` with `correctionJoins`. */
export const correctionColumns = columnsOf(destinationCorrection, {
  id: "public_id('cor', w.id)",
  object: "'destination_correction'",
  affiliate_id: 'w.affiliate_id',
  name: fullName('a'),
  payout_id: "public_id('po', w.payout_id)",
  currency: 'x.currency',
  code: 'w.code',
  changes: `(
    select json_agg(json_build_object('field', c.field, 'from', c.before, 'to', c.after) order by c.place)
    from (values (1, 'account_holder', x.account_holder, w.account_holder),
                 (2, 'routing_number', x.routing_number, w.routing_number),
                 (3, 'account_number', '…' || x.last_four, '…' || w.last_four),
                 (4, 'account_type', x.account_type, w.account_type)) c (place, field, before, after)
    where c.after is not null)`,
  status: correctionStatus,
  received_on: 'w.received_on',
  due_on: 'w.due_on',
  decided_by: `case when w.decision is not null then
    json_build_object('kind', w.actor_kind, 'id', w.actor_id, 'name', ${actorName}) end`,
  decided_at: 'iso(w.decided_at)',
});

export const correctionJoins = sql`join affiliates a on a.account_id = w.account_id and a.id = w.affiliate_id
  join affiliate_destinations x on x.account_id = w.account_id and x.id = w.destination_id`;

/** Where the account number of a correction is sealed. */
export const placeOfCorrection = (account: AccountId, id: CorrectionId): SealedIn => ({
  account,
  place: `destination correction ${id}`,
});
const markContext = (account: AccountId): string => `corrected bank account in ${account}`;

/** The account numbers in destination_corrections. */
export const correctedAccounts = sealedNumbers<CorrectionId>({
  table: 'destination_corrections',
  qualifier: 'routing_number',
  placeOf: placeOfCorrection,
  markContext,
  unreadable: { what: 'a corrected bank account', remedy: 'dismiss the correction' },
});

/** A correction in a file. */
export interface NewCorrection {
  readonly affiliate_id: number;
  readonly destination_id: DestinationId;
  readonly code: string;
  readonly corrected: Corrected;
}

/** Of whom corrections are kept, and when they came. */
interface Keeping extends AccountVault {
  readonly payout: PayoutId;
  /** When the bank made the file, `YYYY-MM-DD`, as written; null = unknown. */
  readonly madeOn: string | null;
  /** Today in New York, `YYYY-MM-DD`. */
  readonly today: string;
}

/** Keeps corrections that were not read before. Returns all of them as a JSON list, and how many are new, with their due day. */
export async function keepCorrections(
  tx: Tx,
  keeping: Keeping,
  found: readonly NewCorrection[],
): Promise<{ readonly json: Json<DestinationCorrection[]>; readonly added: number; readonly due: string }> {
  const { account, payout } = keeping;
  const received = receivedOn(keeping);
  const due = afterBankingDays(received, BANKING_DAYS);
  const given = JSON.stringify(await sealed(tx, keeping, found));
  const added = await rows(
    tx,
    sql`insert into destination_corrections (account_id, id, destination_id, affiliate_id, payout_id, code, account_holder,
          routing_number, account_type, number, number_mark, last_four, received_on, due_on)
        select ${account}, id, destination_id, affiliate_id, ${payout}, code, account_holder, routing_number, account_type,
               number::bytea, number_mark::bytea, last_four, ${received}::date, ${due}::date
        from json_to_recordset(${given}::json) as g (id uuid, destination_id uuid, affiliate_id int8, code text,
            account_holder text, routing_number text, account_type text, number text, number_mark text, last_four text)
        on conflict (account_id, payout_id, destination_id, code) do nothing
        returning 1`,
  );
  const { json } = await oneRow<{ json: Json<DestinationCorrection[]> }>(
    tx,
    sql`select coalesce(json_agg(r), '[]')::text as json from (
          select ${correctionColumns} from destination_corrections w ${correctionJoins}
          join json_to_recordset(${given}::json) as g (destination_id uuid, code text)
            on g.destination_id = w.destination_id and g.code = w.code
          where w.account_id = ${account} and w.payout_id = ${payout} order by w.affiliate_id, w.code) r`,
  );
  return { json, added: added.length, due };
}

/** The day of the file, if it is a day that is not in the future; or else today. */
function receivedOn({ madeOn, today }: Keeping): string {
  const isDay = madeOn !== null && new Date(`${madeOn}T00:00:00Z`).toJSON()?.startsWith(madeOn);
  return madeOn !== null && isDay && madeOn < today ? madeOn : today;
}

async function sealed(tx: Tx, { account, vault }: Keeping, found: readonly NewCorrection[]) {
  const key = await sealingKey(tx);
  const ids = await rows<{ id: CorrectionId }>(
    tx,
    sql`select new_id() as id from generate_series(1, ${found.length}::int)`,
  );
  return found.map(({ corrected: { account_number: number, ...rest }, ...about }, place) => {
    const id = ids[place]?.id as CorrectionId;
    const seal = number === undefined ? null : vault.seal(number, placeOfCorrection(account, id), key);
    const mark =
      number === undefined
        ? null
        : vault.mark(markedText(rest.routing_number ?? null, number), markContext(account), key);
    return {
      ...about,
      ...rest,
      id,
      number: byteaText(seal),
      number_mark: byteaText(mark),
      last_four: number?.slice(-4) ?? null,
    };
  });
}
