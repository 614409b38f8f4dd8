import { verifyWebhooks, WebhookVerificationError } from '../../client/verify.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Incoming } from './receiver.ts';
import type { Signer, Signers } from './signers.ts';
import { cut } from './view.ts';

/** The verdict on a received request. */
export type Verdict = Verified | Refused;

interface Verified {
  readonly isVerified: true;
  /** The endpoint whose secret matched; null for a secret from --secret. */
  readonly endpoint: string | null;
  readonly reason: null;
}

interface Refused {
  readonly isVerified: false;
  readonly endpoint: null;
  /** Why it was not verified. */
  readonly reason: string;
  /** The response status. */
  readonly status: number;
}

const refuse = (reason: string, status = 400): Refused => ({
  isVerified: false,
  endpoint: null,
  reason,
  status,
});

/** Verifies a request. Fetches the signers again if no known one matches. */
export async function judge(
  { method, path, headers, body }: Incoming,
  signers: Signers,
  { json }: Terminal,
): Promise<Verdict> {
  if (method !== 'POST')
    return refuse(`a webhook is a POST request, but this is ${method} ${cut(path, 100)}`, 405);
  if (body === null) return refuse('the body is larger than 4 MiB', 413);
  const first = await verifyWith(headers, body, signers.known());
  if (!(first instanceof WebhookVerificationError)) return first;
  if (first.problem !== 'wrong_signature') return refuse(first.message);
  const { signers: asked, trouble } = await signers.ask();
  const second = await verifyWith(headers, body, asked);
  if (!(second instanceof WebhookVerificationError)) return second;
  if (second.problem !== 'wrong_signature') return refuse(second.message);
  if (trouble === null) return refuse(whyNone(asked));
  // without --json, the signers have already reported it once
  return refuse(`the secrets cannot be fetched${json ? `: ${trouble}` : ''}`, 500);
}

async function verifyWith(
  headers: Incoming['headers'],
  body: Buffer,
  signers: readonly Signer[],
): Promise<Verified | WebhookVerificationError> {
  const verify = async (some: readonly Signer[]) => {
    try {
      const secrets = some.map(({ secret }) => secret);
      return await verifyWebhooks(body, headers, secrets);
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error;
      throw error;
    }
  };
  const verified = await verify(signers);
  if (verified instanceof WebhookVerificationError) return verified;
  const each = await Promise.all(signers.map((one) => verify([one])));
  const signer = signers[each.findIndex((one) => !(one instanceof WebhookVerificationError))];
  return { isVerified: true, endpoint: signer?.endpoint ?? null, reason: null };
}

function whyNone(signers: readonly Signer[]): string {
  const [first] = signers;
  if (first === undefined)
    return 'the account has no webhook endpoint with signing: standard or ed25519, so nothing can be verified';
  if (first.endpoint === null) {
    return 'no signature matches: --secret may belong to another endpoint, or the body was changed on the way';
  }
  const whose = signers.length === 1 ? "the account's one endpoint" : `any of ${signers.length} endpoints`;
  return `no signature matches the secret of ${whose}`;
}
