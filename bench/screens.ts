import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { publishAtRate } from './latency.ts';
import { alone, count, duration, type Group, median, type Result } from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';
import { makePastWeeks, seedLog, settleLog } from './seed-log.ts';

const PLACES = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const DAYS = 90;
const SPAN_MS = DAYS * 86_400_000;
const PASSWORD = 'nine measured teaspoons';
/** From the choice of a filter to its rows. */
const ROWS_GOAL_S = 0.2;
const LIVE_RATE = 1000;
/** A longer frame is visible. */
const TASK_GOAL_S = 0.1;
const LONG_TASK_MS = 50;

type Page = Awaited<ReturnType<typeof openLog>>['page'];

/** The log of an account in a browser: its rows by every filter, and while it grows. */
export const screens: Group = {
  name: 'screens',
  area: 'The delivery log in a browser, on this machine too',
  async *run({ logs, cheapRounds, loadSeconds }, note) {
    const executablePath = PLACES.find((path) => existsSync(path));
    if (executablePath === undefined) {
      note('no Chromium found: install it, or name it in CHROMIUM');
      return;
    }
    const rows = logs[2];
    const bench = await startBench({ ...LOOPBACK, WEBHOOK_RETENTION_DAYS: 'off' });
    await makePastWeeks(bench, Math.ceil(DAYS / 7) + 1);
    note(`seeding ${count(rows)}`);
    await seedLog(bench, { accounts: [bench.account], count: rows, ageMs: SPAN_MS, spanMs: SPAN_MS });
    await settleLog(bench.pg);
    const { page, close } = await openLog(bench, executablePath);
    const filters = await filtersOf(bench, rows);
    note('asking');
    for (const [what, query] of Object.entries(filters)) {
      const times: number[] = [];
      for (let round = 0; round < cheapRounds; round += 1) times.push(await secondsToRows(page, query));
      const time = median(times);
      yield {
        measure: `${what} of ${count(rows)}`,
        figure: duration(time),
        ...alone,
        goal: `≤ ${duration(ROWS_GOAL_S)}`,
        met: time <= ROWS_GOAL_S,
        samples: { seconds: times },
      };
    }
    note(`live, at ${LIVE_RATE} events a second`);
    yield await live(bench, page, loadSeconds * 4);
    await close();
    await bench.stop();
  },
};

/** A signed-in user at the log, which has no rows yet. */
async function openLog(bench: Bench, executablePath: string) {
  const email = 'ada@example.com';
  const body = { email, name: 'Ada', role: 'owner' };
  const { invitation_url } = JSON.parse(await bench.send('POST', '/v2/users', body)) as {
    invitation_url: string;
  };
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(bench.url + new URL(invitation_url).pathname + new URL(invitation_url).search);
  for (const field of await page.locator('input[type=password]').all()) await field.fill(PASSWORD);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.waitForURL((at) => at.pathname === '/');
  return { page, close: () => browser.close() };
}

/** The query of each filter, and of the last page, by what it shows. */
async function filtersOf(bench: Bench, rows: number): Promise<Record<string, string>> {
  const { data } = JSON.parse(await bench.send('GET', '/v2/webhook-events/?per_page=1')) as {
    data: { id: string; webhook_endpoint_id: string }[];
  };
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return {
    'the first page': '',
    'the last page': `page=${Math.ceil(rows / 25)}`,
    failed: 'status=failed',
    delivered: 'status=delivered',
    waiting: 'status=pending',
    'answered 5xx': 'answer=5xx',
    'answered 2xx': 'answer=2xx',
    'answered 500': 'code=500',
    'of an error': 'error=response_error',
    'of a rare type': 'type=payout.paid',
    'of a common type': 'type=order.created',
    'of an unknown type': 'type=order.lost',
    'an event': `id=${data[0]?.id}`,
    'an own id': 'own=order-4711',
    'of an endpoint': `endpoint=${data[0]?.webhook_endpoint_id}`,
    'of a week': `from=${day(50)}&until=${day(43)}`,
    'failed with 5xx, of a week': `status=failed&answer=5xx&from=${day(50)}&until=${day(43)}`,
  };
}

/** From the choice of a filter, on the open screen, to the frame with its rows. */
async function secondsToRows(page: Page, query: string): Promise<number> {
  // another log on a new page, so that nothing is cached
  await page.goto(new URL('/webhooks/log?type=none.yet', page.url()).href);
  await page.getByText('Nothing in the log matches these filters.').waitFor();
  const milliseconds = await page.evaluate<number>(`new Promise((done) => {
    const begun = performance.now();
    let asked = 0;
    new PerformanceObserver((all, observer) => {
      if (!all.getEntries().some(({ name }) => name.includes('/v2/webhook-events/?'))) return;
      observer.disconnect();
      const look = () => {
        const at = new URL(location.href).search;
        const isThere = at === ${JSON.stringify(query === '' ? '' : `?${query}`)};
        if (isThere && document.querySelector('main [aria-busy=true]') === null) done(performance.now() - begun);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }).observe({ type: 'resource' });
    history.pushState({}, '', '/webhooks/log${query === '' ? '' : `?${query}`}');
  })`);
  return milliseconds / 1000;
}

/** The longest task of the page while the log it shows live grows. */
async function live(bench: Bench, page: Page, time: number): Promise<Result> {
  const sink = await startReceiver();
  const type = 'order.live';
  await bench.send('POST', '/v2/webhook-endpoints', { url: `${sink.url}/live`, event_types: [type] });
  await page.goto(`${bench.url}/webhooks/log`);
  await page.locator('tbody a').first().waitFor();
  await page.evaluate(`
    window.tasks = [];
    new PerformanceObserver((all) => window.tasks.push(...all.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })`);
  await publishAtRate(bench, [type], LIVE_RATE, time);
  await page.getByRole('button', { name: / new$/ }).waitFor();
  await page.getByRole('button', { name: / new$/ }).click();
  await delay(500);
  const tasks = (await page.evaluate<number[]>('window.tasks')).map((each) => each / 1000);
  const longest = Math.max(0, ...tasks);
  return {
    measure: `the longest task while ${LIVE_RATE} events a second come in for ${duration(time)}`,
    figure: tasks.length === 0 ? `under ${LONG_TASK_MS} ms` : duration(longest),
    ...alone,
    goal: `≤ ${duration(TASK_GOAL_S)}`,
    met: longest <= TASK_GOAL_S,
    samples: { seconds: tasks },
  };
}
