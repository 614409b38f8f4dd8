import type { IconName } from '../parts/icon.tsx';

/** An entry of the command menu. */
export interface Found {
  readonly key: string;
  readonly title: string;
  readonly detail?: string;
  readonly icon: IconName;
  /** A path of the dashboard, with its search parameters. */
  readonly to?: string;
  /** What it does, if it is not a link. */
  readonly run?: () => void;
}
