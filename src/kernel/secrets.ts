import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43; // 43 characters of 62 carry 256 bits
const CHECKSUM_LENGTH = 6;

/**
 * What a secret is for stands in front of it: API key, access token, refresh token, authorization code, client secret,
 * session, one-time link. So each is looked for in one place only, and a scanner of leaked secrets knows them.
 */
export type SecretPrefix = 'ph_' | 'pha_' | 'phr_' | 'phc_' | 'phs_' | 'phi_' | 'phl_';

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new secret: prefix, 43 random characters (256 bits) and 6 of checksum. Stored only as its hash. */
export function newSecret(prefix: SecretPrefix): string {
  let random = '';
  for (let i = 0; i < RANDOM_LENGTH; i++) random += ALPHABET[randomInt(62)];
  return prefix + random + checksum(prefix + random);
}

/** Whether the text has the shape and checksum of a secret with this prefix: a typo never costs a query. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || text.length !== prefix.length + RANDOM_LENGTH + CHECKSUM_LENGTH)
    return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** SHA-256 of a secret (32 bytes): what the database stores and looks up. 256 random bits need no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Whether two texts are the same, in a time that tells nothing of where they differ. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hashSecret(a), hashSecret(b));
}
