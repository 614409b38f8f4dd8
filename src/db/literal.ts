/** A value as an SQL literal, since COPY takes no parameters: an id, a code, an instant. Throws for any other text. */
export function literal(value: string): string {
  if (!/^[\w:.-]+$/.test(value)) throw new Error('not a value for a statement');
  return `'${value}'`;
}
