import type { Static } from 'typebox';
import { changeSchema, newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { strict } from '../../contract/schemas.ts';
import { PROGRAM_FIELDS } from './fields.ts';

/** The program record. */
export const program = strict(recordProperties(PROGRAM_FIELDS), { title: 'Program' });
export type Program = Static<typeof program>;

/** Its columns, over `affiliate_programs g`. */
export const record = columnsOf(program, recordColumns(PROGRAM_FIELDS, 'g'));

/** The input for a new program. */
export const newProgram = newSchema(PROGRAM_FIELDS);
export type NewProgram = Static<typeof newProgram>;
/** The input for changing a program. */
export const programChange = changeSchema(PROGRAM_FIELDS);
