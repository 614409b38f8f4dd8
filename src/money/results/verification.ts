import type { Verification } from '../ledger/verifications.ts';
import type { Reference, Verified, VerifiedFile } from './answers.ts';
import { allOf, type Frame } from './xml.ts';

/**
 * The statuses of a verification of payees in a pain.002. Sources, read in November 2026: DFÜ agreement of the German banks, annex
 * 3 (VOP status report, example of April 2025, as quoted by the tests of the crate sepa 0.9.0), and
 * https://www.business-logics.de/english/news176.html. RVCM is the status of a file in which not every payee matches.
 */
export const VERIFICATION_STATUSES: ReadonlyMap<string, Verification> = new Map([
  ['RCVC', 'match'],
  ['RVMC', 'close_match'],
  ['RVNM', 'no_match'],
  ['RVNA', 'not_possible'],
]);

/** The verification of one payee; null if its status is none. */
export function verificationOf(
  frame: Frame,
  {
    of,
    status,
    file,
    place,
  }: { readonly of: Reference; readonly status: string; readonly file: string; readonly place: string },
): Verified | null {
  const result = VERIFICATION_STATUSES.get(status);
  if (result === undefined) return null;
  const { values } = frame;
  // a name of more than 105 characters is in two parts
  const text = allOf(frame, 'StsRsnInf/AddtlInf').join('');
  const isName = result === 'close_match' && text !== '';
  return {
    of,
    result,
    bankName: isName ? text : null,
    code: values.get('StsRsnInf/Rsn/Cd') ?? values.get('StsRsnInf/Rsn/Prtry') ?? null,
    words: isName || text === '' ? null : text,
    name: values.get('OrgnlTxRef/Cdtr/Pty/Nm') ?? values.get('OrgnlTxRef/Cdtr/Nm') ?? null,
    iban: values.get('OrgnlTxRef/CdtrAcct/Id/IBAN')?.replaceAll(/\s/g, '').toUpperCase() ?? null,
    file,
    place,
  };
}

/** What a file says about the payees that it does not list: banks list only those that do not match. Null = nothing. */
export function verifiedFile(
  frame: Frame,
  group: Frame | null,
  {
    file,
    status,
    place,
  }: { readonly file: string; readonly status: string | undefined; readonly place: string },
): VerifiedFile | null {
  const counted = [frame, group].find((each) => each?.values.has(COUNTED)) ?? null;
  if (counted === null) return status === 'RCVC' ? { file, counts: null, place } : null;
  const numbers = allOf(counted, 'NbOfTxsPerSts/DtldNbOfTxs');
  const counts = new Map<Verification, number>();
  for (const [index, each] of allOf(counted, COUNTED).entries()) {
    const result = VERIFICATION_STATUSES.get(each);
    // counts of anything else are no verification
    if (result === undefined || counts.has(result)) return null;
    counts.set(result, Number(numbers[index]));
  }
  return { file, counts, place };
}

const COUNTED = 'NbOfTxsPerSts/DtldSts';
