import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { BackupError } from './errors.ts';

/** The format that this program writes, and the newest that it reads. */
export const FORMAT = 1;

const name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' });
const whole = Type.Integer({ minimum: 0 });
const digits = Type.String({ pattern: '^-?[0-9]{1,40}$' });
const nullableText = Type.Union([Type.String(), Type.Null()]);

/** The first entry of a backup, which identifies it before anything else is read. */
export const introduction = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  program: Type.String(),
});

/** The description of a backup, its last entry but one. */
export const manifest = Type.Object({
  format: Type.Literal(FORMAT),
  program: Type.String(),
  /** The number of the cell; backups from before there were cells have none, and are of cell 0. */
  cell: Type.Optional(whole),
  made_at: Type.String(),
  postgresql: Type.String(),
  compression: Type.Union([Type.Literal('gzip'), Type.Literal('zstd')]),
  /** The secret key that sealed its values; null = no server was ever started. */
  secret_key: Type.Object({ current: nullableText, next: nullableText, retired: nullableText }),
  /** The migrations that created its tables, oldest first. */
  migrations: Type.Array(Type.Object({ version: whole, name: Type.String(), checksum: Type.String() }), {
    minItems: 1,
  }),
  /** The first days of the weeks for which the log has partitions. */
  weeks: Type.Array(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT00:00:00\\.000Z$' })),
  tables: Type.Array(
    Type.Object({ name, columns: Type.Array(name, { minItems: 1 }), rows: whole, parts: whole }),
  ),
  sequences: Type.Array(Type.Object({ name, last_value: digits, is_called: Type.Boolean() })),
  sums: Type.Array(Type.Object({ of: Type.String(), currency: Type.String(), amount: digits })),
});
export type Manifest = Static<typeof manifest>;

/** Reads the introduction. Throws BackupError if there is none, or if a newer program made it. */
export function readIntroduction(file: string, text: string): void {
  const read = parsed(text);
  if (!Value.Check(introduction, read)) throw notOurs(file);
  if (read.format > FORMAT) {
    throw new BackupError(
      `${file} has format ${read.format}, which Payhook ${read.program} made; this program reads up to ${FORMAT}: ` +
        'restore it with the newer program',
    );
  }
}

/** Reads the manifest. Throws BackupError naming the first invalid field. */
export function readManifest(file: string, text: string): Manifest {
  const read = parsed(text);
  if (Value.Check(manifest, read)) return read;
  const [wrong] = Value.Errors(manifest, read);
  throw new BackupError(
    `the manifest of ${file} is wrong (${wrong?.instancePath ?? ''} ${wrong?.message ?? 'is no JSON'}): use another backup`,
  );
}

export const notOurs = (file: string) => new BackupError(`${file} is not a backup of Payhook`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
