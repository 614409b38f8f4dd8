import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { actorName, actorRecord } from '../ledger/actors.ts';
import { destinationCorrection } from '../ledger/corrections.ts';
import { digestField, shownDigest } from '../ledger/file-digests.ts';
import { fullName } from '../ledger/payout-record.ts';
import { payeeVerification, verification, verificationFields } from '../ledger/verifications.ts';
import { OUTCOMES, RESULT_KINDS } from './answers.ts';

/** Why a statement in a file is not an answer about a line of the payout. */
export const PROBLEMS = [
  'other_account',
  'other_payout',
  'unknown_reference',
  'other_currency',
  'other_amount',
  'duplicate',
  'contradiction',
  'unknown_file',
  'other_payee',
  'unclear',
  'inexact_reference',
] as const;
export type ProblemKind = (typeof PROBLEMS)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description });
const counts = strict(
  {
    paid: count('lines whose money left'),
    rejected: count('lines that were refused before money left'),
    returned: count('lines whose money left and came back'),
    pending: count('lines that are not decided yet'),
    unanswered: count('lines of the payout without a clear answer in the file'),
    problems: count('statements that match no line; see `problems`'),
    others: count('entries that are not our payments'),
  },
  { title: 'PayoutResultCounts' },
);
export type Counts = Static<typeof counts>;

const recordFields = {
  id: Type.String({ examples: ['res_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('payout_result'),
  payout_id: Type.String(),
  kind: Type.Enum([...RESULT_KINDS], { title: 'PayoutResultKind' }),
  file_bytes: Type.Integer(),
  digest: digestField,
  revision: Type.Integer({ description: 'the revision of the payout when the file was uploaded' }),
  counts,
  by: actorRecord,
  created_at: timestamp,
};

/** An uploaded result file, as recorded. */
export const resultRecord = strict(recordFields, { title: 'PayoutResult' });
export type ResultRecord = Static<typeof resultRecord>;

/** Its columns, over `payout_results w`. */
export const resultColumns = columnsOf(resultRecord, {
  id: "public_id('res', w.id)",
  object: "'payout_result'",
  payout_id: "public_id('po', w.payout_id)",
  kind: 'w.kind',
  file_bytes: 'w.file_bytes',
  digest: shownDigest('w.file_digest'),
  revision: 'w.revision',
  counts: 'w.counts',
  by: `json_build_object('kind', w.actor_kind, 'id', w.actor_id, 'name', ${actorName})`,
  created_at: 'iso(id_time(w.id))',
});

const resultLine = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    currency: currencyCode,
    reference: Type.String({ examples: ['P1-A12'] }),
    outcome: Type.Enum([...OUTCOMES], {
      title: 'PaymentOutcome',
      description:
        'rejected: no money left. returned: it left and came back. pending: the bank or provider has not decided',
    }),
    amount: { ...amount, description: 'the amount paid, refused or returned, in minor units' },
    line_amount: { ...amount, description: 'the amount of the line' },
    reason: nullable(Type.String({ description: 'why, as readable text' })),
    reason_code: nullable(Type.String({ description: 'an ISO 20022 code, or the status of the provider' })),
    booked_on: nullable(Type.String({ description: 'YYYY-MM-DD, as in the file' })),
    bank_reference: nullable(Type.String({ description: 'the identifier used by the bank or provider' })),
    payment_file: nullable(
      Type.String({
        description: 'the id (MsgId) of the payment file that contains it, if the file names one',
      }),
    ),
    is_booked: Type.Boolean({
      description: 'nothing left to do: the payout was completed with this result, or the return is booked',
    }),
  },
  { title: 'PayoutResultLine' },
);
export type ResultLine = Static<typeof resultLine>;

const problem = strict(
  {
    kind: Type.Enum([...PROBLEMS], { title: 'PayoutResultProblemKind' }),
    affiliate_id: nullable(Type.Integer({ description: 'null when it concerns no affiliate of the payout' })),
    reference: nullable(Type.String()),
    message: Type.String({ description: 'what is wrong, and where in the file' }),
  },
  { title: 'PayoutResultProblem' },
);
export type Problem = Static<typeof problem>;

const resultVerification = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    currency: currencyCode,
    reference: Type.String({ examples: ['P1-A12'] }),
    result: verification,
    account_holder: nullable(Type.String({ description: 'the name that the bank checked, as in the file' })),
    ...verificationFields,
  },
  { title: 'PayoutResultVerification' },
);
export type ResultVerification = Static<typeof resultVerification>;

/** What the bank of a payee answered about a line of a payout. */
export const lineVerification = strict(
  {
    object: Type.Literal('payee_verification'),
    affiliate_id: Type.Integer(),
    name: nullable(Type.String({ description: 'the name of the affiliate' })),
    account_holder: nullable(Type.String({ description: 'the name in payment files' })),
    last_four: nullable(Type.String({ description: 'the end of the IBAN' })),
    currency: nullable({
      ...currencyCode,
      description: 'of the destination; null: the one for all currencies',
    }),
    ...payeeVerification.properties,
  },
  { title: 'PayoutVerification' },
);
export type LineVerification = Static<typeof lineVerification>;

/** Its columns, over `payee_verifications v` with `verificationJoins`. */
export const lineVerificationColumns = columnsOf(lineVerification, {
  object: "'payee_verification'",
  affiliate_id: 'v.affiliate_id',
  name: fullName('a'),
  account_holder: 'x.holder_in_files',
  last_four: 'x.last_four',
  currency: 'x.currency',
  result: 'v.result',
  bank_name: 'v.bank_name',
  reason: 'v.reason',
  reason_code: 'v.reason_code',
  replaced_name: 'v.replaced_name',
  payment_file: 'v.payment_file',
  verified_at: 'iso(v.verified_at)',
});

/** Problems listed that concern no line. */
export const MOST_PROBLEMS = 1000;

/** The content of a result file, line by line. */
export const proposal = strict(
  {
    ...recordFields,
    lines: Type.Array(resultLine, { description: 'the lines that the file is about' }),
    problems: Type.Array(problem, {
      description: `the first of each kind for each affiliate, and the first ${MOST_PROBLEMS} that concern no affiliate of the payout`,
    }),
    verifications: Type.Array(resultVerification, {
      description:
        'the payees whose names the bank compared with their accounts: it says nothing about their payments',
    }),
    corrections: Type.Array(destinationCorrection, {
      description:
        'what banks correct in where affiliates are paid, proposed until somebody accepts or dismisses it: it says nothing about payments',
    }),
    outdated_revisions: Type.Array(Type.Integer(), {
      description:
        'the revisions of the payout at which the answered files were made, if it has changed since',
    }),
    uploaded_before: nullable({
      ...timestamp,
      description: 'when the same file was uploaded before; null = never',
    }),
  },
  { title: 'PayoutResultProposal' },
);
export type Proposal = Static<typeof proposal>;
