import { raw } from 'sql-template-tag';
import { rows, type Tx } from './database.ts';

// a comment, a text, a body between dollar signs, or anything else up to the end of the statement
const TOKEN = /--.*|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|[^;'$-]+|[$-]/y;

/** The statements of a script, without their semicolons. Standard SQL and texts in dollar signs; no block comments. */
export function statementsOf(script: string): string[] {
  const found: string[] = [];
  let statement = '';
  for (let at = 0; at < script.length; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(script)?.[0];
    if (token === undefined) {
      found.push(statement);
      statement = '';
      at++;
    } else {
      if (!token.startsWith('--')) statement += token;
      at += token.length;
    }
  }
  return [...found, statement].map((each) => each.trim()).filter((each) => each !== '');
}

/**
 * Runs a script one statement after the other. Citus passes a change of tables on to its nodes as the text that was sent, so a
 * text of several statements fails there.
 */
export async function runScript(tx: Tx, script: string): Promise<void> {
  for (const statement of statementsOf(script)) await rows(tx, raw(statement));
}
