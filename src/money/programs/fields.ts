import { Type } from 'typebox';
import type { Fields } from '../../contract/fields.ts';
import { metadata, nullable, text, timestamp } from '../../contract/schemas.ts';

const holdDays = nullable(
  Type.Integer({ minimum: 0, maximum: 3650, description: "null = the account's hold" }),
);

/** The fields of a program, over `affiliate_programs g`: the only list of them. */
export const PROGRAM_FIELDS = {
  id: { schema: Type.Integer({ minimum: 1 }) },
  object: { schema: Type.Literal('affiliate_program'), column: "'affiliate_program'" },
  name: {
    schema: Type.String(),
    input: text(200),
    type: 'text',
    isRequired: true,
    label: 'Name',
    help: 'unique in the account',
    example: 'Creators',
    option: '--name <name>',
  },
  hold_days: {
    schema: holdDays,
    input: holdDays,
    type: 'integer',
    label: 'Hold',
    help: 'the days for which new commissions are on hold',
    example: 14,
    option: '--hold-days <days>',
    clearWord: 'account',
  },
  metadata: {
    schema: metadata,
    input: metadata,
    type: 'metadata',
    default: {},
    label: 'Metadata',
    example: { team: 'growth' },
    option: '--metadata <key=value>',
  },
  created_at: { schema: timestamp, column: 'iso(g.created_at)' },
  updated_at: { schema: timestamp, column: 'iso(g.updated_at)' },
} as const satisfies Fields;
