/** The bytes of a text. */
export const utf8 = (text: string) => new TextEncoder().encode(text);

/** The base64 text of bytes. */
export const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

/** Like `base64`, for URLs (RFC 4648 section 5), without padding. */
export const base64Url = (bytes: Uint8Array) =>
  base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** The bytes of a base64 text; null if it is none. */
export function bytesOf(text: string) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
