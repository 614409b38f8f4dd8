/** An instant as tables show it: `2026-09-15 08:30`, in UTC. */
export function shortTime(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}

/** An instant to the second: `2026-09-15 08:30:12`, in UTC. */
export function exactTime(instant: string): string {
  return instant.slice(0, 19).replace('T', ' ');
}
