import { createHash } from 'node:crypto';
import type { ClientCertificateInput, Egress } from '../egress/record.ts';
import { branchOf, type Connections } from './connections.ts';
import type { Dialing } from './dial.ts';

/** How requests leave for an endpoint that wants more than the usual way. */
export interface Way {
  /** The same for endpoints that may share connections, and for no others. */
  readonly key: string;
  readonly certificate: ClientCertificateInput | undefined;
}

/** The way of an endpoint, from what was sealed. */
export function wayOf({ certificate }: Egress): Way {
  const key = createHash('sha256')
    .update(JSON.stringify([certificate]))
    .digest('base64');
  return { key, certificate };
}

/** Ways whose connections are remembered when there is none at the moment: mostly sessions of TLS. */
const KEPT = 1000;

/** Creates what finds the connections of a way, among those of one sender; undefined = the usual way. */
export function createWays(main: Connections, dialing: Dialing): (way: Way | undefined) => Connections {
  const branches = new Map<string, Connections>();
  return (way) => {
    if (way === undefined) return main;
    const known = branches.get(way.key);
    if (known) return known;
    if (branches.size >= KEPT) forgetUnused(branches);
    const made = branchOf(main, { ...dialing, certificate: way.certificate });
    branches.set(way.key, made);
    return made;
  };
}

function forgetUnused(branches: Map<string, Connections>): void {
  for (const [key, { origins }] of branches) if (origins.size === 0) branches.delete(key);
}
