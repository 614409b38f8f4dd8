import { type Static, Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import { ACTORS } from '../audit/record.ts';

export const MOST_ACTORS = 100;

const actor = strict(
  {
    kind: Type.Enum([...ACTORS], { title: 'ActorKind' }),
    id: Type.String({ examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    name: nullable(Type.String({ description: 'of a portal link: the owner of its endpoints' })),
  },
  { title: 'Actor' },
);
export type Actor = Static<typeof actor>;

export const actors = strict(
  { object: Type.Literal('actors'), actors: Type.Array(actor, { description: 'by id' }) },
  { title: 'Actors' },
);

export const actorsQuery = strict({
  ids: Type.String({
    minLength: 1,
    description: `ids from fields such as \`created_by\` and \`paid_by\`, separated by commas: at most ${MOST_ACTORS}`,
    examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e,key_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
  }),
});
