declare const json: unique symbol;
declare const record: unique symbol;

/** JSON text of any value. */
export type SomeJson = string & { readonly [json]: true };

/**
 * JSON text of a value of type T. Records are built once, in SQL, and the same bytes are used for the response, the
 * stored idempotent reply and the event; the type says which schema they match. The type is invariant: a text of one
 * type is not assignable to another, whether it has more fields or fewer.
 */
export type Json<T> = SomeJson & { readonly [record]: (value: T) => T };

/** Brands a text that was assembled as JSON of a T. */
const made = <T>(text: string) => text as Json<T>;

/** The JSON text of a plain value. T is the type that the text is used as, not inferred from the value. */
export function toJson<T>(value: NoInfer<T>): Json<T> {
  return made(JSON.stringify(value));
}

/** The value of a JSON text. */
export function fromJson<T>(json: Json<T>): T {
  return JSON.parse(json) as T;
}

/** The JSON text of each field of an object of type T. */
type Texts<T> = { readonly [Field in keyof T]: Json<Exclude<T[Field], undefined>> };

/**
 * Appends fields to the JSON of an object, without parsing either. The object must have at least one field, and none of
 * the added ones.
 */
export function extended<From extends object, To extends From>(
  json: Json<From>,
  fields: Texts<Omit<NoInfer<To>, keyof From>>,
): Json<To> {
  const added = Object.entries<string>(fields).map(([name, text]) => `,${JSON.stringify(name)}:${text}`);
  return made(`${json.slice(0, -1)}${added.join('')}}`);
}

/** The JSON array of these texts. */
export function arrayOf<T>(items: readonly Json<T>[]): Json<T[]> {
  return made(`[${items.join(',')}]`);
}
