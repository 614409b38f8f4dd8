/** The compressions of a response body (RFC 9110 section 8.4.1), smallest result first. */
export const CODINGS = ['br', 'gzip'] as const;

export type Coding = (typeof CODINGS)[number];

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The coding for a client with this Accept-Encoding header (RFC 9110 section 12.5.3): the one it prefers, or the smaller
 * one if it prefers both equally. null = uncompressed, also without such a header or a supported coding.
 */
export function codingFor(accepted = ''): Coding | null {
  const weights = new Map<string, number>();
  for (const each of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
    const weight = parameters
      .map((parameter) => WEIGHT.exec(parameter)?.[1])
      .find((found) => found !== undefined);
    weights.set(name, Number(weight ?? 1));
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const asItIs = weights.get('identity') ?? 0;
  const best = CODINGS.reduce<Coding | null>(
    (found, coding) => (weightOf(coding) > (found === null ? 0 : weightOf(found)) ? coding : found),
    null,
  );
  return best !== null && weightOf(best) >= asItIs ? best : null;
}
