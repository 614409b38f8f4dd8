import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { metadata, nullable, strict, text, timestamp } from '../../contract/schemas.ts';

const holdDays = nullable(
  Type.Integer({ minimum: 0, maximum: 3650, description: "days on hold; null = the account's" }),
);

/** The program record. */
export const program = strict(
  {
    id: Type.Integer({ minimum: 1 }),
    object: Type.Literal('affiliate_program'),
    name: Type.String(),
    hold_days: holdDays,
    metadata,
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'Program' },
);
export type Program = Static<typeof program>;

/** Its columns, over `affiliate_programs g`. */
export const record = columnsOf(program, {
  id: 'g.id',
  object: "'affiliate_program'",
  name: 'g.name',
  hold_days: 'g.hold_days',
  metadata: 'g.metadata',
  created_at: 'iso(g.created_at)',
  updated_at: 'iso(g.updated_at)',
});

const optional = { hold_days: Type.Optional(holdDays), metadata: Type.Optional(metadata) };

/** The fields of a new program. */
export const newProgram = strict({ name: text(200), ...optional });
export type NewProgram = Static<typeof newProgram>;
/** The fields that may be changed. */
export const programChange = strict({ name: Type.Optional(text(200)), ...optional });
