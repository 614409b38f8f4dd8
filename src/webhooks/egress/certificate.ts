import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { fail } from '../../kernel/errors.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { ClientCertificate, ClientCertificateInput } from './record.ts';

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const KEYS = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]+?-----END \1PRIVATE KEY-----/g;
const MOST = 10;
const LONGEST_NAME = 500;
const FIELD = 'client_certificate';

/**
 * The PEM texts of a client certificate and its key, without surrounding text. Throws `invalid_client_certificate` unless
 * TLS could use them at `nowMs` (milliseconds since 1970).
 */
export function certificateOf(
  { certificate, key }: ClientCertificateInput,
  nowMs: number,
): ClientCertificateInput {
  const blocks = certificate.match(CERTIFICATES) ?? [];
  if (blocks.length === 0 || blocks.length > MOST) {
    throw refuse('certificate', `must be 1 to ${MOST} certificates in PEM (-----BEGIN CERTIFICATE-----)`);
  }
  const chain = blocks.map(readCertificate);
  const [first, ...issuers] = chain as [X509Certificate, ...X509Certificate[]];
  issuers.forEach((issuer, at) => {
    if (!chain[at]?.checkIssued(issuer)) {
      throw refuse('certificate', 'must have the certificate first, and after each the one that issued it');
    }
  });
  const { block, opened } = readKey(key);
  if (!first.checkPrivateKey(opened)) throw refuse('key', 'must be the private key of the certificate');
  if (Date.parse(first.validTo) <= nowMs) {
    throw refuse('certificate', `must not have expired; it expired at ${instantOf(first.validTo)}`);
  }
  const checked = { certificate: `${blocks.join('\n')}\n`, key: `${block}\n` };
  checkContext(checked);
  return checked;
}

/** A stored client certificate as shown by the API. */
export function shownCertificate({ certificate }: ClientCertificateInput): ClientCertificate {
  // reads the first of the chain
  const { subject, issuer, fingerprint256, validTo } = new X509Certificate(certificate);
  return {
    subject: lineOf(subject),
    issuer: lineOf(issuer),
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    expires_at: instantOf(validTo),
  };
}

function readCertificate(block: string): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch {
    throw refuse('certificate', 'must be in PEM; one of its certificates cannot be read');
  }
}

function readKey(text: string): { block: string; opened: KeyObject } {
  const [found, ...others] = [...text.matchAll(KEYS)];
  if (!found || others.length > 0) {
    throw refuse('key', 'must be one private key in PEM (-----BEGIN PRIVATE KEY-----)');
  }
  const [block, kind = ''] = found;
  if (kind.includes('ENCRYPTED') || block.includes('ENCRYPTED')) {
    throw refuse('key', 'must have no passphrase: `openssl pkey -in key.pem` writes it without one');
  }
  try {
    return { block, opened: createPrivateKey(block) };
  } catch {
    throw refuse('key', 'must be a private key in PEM; this one cannot be read');
  }
}

/** OpenSSL has further rules, such as the minimum length of a key. */
function checkContext({ certificate, key }: ClientCertificateInput): void {
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    const { reason = 'unknown reason' } = error as { reason?: string };
    throw refuse('certificate', `cannot be used for TLS: ${reason}`);
  }
}

const instantOf = (time: string) => formatInstant(Date.parse(time));

/** The parts of a name on one line; OpenSSL puts each on a line of its own. */
function lineOf(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ').slice(0, LONGEST_NAME);
}

const refuse = (field: string, rule: string) =>
  fail('invalid_client_certificate', `${FIELD}.${field} ${rule}`);
