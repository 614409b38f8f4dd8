import { Link } from '@tanstack/react-router';
import { Tabs } from '../../parts/page.tsx';
import { webhooks as texts } from '../../texts/webhooks.ts';

/** Tabs: endpoints, the log of all endpoints. */
export function Views() {
  return (
    <Tabs label={texts.title}>
      <Link to="/webhooks" activeOptions={{ exact: true, includeSearch: false }}>
        {texts.views.endpoints}
      </Link>
      <Link to="/webhooks/log" activeOptions={{ includeSearch: false }}>
        {texts.views.log}
      </Link>
    </Tabs>
  );
}
