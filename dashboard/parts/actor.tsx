import { useActor } from '../data/actors.ts';
import { useMe } from '../data/me.ts';
import { common } from '../texts/common.ts';
import { LineId, Name } from './values.tsx';

const texts = common.actors;

/** The author of a change: "You", a name, or the id if there is no name. The id is shown on hover. */
export function Actor({ id }: { id: string }) {
  const { data: me } = useMe();
  const actor = useActor(id);
  if (id === me?.id) return <span title={id}>{texts.you}</span>;
  if (id === 'operator') return <span>{texts.operator}</span>;
  if (actor === undefined) return <span className="bone" />;
  if (actor === null || actor.name === null) return <LineId>{id}</LineId>;
  const { kind, name } = actor;
  return (
    <span title={id}>
      <Name>{name}</Name>
      {kind !== 'user' && <span className="soft"> ({texts.kinds[kind]})</span>}
    </span>
  );
}
