// Writes the pages of the reference into a folder, for build.mjs: rendering them while the server runs would stop all
// other requests for a second.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeInline } from '../src/http/openapi.ts';
import { ROUTES } from '../src/http/routes.ts';
import { pagesOf } from '../src/screens/reference/pages.ts';

const [folder = 'dist/reference'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const [name, page] of pagesOf(describeInline(ROUTES))) writeFileSync(join(folder, `${name}.html`), page);
