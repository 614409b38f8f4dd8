import type { Database } from '../db/database.ts';
import { type AccountId, idOf } from '../kernel/ids.ts';
import { addUser } from '../people/users/service.ts';
import type { Platform } from './platform.ts';

/** An account to fill. */
export interface DemoAccount {
  readonly id: string;
  readonly uuid: AccountId;
  readonly name: string;
  readonly cell: number;
}

/** Fills an account with example data. */
export type FillDemo = (platform: Platform, account: DemoAccount) => Promise<void>;

/** Who becomes the owner of an account: a person (UUID) of a cell. */
interface Owner {
  readonly db: Database;
  readonly person: string;
  readonly name: string;
}

const NAME = 'Demo';

/** Creates demo accounts for the pages of a server, one at a time for each person. */
export function demosOf(platform: Platform, fill: FillDemo) {
  const inProgress = new Map<string, Promise<string>>();

  const create = async ({ db, person, name }: Owner) => {
    const { id: uuid, cell } = await platform.accounts.create(NAME, db.cell);
    const id = idOf('acc', uuid);
    try {
      await platform.accounts.markDemo(uuid);
      await fill(platform, { id, uuid, name: NAME, cell });
      // last, so that nobody works in half of it
      await db.transaction((tx) => addUser(tx, uuid, { person, name, role: 'owner', joined: true }));
      return id;
    } catch (error) {
      await platform.accounts.remove(uuid).catch(() => undefined);
      throw error;
    }
  };

  return {
    create(owner: Owner): Promise<string> {
      const creating =
        inProgress.get(owner.person) ?? create(owner).finally(() => inProgress.delete(owner.person));
      inProgress.set(owner.person, creating);
      return creating;
    },
    remove: platform.accounts.remove,
  };
}
