import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43; // 43 characters of 62 carry 256 bits
const CHECKSUM_LENGTH = 6;
const CELL = /^([a-z]+_)([1-9][0-9]{0,3})_/;

/**
 * The prefix says what a secret is: API key, access token, refresh token, authorization code, client secret, session,
 * one-time link, portal link, portal token, token of a pull endpoint, link that confirms an e-mail address. So each is looked up in one place only, and secret scanners recognise them.
 */
export type SecretPrefix =
  | 'ph_'
  | 'pha_'
  | 'phr_'
  | 'phc_'
  | 'phs_'
  | 'phi_'
  | 'phl_'
  | 'phpl_'
  | 'phpt_'
  | 'phw_'
  | 'phe_';

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/**
 * A new secret of a cell: prefix, the cell's number unless it is 0, 43 random characters (256 bits) and a checksum of 6
 * (`ph_2_…`). Only its hash is stored.
 */
export function newSecret(prefix: SecretPrefix, cell: number): string {
  let text = cell === 0 ? prefix : `${prefix}${cell}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) text += ALPHABET[randomInt(62)];
  return text + checksum(text);
}

/** Whether the text has the form and checksum of a secret with this prefix, so that a typo costs no query. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  const tail = text.replace(CELL, '$1');
  if (!tail.startsWith(prefix) || tail.length !== prefix.length + RANDOM_LENGTH + CHECKSUM_LENGTH)
    return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The number of the cell that a secret names. A text that names none is of cell 0. */
export const cellOf = (text: string): number => Number(CELL.exec(text)?.[2] ?? 0);

/** SHA-256 of a secret (32 bytes), as stored and looked up in the database. 256 random bits need no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compares two texts in constant time. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hashSecret(a), hashSecret(b));
}
