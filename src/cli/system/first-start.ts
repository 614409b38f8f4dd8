import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../../app/platform.ts';

/** What the very first start made, for people. Secrets are shown on a terminal only: a journal would keep them. */
export interface FirstStart {
  /** How the first key is told; [] when this start made none. */
  readonly key: readonly string[];
  /** How the first owner is made; [] when this start made no account. */
  readonly owner: readonly string[];
}

/** In: the platform; where its server is found; whether standard output is a terminal. */
export async function firstStart(
  { config, firstKey, setUpSecret }: Platform,
  address: string,
  isTerminal: boolean,
): Promise<FirstStart> {
  const { setUpUrl } = await import('../../app/platform.ts');
  const inFile = firstKey && `in ${firstKey.path}`;
  const link = setUpSecret === undefined ? undefined : setUpUrl(config, address, setUpSecret);
  if (!isTerminal) {
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

/** The file of the first key; null when it is no longer there. */
export function firstKeyFile({ config }: Platform): string | null {
  const path = join(config.dataDir, 'first-api-key');
  return existsSync(path) ? path : null;
}
