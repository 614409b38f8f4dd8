import type { Alternatives } from '../../contract/schemas.ts';

type Json = Record<string, unknown>;

interface Shape extends Json {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly 'x-alternatives': Alternatives;
}

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/**
 * The description with `oneOf` where the fields of an input exclude each other (`eitherOf`). The server checks the same
 * rules by its own code.
 */
export function withAlternatives(description: Json): Json {
  const { components, ...rest } = description as Json & {
    components: Json & { schemas: Record<string, Json> };
  };
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) =>
    schema['x-alternatives'] === undefined
      ? [[name, schema] as const]
      : alternativesOf(name, schema as Shape),
  );
  const sorted = schemas.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...rest, components: { ...components, schemas: Object.fromEntries(sorted) } };
}

/** More fields than these are a component of their own, which the alternatives extend. */
const FEW = 3;

/** The components of an input with alternatives: the choice, the alternatives and the fields that all of them have. */
function alternativesOf(name: string, shape: Shape): (readonly [name: string, schema: Json])[] {
  const { 'x-alternatives': choice, properties, required = [], additionalProperties, ...about } = shape;
  const { decidedBy, alternatives } = choice;
  const special = new Set([
    ...(decidedBy === undefined ? [] : [decidedBy]),
    ...alternatives.flatMap(({ needs = [], accepts = [] }) => [...needs, ...accepts]),
  ]);
  const shared = Object.keys(properties).filter((field) => !special.has(field));
  const sharedShape = objectOf(shape, shared);
  const isExtended = shared.length > FEW;
  const own = alternatives.map((one): [string, Json] => {
    const { title, needs = [], accepts = [], values } = one;
    const fields = [...new Set([...(values && decidedBy ? [decidedBy] : []), ...needs, ...accepts])];
    const given = objectOf(shape, isExtended ? fields : [...shared, ...fields], needs);
    const decided = decidedBy && values ? decidedTo(given, decidedBy, values) : given;
    if (!isExtended) return [title, { ...decided, additionalProperties: false }];
    return [title, { allOf: [reference(`${name}Fields`), decided], unevaluatedProperties: false }];
  });
  const isDecided = alternatives.every(
    ({ values, needs }) =>
      values?.length === 1 && (needs?.includes(decidedBy ?? '') || required.includes(decidedBy ?? '')),
  );
  const mapping = Object.fromEntries(
    alternatives.map(({ title, values = [] }) => [values[0], `#/components/schemas/${title}`]),
  );
  const { type: _, ...described } = about;
  return [
    [
      name,
      {
        ...described,
        oneOf: alternatives.map(({ title }) => reference(title)),
        ...(isDecided ? { discriminator: { propertyName: decidedBy, mapping } } : {}),
      },
    ],
    ...own,
    ...(isExtended ? [[`${name}Fields`, sharedShape] as const] : []),
  ];
}

/** The object with only these fields of another; `needs` are required in addition. */
function objectOf(
  { properties, required = [] }: Shape,
  fields: readonly string[],
  needs: readonly string[] = [],
) {
  const needed = fields.filter((field) => required.includes(field) || needs.includes(field));
  return {
    type: 'object',
    ...(needed.length === 0 ? {} : { required: needed }),
    properties: Object.fromEntries(fields.map((field) => [field, properties[field] ?? {}])),
  };
}

/** The object where the field that decides has one of these values. */
function decidedTo<Given extends { properties: Readonly<Record<string, Json>> }>(
  given: Given,
  field: string,
  values: readonly string[],
) {
  const { description } = given.properties[field] ?? {};
  const [value] = values;
  const rule = values.length === 1 ? { const: value } : { enum: values };
  const decided = { type: 'string', ...rule, ...(description === undefined ? {} : { description }) };
  return { ...given, properties: { ...given.properties, [field]: decided } };
}
