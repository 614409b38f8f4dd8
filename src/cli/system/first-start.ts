import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../../app/platform.ts';

/** The output of the first start. Secrets are shown only on a terminal, because a journal would keep them. */
export interface FirstStart {
  /** Lines about the first key; [] if this start created none. */
  readonly key: readonly string[];
  /** Lines about the first owner; [] if this start created no account. */
  readonly owner: readonly string[];
}

/** `address` is that of the server. */
export async function firstStart(
  { config, firstKey, setUpSecret }: Platform,
  address: string,
): Promise<FirstStart> {
  const { setUpUrl } = await import('../../app/platform.ts');
  const inFile = firstKey && `in ${firstKey.path}`;
  const link = setUpSecret === undefined ? undefined : setUpUrl(config, address, setUpSecret);
  if (!process.stdout.isTTY) {
    return {
      key: inFile ? [inFile] : [],
      owner: link ? ['Make yourself the owner: payhook users setup-link prints a link that works once.'] : [],
    };
  }
  return {
    key: firstKey ? [firstKey.secret, `also ${inFile}`] : [],
    owner: link ? ['Make yourself the owner (this link works once, for 24 hours):', `  ${link}`] : [],
  };
}

/** The file of the first key; null if it no longer exists. */
export function firstKeyFile({ config }: Platform): string | null {
  const path = join(config.dataDir, 'first-api-key');
  return existsSync(path) ? path : null;
}
