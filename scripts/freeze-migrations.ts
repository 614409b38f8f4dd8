// Adds the checksums of migrations that are about to be released to migrations/checksums.json. Existing entries never
// change: the script fails when such a file has changed.
import { writeFileSync } from 'node:fs';
import { frozenChecksums, readMigrations } from '../src/db/migration-files.ts';

const frozen = frozenChecksums();
const all = Object.fromEntries(readMigrations().map(({ name, checksum }) => [name, checksum]));
writeFileSync(new URL('../migrations/checksums.json', import.meta.url), `${JSON.stringify(all, null, 2)}\n`);
const added = Object.keys(all).filter((name) => !(name in frozen));
console.log(added.length > 0 ? `frozen: ${added.join(', ')}` : 'nothing to freeze');
