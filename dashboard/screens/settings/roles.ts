import { optionsOf } from '../../parts/field.tsx';
import { settings } from '../../texts/settings.ts';

/** The roles as options, each with its permissions. */
export const ROLES = optionsOf(['owner', 'member', 'viewer'], settings.people.roles);
