/** How values are parsed, whatever the field is called. */
export type FieldType =
  | 'text'
  | 'email'
  | 'id'
  | 'name'
  | 'word'
  | 'currency'
  | 'country'
  | 'money'
  | 'rate'
  | 'day'
  | 'time';

/** A field of a record that a column can provide. */
export interface Field {
  readonly type: FieldType;
  /**
   * The names in other products, most specific first: letters and digits only, in lower case. A field takes the first
   * of these that is a column; a column belongs to the first field that takes it.
   */
  readonly synonyms: readonly string[];
  /** The field's own name is ambiguous: a column with a more specific name wins. */
  readonly isVague?: true;
  /** A name alone guesses it only in a file that gives one of these fields too. */
  readonly goesWith?: readonly string[];
  /** Values in other products that mean one of ours. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
}
