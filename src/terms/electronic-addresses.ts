import type { Checked } from './bank-accounts.ts';
import { readSiren } from './tax-ids.ts';

/** The schemes of Peppol BIS Self-Billing 3, release of May 2026 (rule PEPPOL-EN16931-CL008). */
const SCHEMES = new Set(
  (
    '0002 0007 0009 0060 0088 0096 0097 0106 0130 0135 0142 0151 0183 0184 0188 0190 0191 0192 0195 0196 0198 0199 0200 0201 0204 ' +
    '0208 0209 0210 0211 0216 0218 0221 0225 0230 0235 0240 0242 0244 0245 0246 0248 9910 9913 9914 9915 9918 9919 9920 9922 9923 ' +
    '9924 9925 9926 9927 9928 9929 9930 9931 9932 9933 9934 9935 9936 9937 9938 9939 9940 9941 9942 9943 9944 9945 9946 9947 9948 ' +
    '9949 9950 9951 9952 9953 9957 9959'
  ).split(' '),
);

/** The form of the ids of schemes that the same release checks, and of France. Returns whether an id has it. */
const FORMS: Readonly<Record<string, (id: string) => boolean>> = {
  '0002': (id) => id.length === 9 && 'value' in readSiren(id),
  '0009': (id) => id.length === 14 && 'value' in readSiren(id),
  // GLN: the check digit of GS1
  '0088': (id) => /^\d{13}$/.test(id) && weighted(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
  // KVK of the Netherlands
  '0106': (id) => /^\d{8}$/.test(id),
  // organisasjonsnummer of Norway: modulo 11
  '0192': (id) => /^\d{9}$/.test(id) && weighted(id, [3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
  // enterprise number of Belgium: modulo 97
  '0208': (id) => /^\d{10}$/.test(id) && 97 - (Number(id.slice(0, 8)) % 97) === Number(id.slice(8)),
};

const weighted = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, index) => sum + weight * Number(digits[index]), 0);

/** Reads an electronic address, such as `0208:0123456749`: the code of its scheme (EAS), a colon and the id. */
export function readElectronicAddress(text: string): Checked<string> {
  const colon = text.indexOf(':');
  const [scheme, id] = [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
  if (colon < 0 || !/^[A-Za-z0-9._~-]{2,50}$/.test(id))
    return { rule: 'must be the code of a scheme, a colon and an id, such as 0208:0123456749' };
  if (!SCHEMES.has(scheme))
    return { rule: `has the scheme ${scheme}, which is not in the list EAS of Peppol` };
  return (FORMS[scheme]?.(id) ?? true)
    ? { value: `${scheme}:${id}` }
    : { rule: `has an id that the scheme ${scheme} does not allow: a digit is mistyped or missing` };
}
