import { fail } from '../../kernel/errors.ts';
import { INSTANT_RULE, parseInstant } from '../../kernel/time.ts';
import type { CustomSigning, SecondSignatureInput, Signing, SigningInput } from './record.ts';
import { newSecretFor, schemeOf, VARIABLES } from './schemes.ts';

/** A signature with its secret in clear. */
export interface OpenSignature {
  readonly signing: Signing;
  readonly secret: string;
}

/** A signature that expires. */
export interface EndingSignature extends OpenSignature {
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The maximum lifetime of a second signature, in seconds. */
export const LONGEST_SECOND_S = 90 * 86_400;

/** A signature that a request names. */
interface NamedSignature extends OpenSignature {
  /** Its secret was created now, so its receiver does not know it yet. */
  readonly isSecretNew: boolean;
}

/**
 * The signature that a request names. Fields that are left out keep their values from `before`. If there is no secret that
 * the scheme can use, a new one is created; an unusable secret in the request is refused. `nameRule` returns what is
 * wrong with the name of a header; `where` precedes the names of fields in messages. Throws `invalid_signing`,
 * `invalid_secret`.
 */
export function signatureOf(
  input: SigningInput,
  before: { readonly signing: Signing; readonly secret: string | null } | null,
  nameRule: (name: string) => string | null,
  where = '',
): NamedSignature {
  const signing = signingOf(input, before?.signing ?? 'standard', nameRule, where);
  if (input.secret !== undefined) {
    const problem = secretProblem(input.secret, signing);
    if (problem !== null) throw fail('invalid_secret', `${where}secret ${problem}`);
    return { signing, secret: input.secret, isSecretNew: false };
  }
  const kept = before?.secret ?? null;
  return kept === null || secretProblem(kept, signing) !== null
    ? { signing, secret: newSecretFor(signing), isSecretNew: true }
    : { signing, secret: kept, isSecretNew: false };
}

function signingOf(
  { signing: name, custom_signing: custom }: SigningInput,
  before: Signing,
  nameRule: (name: string) => string | null,
  where: string,
): Signing {
  const wasCustom = typeof before !== 'string';
  const isCustom = name === undefined ? wasCustom : name === 'custom';
  if (!isCustom) {
    if (custom) throw refuse(`${where}custom_signing`, 'must be given with signing: custom, and only then');
    return (
      (name as Exclude<Signing, CustomSigning> | undefined) ?? (before as Exclude<Signing, CustomSigning>)
    );
  }
  if (custom === undefined && wasCustom) return before;
  if (!custom) throw refuse(`${where}custom_signing`, 'is required with signing: custom');
  const header = custom.header.toLowerCase();
  const problem = nameRule(header);
  if (problem !== null) throw refuse(`${where}custom_signing.header`, problem);
  const { content, value = '{signature}', encoding, algorithm = 'sha256', secret_prefix = '' } = custom;
  checkTemplate(`${where}custom_signing.content`, content, {
    needed: 'body',
    others: ['id', 'timestamp', 'url'],
  });
  checkTemplate(`${where}custom_signing.value`, value, { needed: 'signature', others: ['id', 'timestamp'] });
  if (!/^[\x21-\x7e]*$/.test(secret_prefix)) {
    throw refuse(`${where}custom_signing.secret_prefix`, 'must be printable ASCII without spaces');
  }
  const headers = furtherHeaders(`${where}custom_signing.headers`, custom.headers ?? {}, {
    header,
    nameRule,
  });
  return { header, content, value, encoding, algorithm, secret_prefix, headers };
}

/** The further headers of a scheme, by names in lower case. */
function furtherHeaders(
  field: string,
  named: Readonly<Record<string, string>>,
  { header, nameRule }: { header: string; nameRule: (name: string) => string | null },
): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [given, template] of Object.entries(named)) {
    const at = `${field}.${given.slice(0, 100)}`;
    const name = given.toLowerCase();
    const problem = nameRule(name);
    if (problem !== null) throw refuse(at, problem);
    if (name === header) throw refuse(at, 'is the header of the signature');
    if (headers.has(name)) throw refuse(at, 'is given twice; names ignore case');
    const names = namesIn(at, template, ['timestamp', 'id']);
    if (names.length === 0) {
      throw refuse(at, 'must have {timestamp} or {id}: a constant value belongs in headers of the endpoint');
    }
    headers.set(name, template);
  }
  // sorted, so that the same headers are the same scheme
  return Object.fromEntries([...headers].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function checkTemplate(
  field: string,
  template: string,
  { needed, others }: { needed: string; others: readonly string[] },
): void {
  const names = namesIn(field, template, [needed, ...others]);
  if (names.filter((name) => name === needed).length !== 1) throw refuse(field, `must have {${needed}} once`);
}

/** The names in braces of a template. Throws `invalid_signing` for a name that is not `allowed` and for text that no header may have. */
function namesIn(field: string, template: string, allowed: readonly string[]): string[] {
  if (!/^[\x20-\x7e]*$/.test(template) || template.trim() !== template) {
    throw refuse(field, 'must be printable ASCII, no space at either end');
  }
  const parts = template.split(VARIABLES);
  const names = parts.filter((_, index) => index % 2 === 1);
  const hasBrace = parts.some((part, index) => index % 2 === 0 && /[{}]/.test(part));
  if (hasBrace || names.some((name) => !allowed.includes(name))) {
    throw refuse(field, `must have no braces except ${allowed.map((name) => `{${name}}`).join(', ')}`);
  }
  return names;
}

/** The rule that a secret breaks in a scheme; null = the scheme can use it. */
const secretProblem = (secret: string, signing: Signing) => schemeOf(signing).secret.problemOf(secret);

/**
 * The second signature that a request names. Fields that are left out have the values of `before`. Throws `invalid_signing`,
 * `invalid_secret`, `invalid_body`.
 */
export function secondOf(
  input: SecondSignatureInput,
  before: OpenSignature | null,
  nameRule: (name: string) => string | null,
  nowMs: number,
): EndingSignature {
  const where = 'second_signature.';
  if (before === null && (input.signing === undefined || input.secret === undefined)) {
    const missing = input.signing === undefined ? 'signing' : 'secret';
    throw refuse(
      `${where}${missing}`,
      'is required, because no signature is replaced and there is no second one',
    );
  }
  const until = parseInstant(input.expires_at);
  if (until === null) throw fail('invalid_body', `${where}expires_at must be ${INSTANT_RULE}`);
  if (until <= nowMs || until > nowMs + LONGEST_SECOND_S * 1000) {
    throw fail('invalid_body', `${where}expires_at must be in the next 90 days`);
  }
  const { isSecretNew, ...signature } = signatureOf(input, before, nameRule, where);
  // nobody would know a new secret: a second signature is for a receiver that already has one
  if (isSecretNew) {
    const problem = before && secretProblem(before.secret, signature.signing);
    throw fail('invalid_secret', `${where}secret is required: the previous one ${problem}`);
  }
  return { ...signature, until };
}

const refuse = (field: string, rule: string) => fail('invalid_signing', `${field} ${rule}`);
