import { settings } from '../../texts/settings.ts';

/** The roles as choices, each with what it may. */
export const ROLES = (['owner', 'member', 'viewer'] as const).map((value) => ({
  value,
  label: settings.people.roles[value],
}));
