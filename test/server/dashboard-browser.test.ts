import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aHealthReport, anEvent, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { type BuiltDashboard, buildDashboard } from '../support/dashboard.js';
import { axeFaults, patience, type Visit, visitDashboard } from '../support/dashboard-page.js';
import { environment, startGateway, type TestGateway } from '../support/gateway.js';
import { build, buildFolder, startProcess } from '../support/gateway-process.js';
import { startPrefixProxy } from '../support/prefix-proxy.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

if (noBrowser) console.warn(`The dashboard in a browser: ${noBrowser}`);

describe.skipIf(noBrowser)(`the dashboard in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  let built: BuiltDashboard;
  let removeBuild: () => void;
  beforeAll(async () => {
    browser = await openBrowser();
    removeBuild = build();
    // The process serves what lies beside it.
    built = buildDashboard(join(buildFolder, 'dashboard'));
  });
  afterAll(async () => {
    await browser.close();
    removeBuild();
  });

  const settings = {
    DASHBOARD: 'true',
    TRIGGER_POLL_INTERVAL_MS: '250',
    EVENT_POLL_INTERVAL_MS: '250',
  };
  const start = (world: World, env: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
    startGateway({
      sandbox: { rateLimits: false, world },
      env: { ...settings, ...env },
      dashboardFolder: built.folder,
    });

  const visit = (url: string): Promise<Visit> => visitDashboard(browser, url);

  /** The feeds poll, so that what is pushed now is a change. */
  async function untilItFollows(sandbox: Sandbox, page: Page): Promise<void> {
    await page.locator('h2', { hasText: 'Triggers' }).waitFor(patience);
    const seen = (path: string) => sandbox.seen('project', path).length;
    const before = [seen('/v1/triggers'), seen('/v1/events')] as const;
    await expect.poll(() => seen('/v1/triggers'), patience).toBeGreaterThan(before[0] + 2);
    await expect.poll(() => seen('/v1/events'), patience).toBeGreaterThan(before[1] + 2);
  }

  const states = (page: Page): Promise<string[][]> =>
    page
      .locator('li[data-trigger]')
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector('.row-text')?.textContent?.split(' ')[0] ?? '',
          row.getAttribute('data-status') ?? '',
        ]),
      );

  const open = (id: number, station: string) =>
    aTrigger({
      id,
      station,
      start_time: new Date().toISOString(),
      status: 'open',
      end_time: null,
    });

  it('shows a trigger from its opening to its end, and an earthquake, without a reload', async () => {
    const world = livelyWorld();
    await using gw = await start(world);
    const { page, hosts, complaints } = await visit(gw.url);
    await untilItFollows(gw.sandbox, page);
    const trigger = open(4_711, 'TEST');
    world.project.triggers.push(trigger);
    await expect.poll(() => states(page), patience).toEqual([['TEST', 'OPEN']]);
    Object.assign(trigger, { pga_horizontal_mg: 88, pgv_ehz_mm_s: 60 });
    await page.locator('li[data-trigger]', { hasText: 'growing' }).waitFor(patience);
    Object.assign(trigger, { status: 'closed', end_time: new Date().toISOString() });
    await expect.poll(() => states(page), patience).toEqual([['TEST', 'CLOSED']]);
    expect(await page.locator('li[data-trigger]').textContent()).toMatch(/strong.*88\smg/);
    world.project.events.push(
      anEvent({ id: 'eq_shown', magnitude: 4.4, issued_at: new Date().toISOString() }),
    );
    await page.locator('li[data-event]', { hasText: '4.4' }).waitFor(patience);
    expect([...hosts]).toEqual([new URL(gw.url).host]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('goes on without loss or repetition when the gateway is killed and started again', async () => {
    const world = livelyWorld();
    await using sandbox = await startSandbox({ rateLimits: false, live: false, world });
    const env = Object.fromEntries(
      Object.entries(environment(sandbox, { env: settings })).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const first = startProcess({ env });
    const url = await first.url;
    const { page } = await visit(url);
    await untilItFollows(sandbox, page);
    const before = open(1, 'TEST');
    world.project.triggers.push(before);
    await expect.poll(() => states(page), patience).toEqual([['TEST', 'OPEN']]);
    first.child.kill('SIGKILL');
    await first.exit;
    await page.locator('.connection.reconnecting').waitFor(patience);
    // What was shown stays, and is said to be old.
    expect(await states(page)).toEqual([['TEST', 'OPEN']]);
    Object.assign(before, { status: 'closed', end_time: new Date().toISOString() });
    world.project.triggers.push(open(2, 'TEST2'));
    await using _second = startProcess({ env: { ...env, PORT: new URL(url).port } });
    await page.locator('.connection.live').waitFor(patience);
    const meanwhile = [
      ['TEST2', 'OPEN'],
      ['TEST', 'CLOSED'],
    ];
    await expect.poll(() => states(page), patience).toEqual(meanwhile);
    world.project.triggers.push(open(3, 'TEST3'));
    await expect.poll(() => states(page), patience).toEqual([['TEST3', 'OPEN'], ...meanwhile]);
    await page.close();
  });

  it('says in plain words that it could not catch up, and has then what the lists have and no more', async () => {
    const before = livelyWorld();
    // Feeds are resumed for seven days.
    const clock = new ManualClock(Date.now() - 8 * 86_400_000);
    before.project.triggers.push({ ...open(1, 'GONE'), start_time: new Date(clock.wallMs()).toISOString() });
    const first = await startGateway({
      sandbox: { rateLimits: false, world: before },
      clock,
      env: settings,
      dashboardFolder: built.folder,
    });
    const { page } = await visit(first.url);
    await expect.poll(() => states(page), patience).toEqual([['GONE', 'OPEN']]);
    await first.close();
    await page.locator('.connection.reconnecting').waitFor(patience);
    await page.locator('li[data-trigger]', { hasText: /open, as of \d+ s ago/ }).waitFor(patience);
    await page.getByText(/of 1 stations online as of \d+ s ago/).waitFor(patience);
    expect(await axeFaults(page)).toEqual([]);
    const after = livelyWorld();
    after.project.triggers.push(open(2, 'NEW'));
    // Read at once, since it is there for a second or so.
    const told = page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const problem = document.querySelector('.problem[title=CURSOR_EXPIRED]');
        if (problem) resolve([problem.textContent, document.querySelector('.connection').className]);
        else setTimeout(look, 20);
      };
      look();
    })`);
    await using _second = await start(after, { PORT: new URL(first.url).port });
    expect(await told).toEqual([
      expect.stringMatching(
        /^⚠ More has happened than could be caught up on: the lists are being read anew\./,
      ),
      'connection reconnecting',
    ]);
    await expect.poll(() => states(page), patience).toEqual([['NEW', 'OPEN']]);
    await page.locator('.connection.live').waitFor(patience);
    expect(await page.getByText(/as of \d+ s ago/).count()).toBe(1);
    expect(await page.locator('.problem').count()).toBe(0);
    await page.close();
  });

  it('shows no true position of a masked sensor, on the page or in what it is sent', async () => {
    const world = livelyWorld();
    world.project.project.location_masked = true;
    await using gw = await start(world);
    const { page, received } = await visit(gw.url);
    await page.getByText('Location masking is on').waitFor(patience);
    const texts = [await page.locator('body').textContent()];
    await page.getByRole('link', { name: 'Stations', exact: true }).click();
    await page.getByRole('link', { name: 'SX.TEST', exact: true }).click();
    await page.getByText('withheld', { exact: true }).waitFor(patience);
    await page.getByText('State of health').waitFor(patience);
    texts.push(await page.locator('body').textContent());
    const all = [...texts, ...received].join('\n');
    expect(all).toContain('"masked":true');
    for (const secret of ['34.0567', '118.2543', 'Secret vault']) expect(all).not.toContain(secret);
    await page.close();
  });

  it('asks for a credential where the graph wants one, and keeps it nowhere', async () => {
    await using gw = await start(livelyWorld(), {
      AUTH_MODE: 'token',
      GATEWAY_TOKENS: 'token-of-the-dashboard',
    });
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(`${gw.url}/dashboard`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').filter({ hasText: 'Fill in one of the two' }).waitFor(patience);
    await page.getByLabel('Token').fill('not-the-token');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').filter({ hasText: 'did not accept this' }).waitFor(patience);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel('Token').fill('token-of-the-dashboard');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('.connection.live').waitFor(patience);
    await page.getByText('1 of 1 stations online').waitFor(patience);
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), location.href]),
    );
    expect(kept).not.toContain('token-of-the-dashboard');
    await page.close();
  });

  it('works behind a proxy that serves it under a path of its own', async () => {
    const world = livelyWorld();
    await using gw = await start(world);
    await using proxy = await startPrefixProxy(gw.url, '/prefix');
    const { page, complaints } = await visit(proxy.url);
    await untilItFollows(gw.sandbox, page);
    world.project.triggers.push(open(5, 'TEST'));
    await expect.poll(() => states(page), patience).toEqual([['TEST', 'OPEN']]);
    await page.goto(`${proxy.url}/dashboard`);
    await page.locator('.connection.live').waitFor(patience);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('has no fault that axe finds, in either language and theme, nor anything wider than a telephone', async () => {
    await using gw = await start(livelyWorld());
    const { page } = await visit(gw.url);
    await page.getByText('1 of 1 stations online').waitFor(patience);
    const views = ['#/', '#/stations', `#/sensors/${await idOfSensor(gw)}`];
    for (const [i, view] of views.entries()) {
      await page.emulateMedia({ colorScheme: i % 2 === 0 ? 'dark' : 'light' });
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
      await page.locator('main h1').waitFor(patience);
      expect(await axeFaults(page), view).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate('document.scrollingElement.scrollWidth'), view).toBe(360);
      await page.setViewportSize({ width: 1_280, height: 800 });
    }
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('link', { name: 'Stationen', exact: true }).waitFor(patience);
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
    await page.close();
  });

  async function idOfSensor(gw: TestGateway): Promise<string> {
    const { sensors } = await gw.query('{ sensors { nodes { id } } }');
    return sensors.nodes[0].id;
  }
});

/** One station with reports. */
function livelyWorld(): World {
  const world = emptyWorld();
  const now = Date.now();
  const sensor = aSensor({
    last_seen: new Date(now + 600_000).toISOString(),
    location: { latitude: 34.0567, longitude: -118.2543, elevation_m: 93, name: 'Secret vault' },
  });
  world.project.sensors.push(sensor);
  const reports = [2, 1].map((hours) =>
    aHealthReport({ timestamp: new Date(now - hours * 3_600_000).toISOString() }),
  );
  world.project.healthReports = { [sensor.device_id]: reports };
  return world;
}
