import { Link } from '@tanstack/react-router';
import type { PayoutSchedule } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { Name } from '../../parts/values.tsx';

/** The schedule whose last run made a payout; undefined while loading, and when there is none. */
export const usePreparedBy = (payout: string): PayoutSchedule | undefined =>
  useRead('listPayoutSchedules', { query: { per_page: 100 } }).data?.data.find(
    ({ last_run }) => last_run?.payout_id === payout,
  );

/** The schedule that prepared a payout. */
export function PreparedBy({ schedule: { id, name } }: { schedule: PayoutSchedule }) {
  return (
    <Link to="/payouts/schedules" search={{ open: id }}>
      <Name>{name}</Name>
    </Link>
  );
}
