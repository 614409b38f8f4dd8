import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { escapeHtml, escapeValue, PALETTE } from '../src/kernel/html.ts';
import { ICON } from '../src/screens/html/html.ts';
import { FIRST_VIEWS } from './app/first-views.ts';

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

/** The title of a screen where the shell shows it. The shell replaces it. */
const headOf = (title: string, lead: string): string =>
  '<div class="shell"><header class="side"><div class="side-top"></div></header><main><div class="page-head"><div>' +
  `<div class="page-title"><h1>${escapeHtml(title)}</h1></div><p class="soft">${escapeHtml(lead)}</p>` +
  '</div></div></main></div>';

/**
 * Writes `screens.json`: for each screen by its path, the elements that name its files and its first requests, and its title, so that the
 * server can add them to the page.
 */
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
        for (const other of chunk.imports) add(other, found);
        return found;
      };
      const index = readFileSync(join(dir, 'index.html'), 'utf8');
      const screens = readdirSync(`${HERE}screens`).flatMap((noun) => {
        const routes = readFileSync(`${HERE}screens/${noun}/routes.ts`, 'utf8');
        return [...routes.matchAll(ROUTE)].map(([, path = '', file]) => {
          const id = `/screens/${noun}/${file}`;
          const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(id));
          if (chunk === undefined) throw new Error(`no file was built for ${id}`);
          const { title, lead, reads = [] } = FIRST_VIEWS[path] ?? {};
          const files = [...add(chunk.fileName, new Set())].filter((name) => !index.includes(name));
          return [
            path,
            {
              files: files.map((name) => `<link rel="modulepreload" crossorigin href="/${name}">`).join(''),
              reads: reads
                .map((at) => `<link rel="preload" as="fetch" crossorigin href="${escapeValue(at)}">`)
                .join(''),
              head: title && lead ? headOf(title, lead) : '',
            },
          ];
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
    // a browser requests six files at a time: a first visit needs the entry, what screens share, the styles and its screen
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: `${HERE}index.html`, portal: `${HERE}portal.html` },
      // 'use client' in a library is for server rendering
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 3 }] } },
      checks: { pluginTimings: false },
    },
  },
  // for `npm run dev:dashboard`, next to a running server
  server: { proxy: { '^/(v2|sign-in|sign-out|account|docs|healthz)': 'http://127.0.0.1:3000' } },
});
