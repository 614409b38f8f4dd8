/** An instant as tables show it: `2026-09-15 08:30`, in UTC. */
export function shortTime(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}
