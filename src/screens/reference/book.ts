import { type Description, nameOf, type Operation, type Schema, shapeOf } from './description.ts';
import { addressOf, SECTIONS, type Section } from './sections.ts';

/** Records that the overview explains for all sections. */
const COMMON_RECORDS = ['Pagination', 'Error'];

/** The description, laid out on pages. */
export interface Book {
  readonly description: Description;
  /** The address of the server, without a slash at the end. */
  readonly baseUrl: string;
  operationsOf(section: Section): readonly Operation[];
  /** The names of the records of a section, each before its variants. */
  recordsOf(section: Section): readonly string[];
  schemaOf(name: string): Schema;
  operation(id: string): Operation | undefined;
  /** Where a record or an operation is explained, seen from a page; null when nowhere. */
  linkTo(name: string, from: Section | null): string | null;
}

/** Lays a description out on the pages of the sections. */
export function bookOf(description: Description, baseUrl: string): Book {
  const { operations, schemas } = description;
  const sectionOf = (operation: Operation) => SECTIONS.find(({ tags }) => tags.includes(operation.tag));
  const operationsOf = (section: Section) => operations.filter(({ tag }) => section.tags.includes(tag));
  const homes = homesOf(operations, sectionOf);
  const recordsOf = (section: Section): string[] => {
    const roots = operationsOf(section).flatMap(rootsOf);
    const isHere = (name: string) =>
      !COMMON_RECORDS.includes(name) && (homes.get(name) ?? section) === section;
    const found = new Set<string>();
    const visit = (name: string) => {
      if (found.has(name) || !isHere(name)) return;
      found.add(name);
      for (const inner of namesIn(schemas[name] ?? {})) visit(inner);
    };
    for (const name of roots) visit(name);
    return basesFirst([...found]);
  };
  const records = new Map(SECTIONS.map((section) => [section, recordsOf(section)]));
  return {
    description,
    baseUrl,
    operationsOf,
    recordsOf: (section) => records.get(section) ?? [],
    schemaOf: (name) => schemas[name] ?? {},
    operation: (id) => operations.find((each) => each.id === id),
    linkTo(name, from) {
      const operation = operations.find(({ id }) => id === name);
      if (COMMON_RECORDS.includes(name)) return link(null, from, name === 'Error' ? 'errors' : 'pagination');
      const isHere = from !== null && (records.get(from) ?? []).includes(name);
      const home = operation ? sectionOf(operation) : isHere ? from : homes.get(name);
      return home ? link(home, from, name) : null;
    },
  };
}

function link(to: Section | null, from: Section | null, anchor: string): string {
  return to === from ? `#${anchor}` : `${addressOf(to)}#${anchor}`;
}

/** Records in their order, but each after those whose name is a part of its own: Payout before CompletedPayout. */
function basesFirst(names: readonly string[]): string[] {
  const ordered: string[] = [];
  const place = (name: string) => {
    if (ordered.includes(name)) return;
    for (const other of names) if (other !== name && name.includes(other)) place(other);
    ordered.push(name);
  };
  names.forEach(place);
  return ordered;
}

/** The section of each record that operations answer with: the one with the most of these operations. */
function homesOf(
  operations: readonly Operation[],
  sectionOf: (operation: Operation) => Section | undefined,
): Map<string, Section> {
  const uses = new Map<string, Map<Section, number>>();
  for (const operation of operations) {
    const section = sectionOf(operation);
    if (!section) continue;
    for (const name of rootsOf(operation)) {
      const counts = uses.get(name) ?? new Map<Section, number>();
      uses.set(name, counts.set(section, (counts.get(section) ?? 0) + 1));
    }
  }
  return new Map(
    [...uses].map(([name, counts]) => {
      const [home] = [...counts].reduce((best, each) => (each[1] > best[1] ? each : best));
      return [name, home];
    }),
  );
}

/** The records an operation answers with. */
function rootsOf({ answers }: Operation): string[] {
  const names = answers.flatMap((answer) => {
    const shape = shapeOf(answer);
    if (shape.kind === 'object') return namesIn(shape.schema);
    return 'name' in shape ? [shape.name] : [];
  });
  return [...new Set(names)];
}

/** The names a schema refers to, in their order. */
function namesIn(schema: Schema): string[] {
  const name = nameOf(schema);
  if (name !== null) return [name];
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  return inner.flatMap(namesIn);
}
