import { settings } from '../../texts/settings.ts';

/** The roles as options, each with its permissions. */
export const ROLES = (['owner', 'member', 'viewer'] as const).map((value) => ({
  value,
  label: settings.people.roles[value],
}));
