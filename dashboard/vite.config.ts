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
// for smaller files the header costs what compression saves
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

/** Writes each file also in Brotli and gzip, so that the server never compresses during a request. */
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

/** A route of a screen: its path, and the file that is loaded for it. */
const ROUTE = /path: '([^']+)'(?:(?!path: ).)*?import\('\.\/([^']+)'\)/gs;

/** Writes `screens.json`: the files of each screen by its path, so that the server can name them in the page. */
function screenFiles(): Plugin {
  return {
    name: 'screen-files',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const add = (name: string, found: Set<string>): Set<string> => {
        const chunk = chunks.find(({ fileName }) => fileName === name);
        if (chunk === undefined || found.has(name)) return found;
        found.add(name);
        for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
        for (const other of chunk.imports) add(other, found);
        return found;
      };
      const screens = readdirSync(`${HERE}screens`).flatMap((noun) => {
        const routes = readFileSync(`${HERE}screens/${noun}/routes.ts`, 'utf8');
        return [...routes.matchAll(ROUTE)].map(([, path, file]) => {
          const id = `/screens/${noun}/${file}`;
          const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(id));
          if (chunk === undefined) throw new Error(`no file was built for ${id}`);
          return [path, [...add(chunk.fileName, new Set())]];
        });
      });
      writeFileSync(join(dir, 'screens.json'), JSON.stringify(Object.fromEntries(screens)));
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
  plugins: [shared(), screenFiles(), compressed()],
  resolve: {
    // docs/decisions/0030: 7 kB instead of the 67 kB of react and react-dom
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
    // images stay separate files, which the content security policy allows
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: `${HERE}index.html`, portal: `${HERE}portal.html` },
      // 'use client' in a library is for server rendering
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
      // a browser loads a few larger files faster than many small ones, of which it requests six at a time
      output: {
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 5 }] },
      },
      checks: { pluginTimings: false },
    },
  },
  // for `npm run dev:dashboard`, next to a running server
  server: { proxy: { '^/(v2|sign-in|sign-out|account|docs|healthz)': 'http://127.0.0.1:3000' } },
});
