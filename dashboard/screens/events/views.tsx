import { Link } from '@tanstack/react-router';
import { Tabs } from '../../parts/page.tsx';
import { events as texts } from '../../texts/events.ts';

/** Tabs: published events, event types. */
export function Views() {
  return (
    <Tabs label={texts.title}>
      <Link to="/events" activeOptions={{ exact: true, includeSearch: false }}>
        {texts.views.published}
      </Link>
      <Link to="/events/types" activeOptions={{ includeSearch: false }}>
        {texts.views.types}
      </Link>
    </Tabs>
  );
}
