import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { PALETTE } from '../src/kernel/html.ts';
import { ICON } from '../src/screens/html/html.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const TOKENS = 'virtual:tokens.css';
const COMPRESSED = /\.(js|css|svg)$/;
// below it the header costs what it saves
const WORTH_BYTES = 600;

/** The colours and the icon of the pages that the server renders: one source for both. */
function shared(): Plugin {
  return {
    name: 'shared',
    resolveId: (id) => (id === TOKENS ? id : null),
    load: (id) => (id === TOKENS ? PALETTE : null),
    transformIndexHtml: (html) => html.replace('%icon%', ICON),
  };
}

/** Each file beside itself in Brotli and gzip, so that no server compresses while somebody waits. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const names = readdirSync(dir, { recursive: true }).map(String);
      await Promise.all(
        names.filter((name) => COMPRESSED.test(name)).map((name) => compress(join(dir, name))),
      );
    },
  };
}

async function compress(path: string): Promise<void> {
  const bytes = readFileSync(path);
  if (bytes.length < WORTH_BYTES) return;
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes));
  writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}

export default defineConfig({
  root: HERE,
  plugins: [shared(), compressed()],
  resolve: {
    // docs/decisions/0030: 7 kB for what takes react and react-dom 67
    alias: {
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react/jsx-dev-runtime': 'preact/jsx-runtime',
      'react-dom/client': 'preact/compat/client',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
    },
  },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // a picture in a file of its own, which the policy allows
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: `${HERE}index.html`, portal: `${HERE}portal.html` },
      // 'use client' in a library is for servers that render
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
      checks: { pluginTimings: false },
    },
  },
  // `npm run dev:dashboard` beside a running server
  server: { proxy: { '^/(v2|sign-in|sign-out|account|docs|healthz)': 'http://127.0.0.1:3000' } },
});
