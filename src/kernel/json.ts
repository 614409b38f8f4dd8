declare const json: unique symbol;
declare const record: unique symbol;

/** JSON text of something. */
export type SomeJson = string & { readonly [json]: true };

/**
 * JSON text of a value of type T. Records are built once, in SQL, and the same bytes serve the answer, the
 * stored idempotent reply and the event; the type says which schema they meet. A text of one type stands for no other,
 * be it of fewer fields or of more.
 */
export type Json<T> = SomeJson & { readonly [record]: (value: T) => T };

/** A text that was made of the parts of a T. */
const made = <T>(text: string) => text as Json<T>;

/** The JSON text of a plain value. The type is that of what the text is for, not of the value. */
export function toJson<T>(value: NoInfer<T>): Json<T> {
  return made(JSON.stringify(value));
}

/** The value of a JSON text. */
export function fromJson<T>(json: Json<T>): T {
  return JSON.parse(json) as T;
}

/** The text of each field of an object of type T. */
type Texts<T> = { readonly [Field in keyof T]: Json<Exclude<T[Field], undefined>> };

/**
 * An object with fields after its own. Neither its text nor theirs is read. In: an object with one field at least, and
 * the JSON of each field that it does not have.
 */
export function extended<From extends object, To extends From>(
  json: Json<From>,
  fields: Texts<Omit<NoInfer<To>, keyof From>>,
): Json<To> {
  const added = Object.entries<string>(fields).map(([name, text]) => `,${JSON.stringify(name)}:${text}`);
  return made(`${json.slice(0, -1)}${added.join('')}}`);
}

/** The array of JSON texts. */
export function arrayOf<T>(items: readonly Json<T>[]): Json<T[]> {
  return made(`[${items.join(',')}]`);
}
