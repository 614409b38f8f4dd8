import type { Inspection } from '../../app/inspection.ts';

export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** A check of `payhook doctor`. */
export interface Check {
  readonly name: string;
  readonly status: Status;
  readonly detail: string;
  /** The findings of the check of table sizes. */
  readonly tables?: Inspection['largeTables'];
}

export const check = (name: string, status: Status, detail: string): Check => ({ name, status, detail });
export const verdict = (holds: boolean, otherwise: Status = 'failed'): Status => (holds ? 'ok' : otherwise);
