import { expect, test } from 'vitest';
import { onStage } from './support.ts';

test('an endpoint whose URL was set in a portal gets nothing in networks that the operator allowed', () =>
  onStage({}, async ({ receiver, endpoint, publish, untilLog, change, world }) => {
    const at = await receiver();
    const made = await endpoint(at);
    await untilLog(made, await publish(), { status: 'delivered' });
    // as a portal stores it with a public name that its owner later points here
    await world.query('update webhook_endpoints set public_only = true where id = $1', [made.uuid]);
    const seen = await untilLog(made, await publish(), { last_error_code: 'address_blocked' });
    expect(seen.attempts).toMatchObject([{ response_status: null }]);
    expect(at.received).toHaveLength(1);
    // a URL that the account sets is its own again
    await change(made, { url: `${at.url}/again` });
    await untilLog(made, await publish(), { status: 'delivered' });
    expect(at.received).toHaveLength(2);
  }));
