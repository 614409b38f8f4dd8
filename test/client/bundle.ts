import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { ROOT } from '../cli/support.ts';
import type { Package } from './drivers/driver.ts';

const ENTRY = "export * from 'payhook-client';\nexport * from 'payhook-client/webhooks';";

/**
 * A program with the built package, by default the package itself, as a script for browsers that sets `payhook`, or as a module.
 * Fails if it needs a module of Node.
 */
export async function bundleForBrowsers({
  contents = ENTRY,
  from = ROOT,
  format = 'iife',
}: {
  contents?: string;
  from?: string;
  format?: 'iife' | 'esm';
} = {}): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: from },
    ...{ bundle: true, write: false, platform: 'browser', format, globalName: 'payhook' },
  });
  return outputFiles[0]?.text ?? '';
}

/** Runs a bundle in a context with nothing of Node, only with what browsers and other runtimes share. */
export function inBareContext(bundle: string): Package {
  const context = createContext({
    ...{ fetch, crypto, performance, setTimeout, clearTimeout, atob, btoa },
    ...{ AbortController, AbortSignal, ReadableStream, TextDecoder, TextEncoder, URL, URLSearchParams },
  });
  return runInContext(`${bundle}\npayhook`, context) as Package;
}
