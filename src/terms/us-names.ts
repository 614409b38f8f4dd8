import anyAscii from 'any-ascii';

/** A name as the TIN matching of the IRS takes it: at most 40 letters, digits, blanks, hyphens and ampersands. */
export const irsName = (name: string): string =>
  anyAscii(name)
    .replace(/[^A-Za-z0-9&\- ]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 40)
    .trimEnd();
