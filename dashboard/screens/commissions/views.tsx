import { Link } from '@tanstack/react-router';
import { Tabs } from '../../parts/page.tsx';
import { commissions, refunds } from '../../texts/commissions.ts';

/** Tabs: commissions, refunds. */
export function Views() {
  return (
    <Tabs label={commissions.title}>
      <Link to="/commissions" activeOptions={{ exact: true, includeSearch: false }}>
        {commissions.title}
      </Link>
      <Link to="/commissions/refunds" activeOptions={{ includeSearch: false }}>
        {refunds.title}
      </Link>
    </Tabs>
  );
}
