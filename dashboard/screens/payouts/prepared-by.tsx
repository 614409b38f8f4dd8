import { Link } from '@tanstack/react-router';
import { useRead } from '../../data/queries.ts';
import { Name } from '../../parts/values.tsx';
import { schedules } from '../../texts/schedules.ts';

/** The schedule (its id) that prepared a payout. */
export function PreparedBy({ schedule }: { schedule: string }) {
  const { data, error } = useRead('getPayoutSchedule', { path: [schedule] });
  if (error?.status === 404) return <span className="soft">{schedules.deleted}</span>;
  return (
    <Link to="/payouts/schedules" search={{ open: schedule }}>
      <Name>{data?.name ?? schedule}</Name>
    </Link>
  );
}
