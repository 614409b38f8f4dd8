import sql, { raw, type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, DestinationId, PayoutId } from '../../kernel/ids.ts';
import { destinationOfLine } from './destinations.ts';

/*
 * Verification of payees: before a SEPA transfer is executed, the bank of the payee compares the name in it with that of the
 * account (Regulation (EU) 2024/886, article 5c; required since 9 October 2025). The last answer is kept for each destination.
 */

/** The answers of a bank. `not_possible`: its bank does not answer, or does not take part. */
export const VERIFICATIONS = ['match', 'close_match', 'no_match', 'not_possible'] as const;
export type Verification = (typeof VERIFICATIONS)[number];

/** Results of which a person has to decide before the payee is paid. */
export const MISMATCHES: readonly Verification[] = ['close_match', 'no_match', 'not_possible'];

/** The results of a destination. `name_used`: the name of the bank replaced ours, and the bank has not answered since. */
export const VERIFICATION_RESULTS = [...VERIFICATIONS, 'name_used'] as const;

const WHAT =
  'whether the name is that of the account, by the bank of the payee. not_possible: it does not say';

export const verification = Type.Enum([...VERIFICATIONS], {
  title: 'PayeeVerificationAnswer',
  description: WHAT,
});

export const verificationResult = Type.Enum([...VERIFICATION_RESULTS], {
  title: 'PayeeVerificationResult',
  description: `${WHAT}. name_used: the name that the bank has replaced ours, and the bank has not answered since`,
});

export const verificationFields = {
  bank_name: nullable(
    Type.String({ description: 'the name that the bank of the payee has, which it gives for a close match' }),
  ),
  reason: nullable(Type.String({ description: 'why, as readable text' })),
  reason_code: nullable(Type.String({ description: 'an ISO 20022 code' })),
};

/** What the bank of the payee answered about a destination. */
export const payeeVerification = strict(
  {
    result: verificationResult,
    ...verificationFields,
    replaced_name: nullable(
      Type.String({ description: 'the account holder that `bank_name` replaced; null: it did not' }),
    ),
    payment_file: nullable(
      Type.String({
        description:
          'the id (MsgId) of the payment file that the bank checked; null: the answer came as a list',
      }),
    ),
    verified_at: { ...timestamp, description: 'when its answer was read' },
  },
  { title: 'PayeeVerification' },
);

/** The `payeeVerification` of the destination `x`, or null. */
export const verificationColumn = `(
  select json_build_object('result', v.result, 'bank_name', v.bank_name, 'reason', v.reason, 'reason_code', v.reason_code,
    'replaced_name', v.replaced_name, 'payment_file', v.payment_file, 'verified_at', iso(v.verified_at))
  from payee_verifications v where v.account_id = x.account_id and v.destination_id = x.id)`;

/** An answer as it is kept. */
export interface KeptVerification {
  readonly destination_id: DestinationId;
  readonly result: Verification;
  readonly bank_name: string | null;
  readonly reason: string | null;
  readonly reason_code: string | null;
  readonly payment_file: string | null;
}

/** Keeps answers (a JSON list of `KeptVerification`) instead of earlier ones about the same destinations. */
export async function keepVerifications(tx: Tx, account: AccountId, answers: string): Promise<void> {
  await rows(
    tx,
    sql`with answered as (
          select x.id, x.affiliate_id, k.result, k.bank_name, k.reason, k.reason_code, k.payment_file
          from json_to_recordset(${answers}::json) as k (destination_id uuid, result text, bank_name text, reason text,
              reason_code text, payment_file text)
          join affiliate_destinations x on x.account_id = ${account} and x.id = k.destination_id
        )
        insert into payee_verifications
          (account_id, destination_id, affiliate_id, result, bank_name, reason, reason_code, payment_file)
        select ${account}, id, affiliate_id, result, bank_name, reason, reason_code, payment_file from answered
        on conflict (account_id, destination_id) do update
          set result = excluded.result, bank_name = excluded.bank_name, reason = excluded.reason,
              reason_code = excluded.reason_code, payment_file = excluded.payment_file, verified_at = excluded.verified_at`,
  );
}

/** Whether the destination of the verification `v` is where a line of this payout is paid. */
export const isOfPayout = (payout: PayoutId | Sql): Sql => sql`exists (
  select from payout_line_totals t
  join payouts p on p.account_id = t.account_id and p.id = t.payout_id
  cross join lateral ${raw(destinationOfLine)} x
  where t.account_id = v.account_id and t.payout_id = ${payout} and t.affiliate_id = v.affiliate_id
    and x.id = v.destination_id)`;

/** How many payees of the payout `p` do not match, by the last answers of their banks. */
export const mismatchCount = sql`(
  select count(*)::int from payee_verifications v
  where v.account_id = p.account_id and v.result = any(${[...MISMATCHES]}) and ${isOfPayout(sql`p.id`)})`;
