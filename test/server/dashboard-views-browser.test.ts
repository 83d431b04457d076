import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  aCatalogueEvent,
  aCatalogueSensor,
  aHealthReport,
  aNetwork,
  anEvent,
  aSensor,
  aTrigger,
} from '../../src/sandbox/builders.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { type BuiltDashboard, buildDashboard } from '../support/dashboard.js';
import { axeFaults, patience, visitDashboard } from '../support/dashboard-page.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startPrefixProxy } from '../support/prefix-proxy.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 });

if (noBrowser) console.warn(`The views of the dashboard in a browser: ${noBrowser}`);

describe.skipIf(noBrowser)(`the views of the dashboard${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  let built: BuiltDashboard;
  beforeAll(async () => {
    browser = await openBrowser();
    built = buildDashboard();
  });
  afterAll(async () => {
    await browser.close();
    built.remove();
  });

  const start = (world: World, more: { readonly project?: boolean } = {}): Promise<TestGateway> =>
    startGateway({
      sandbox: { rateLimits: false, world },
      env: { DASHBOARD: 'true', TRIGGER_POLL_INTERVAL_MS: '250', EVENT_POLL_INTERVAL_MS: '250' },
      dashboardFolder: built.folder,
      ...more,
    });

  async function pathOf(gw: TestGateway, kind: 'sensors' | 'events'): Promise<string> {
    const answer = await gw.query(`{ ${kind} { nodes { id } } }`);
    return `#/${kind === 'events' ? 'earthquakes' : kind}/${answer[kind].nodes[0].id}`;
  }

  const waveforms = (gw: TestGateway) => gw.sandbox.seen('catalogue', waveformPath).length;

  it('has an earthquake with the values of both interfaces, its recordings, and a record section', async () => {
    await using gw = await start(shakenWorld());
    const { page, complaints } = await visitDashboard(browser, gw.url, { hash: await pathOf(gw, 'events') });
    // Each waveform is a request, and the next is asked for once the one before has come.
    const status = page.getByRole('status').filter({ hasText: 'waveforms read' });
    await status.filter({ hasText: '3 of 3' }).waitFor(patience);
    expect(waveforms(gw)).toBe(3);
    const magnitudes = page.getByRole('row').filter({ hasText: 'Magnitude' });
    await magnitudes.filter({ hasText: '3.71' }).waitFor(patience);
    expect(await magnitudes.textContent()).toContain('3.40 ml ± 0.10');
    expect(await page.getByRole('row').filter({ hasText: 'Azimuthal gap' }).textContent()).toContain(
      'The project does not give this',
    );
    const plot = page.getByRole('img', { name: /^PGA against distance: 3 recordings/ });
    expect(await plot.locator('circle').count()).toBe(3);
    const section = page.getByRole('img', { name: /^Record section, HNZ/ });
    expect(await section.locator('path.trace-line').count()).toBe(3);
    expect(await section.locator('.wave-p path').count()).toBe(3);
    expect(await section.locator('.wave-s path').count()).toBe(3);
    const rows = page.getByLabel('Record section, table').getByRole('row');
    expect(await rows.allTextContents()).toEqual([
      expect.stringContaining('Greatest sample (counts)'),
      expect.stringMatching(/^NEAR.*km2\.50.*\d/),
      expect.stringMatching(/^MIDDLE.*km10\.00.*\d/),
      expect.stringMatching(/^FAR.*km25\.00.*\d/),
    ]);
    expect(await page.title()).toBe('M 3.4, 6km NNW of Testville · seisgraph');
    await expectForEveryone(page);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('says which waveforms wait, and shows those that have come', async () => {
    await using gw = await start(shakenWorld());
    const held = gw.sandbox.faults.add({ source: 'catalogue', path: waveformPath, after: 1, hang: true });
    const { page } = await visitDashboard(browser, gw.url, { hash: await pathOf(gw, 'events') });
    const status = page.getByRole('status').filter({ hasText: 'waveforms read' });
    await status.filter({ hasText: /1 of 3.*wait until the catalogue’s budget/ }).waitFor(patience);
    expect(await page.locator('path.trace-line').count()).toBe(1);
    expect(await page.getByRole('cell', { name: 'waits' }).count()).toBe(2);
    held.remove();
    await status.filter({ hasText: '3 of 3' }).waitFor(patience);
    await page.close();
  });

  it('says while the waves of an earthquake are on their way, and shows its waveforms then', async () => {
    await using gw = await start(shakenWorld());
    // By the clock of the page the last wave has yet to come.
    const { page } = await visitDashboard(browser, gw.url, {
      hash: await pathOf(gw, 'events'),
      prepare: (one) => one.clock.install({ time: originMs + 30_000 }),
    });
    const status = page.locator('section', { hasText: 'Record section' }).getByRole('status');
    await status.filter({ hasText: 'still on their way' }).waitFor(patience);
    expect(await page.getByRole('cell', { name: 'waits' }).count()).toBe(3);
    expect(waveforms(gw)).toBe(0);
    await page.clock.fastForward('01:00');
    await status.filter({ hasText: '3 of 3 waveforms read' }).waitFor(patience);
    expect(await page.locator('path.trace-line').count()).toBe(3);
    expect(waveforms(gw)).toBe(3);
    await page.close();
  });

  it('has a waveform down to single samples from one request, and its miniSEED', async () => {
    await using gw = await start(shakenWorld());
    const { page, complaints } = await visitDashboard(browser, gw.url, { hash: await pathOf(gw, 'sensors') });
    const plot = page.getByRole('application', { name: /^Waveform HNZ/ });
    await plot.waitFor(patience);
    expect(await page.locator('.zoomable circle.trace').count()).toBe(0);
    await plot.focus();
    for (let press = 0; press < 6; press++) await page.keyboard.press('+');
    await page.locator('.zoomable circle.trace').first().waitFor(patience);
    const table = page.getByText('Samples as a table');
    await table.click();
    const times = await page.getByLabel('Waveform, table').getByRole('rowheader').allTextContents();
    expect(times.length).toBeLessThan(200);
    // 100 samples a second.
    const [first = '', second = ''] = times.map((time) => `${time.replace(' ', 'T')}Z`);
    expect(Date.parse(second) - Date.parse(first)).toBe(10);
    expect(waveforms(gw)).toBe(1);
    await expectForEveryone(page);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as miniSEED' }).click();
    const file = await readFile(await (await download).path());
    // A record begins with its number and the quality of its data.
    expect(file.subarray(0, 8).toString('latin1')).toMatch(/^\d{6}[DRQM] $/);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows no distance, arrival or true position of masked sensors on any view', async () => {
    const world = shakenWorld();
    world.project.project.location_masked = true;
    await using gw = await start(world);
    const { page, received } = await visitDashboard(browser, gw.url, { hash: await pathOf(gw, 'events') });
    await page.getByText('there is no record section').waitFor(patience);
    await page.getByText('withheld (masked)').first().waitFor(patience);
    const texts = [await page.locator('body').textContent()];
    for (const hash of ['#/stations', await pathOf(gw, 'sensors')]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.locator('main h1').waitFor(patience);
      texts.push(await page.locator('body').textContent());
    }
    await page.getByRole('application', { name: /^Waveform HNZ/ }).waitFor(patience);
    texts.push(await page.locator('body').textContent());
    const all = [...texts, ...received].join('\n');
    expect(all).toContain('"masked":true');
    const { catalogue, project } = world;
    const secrets = [
      ...project.sensors.flatMap(({ location }) => [location?.latitude, location?.longitude, location?.name]),
      ...catalogue.events.flatMap(({ stations }) =>
        (stations ?? []).flatMap((arrival) => [arrival.distance_km, arrival.p_arrival, arrival.s_arrival]),
      ),
    ];
    expect(secrets).toHaveLength(18);
    for (const secret of secrets) expect(all).not.toContain(String(secret).replace(/Z$/, ''));
    await page.close();
  });

  it('resumes after an hour without network and asleep: each trigger of the hour once, and what happens then', async () => {
    const world = shakenWorld();
    await using gw = await start(world);
    await using proxy = await startPrefixProxy(gw.url, '/away');
    const { page } = await visitDashboard(browser, proxy.url, {
      prepare: (one) => one.clock.install({ time: new Date() }),
    });
    const listed = () =>
      page
        .locator('li[data-trigger]')
        .evaluateAll((rows) => rows.map((row) => row.querySelector('.row-text')?.textContent?.split(' ')[0]));
    await expect.poll(listed, patience).toEqual(['FAR', 'MIDDLE', 'NEAR']);
    proxy.cut();
    await page.locator('.connection.reconnecting').waitFor(patience);
    const missed = ['ONE', 'TWO', 'THREE'].map((station, i) =>
      aTrigger({ id: 100 + i, station, start_time: at(i), end_time: at(i + 0.5) }),
    );
    world.project.triggers.push(...missed);
    await page.clock.fastForward('01:00:00');
    await page.getByText(/as of 60 min ago \(stale\)/).waitFor(patience);
    proxy.mend();
    await page.locator('.connection.live').waitFor(patience);
    await expect.poll(listed, patience).toEqual(['THREE', 'TWO', 'ONE', 'FAR', 'MIDDLE', 'NEAR']);
    world.project.triggers.push(aTrigger({ id: 200, station: 'AFTER', start_time: at(5), end_time: at(6) }));
    await expect.poll(async () => (await listed())[0], patience).toBe('AFTER');
    expect(await listed()).toHaveLength(7);
    await page.close();
  });

  it('says what there is not: a view, a station, a hit of a search', async () => {
    await using gw = await start(shakenWorld());
    const { page } = await visitDashboard(browser, gw.url, { hash: '#/volcanoes' });
    const title = page.getByRole('heading', { name: 'There is no such view' });
    await title.waitFor(patience);
    for (const [hash, kind] of [
      ['#/stations/ZZZZ', 'station'],
      ['#/sensors/bm9uc2Vuc2U', 'station'],
      ['#/earthquakes/RXZlbnQ6cDpub25l', 'earthquake'],
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.getByRole('heading', { name: `There is no such ${kind}` }).waitFor(patience);
    }
    await page.getByRole('link', { name: 'Stations', exact: true }).click();
    await page.getByRole('searchbox').fill('nosuch');
    await page.getByText('No station matches “nosuch”').waitFor(patience);
    // A link to what is seen.
    expect(page.url()).toContain('#/stations?find=nosuch');
    expect(await page.title()).toBe('Stations · seisgraph');
    await expectForEveryone(page);
    await page.close();
  });

  it('says with the catalogue alone what comes from the project', async () => {
    await using gw = await start(shakenWorld(), { project: false });
    const { page } = await visitDashboard(browser, gw.url);
    await page.getByText('Triggers come from the project interface').waitFor(patience);
    expect(await page.getByText('NOT_CONFIGURED').count()).toBe(0);
    await page.evaluate(`location.hash = ${JSON.stringify(await pathOf(gw, 'events'))}`);
    await page.getByText('3 of 3 waveforms read').waitFor(patience);
    expect(await page.getByRole('row').filter({ hasText: 'Magnitude' }).textContent()).toContain(
      'The project does not know this earthquake',
    );
    await page.close();
  });

  it('has a link to the part of the map that is shown, and keys that move it', async () => {
    await using gw = await start(shakenWorld());
    const { page } = await visitDashboard(browser, gw.url);
    await page.locator('li[data-event]').first().waitFor(patience);
    await page.locator('.map-frame').focus();
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.url(), patience).toMatch(/#\/\?map=[\d.%C-]+$/);
    const link = page.url();
    const { page: other } = await visitDashboard(browser, gw.url, { hash: new URL(link).hash });
    await other.locator('li[data-event]').first().waitFor(patience);
    expect(other.url()).toBe(link);
    await other.keyboard.press('Tab');
    await page.locator('.map-frame').press('0');
    await expect.poll(() => page.url(), patience).not.toContain('map=');
    await page.close();
    await other.close();
  });

  it('is dragged with what lies on it, for the pointer too', async () => {
    const world = shakenWorld();
    await using gw = await start(world);
    const near = world.project.sensors.find(({ station }) => station === 'NEAR')?.location;
    const hash = `#/?map=${near?.latitude},${near?.longitude},20000`;
    const { page } = await visitDashboard(browser, gw.url, { hash });
    const frame = await page.locator('.map-frame').boundingBox();
    if (!frame) throw new Error('There is no map');
    const at = (right: number, down: number) =>
      [frame.x + frame.width / 2 + right, frame.y + frame.height / 2 + down] as const;
    const card = page.locator('.map-card', { hasText: 'NEAR' });
    const isNamed = async (right: number, down: number) => {
      await page.mouse.move(...at(right + 1, down));
      await page.mouse.move(...at(right, down));
      return card.isVisible();
    };
    await expect.poll(() => isNamed(0, 0), patience).toBe(true);
    await page.mouse.down();
    await page.mouse.move(...at(60, 40), { steps: 6 });
    await page.mouse.up();
    const shift = () => page.locator('.map-layers').evaluate((layers) => layers.style.transform);
    await expect.poll(shift, patience).toBe('translate(0px, 0px) scale(1)');
    expect(await isNamed(60, 40)).toBe(true);
    expect(await isNamed(0, 0)).toBe(false);
    await isNamed(60, 40);
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole('heading', { name: 'SX.NEAR' }).waitFor(patience);
    await page.close();
  });

  it('says the status in the words of the service, and by what the worst are first', async () => {
    const world = shakenWorld();
    Object.assign(world.project.sensors[0] ?? {}, { status: 'maintenance' });
    await using gw = await start(world);
    const { page } = await visitDashboard(browser, gw.url, { hash: '#/stations' });
    await page.getByRole('row').filter({ hasText: 'unknown status: maintenance' }).waitFor(patience);
    await page.getByText('offline stations, the longest silent on top').waitFor(patience);
    // All columns are in view.
    const widths = await page
      .getByLabel('Stations, table')
      .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    expect(widths[0]).toBe(widths[1]);
    await page.getByRole('link', { name: 'SX.FAR', exact: true }).click();
    await page.getByText('unknown status: maintenance', { exact: true }).waitFor(patience);
    await page.close();
  });

  it('marks all that an old report says of a silent station with its age, in the table and on its page', async () => {
    const world = shakenWorld();
    const silent = world.project.sensors[0];
    const last = new Date(Date.now() - 194 * 86_400_000).toISOString();
    Object.assign(silent ?? {}, { status: 'offline', last_seen: last });
    world.project.healthReports = { '001A2B3C4D50': [aHealthReport({ timestamp: last })] };
    await using gw = await start(world);
    const { page } = await visitDashboard(browser, gw.url, { hash: '#/stations' });
    const row = page.getByRole('row').filter({ hasText: 'SX.FAR' });
    await row.filter({ hasText: 'locked' }).waitFor(patience);
    // In the heading of the row, and so for each of its values; once.
    expect(await row.getByRole('rowheader').textContent()).toContain('report of 194 d ago');
    expect((await row.textContent())?.match(/report of/g)).toHaveLength(1);
    expect(await page.getByText('report of').count()).toBe(1);
    await row.getByRole('link', { name: 'SX.FAR', exact: true }).click();
    await page.getByText('Battery and signal are from a report of 194 d ago.').waitFor(patience);
    await expectForEveryone(page);
    await page.evaluate(`location.hash = '#/stations'`);
    await row.filter({ hasText: 'report of 194 d ago' }).waitFor(patience);
    await page.close();
  });

  it('keeps still for those who ask for it', async () => {
    const world = shakenWorld();
    world.project.triggers.push(aTrigger({ id: 9, status: 'open', end_time: null, start_time: at(0) }));
    await using gw = await start(world);
    const { page } = await visitDashboard(browser, gw.url, {
      prepare: (one) => one.emulateMedia({ reducedMotion: 'reduce' }),
    });
    await page.locator('li[data-status=OPEN]').waitFor(patience);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await expect.poll(() => page.evaluate('document.getAnimations().length'), patience).toBeGreaterThan(0);
    await page.close();
  });

  /** Nothing that axe finds, in either theme, and nothing wider than a telephone. */
  async function expectForEveryone(page: Page): Promise<void> {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(360);
    await page.setViewportSize({ width: 1_280, height: 800 });
  }
});

const waveformPath = /^\/v1\/sensors\/[^/]+\/data$/;

const originMs = Math.floor(Date.now() / 1_000) * 1_000 - 300_000;

/** Minutes after the earthquake of the world. */
const at = (minutes: number) => new Date(originMs + 60_000 + minutes * 30_000).toISOString();

/** An earthquake that both interfaces have, and three stations that recorded it. */
function shakenWorld(): World {
  const world = emptyWorld();
  const { project, catalogue } = world;
  catalogue.networks.push(aNetwork());
  const after = (s: number) => new Date(originMs + s * 1_000).toISOString();
  const stations = [
    { name: 'FAR', pS: 25, sS: 43.25, degreesAway: 1.3456 },
    { name: 'MIDDLE', pS: 10, sS: 17.5, degreesAway: 0.5432 },
    { name: 'NEAR', pS: 2.5, sS: 4.125, degreesAway: 0.1234 },
  ].map((one, i) => ({ ...one, id: `sen_${i}`, deviceId: `001A2B3C4D5${i}` }));
  for (const { name, id, deviceId, pS, degreesAway } of stations) {
    const place = { latitude: 34.1 + degreesAway, longitude: -118.3 - (i(deviceId) + 1) * 0.01237 };
    const location = { ...place, elevation_m: 93, name: `Secret vault ${name}` };
    const last_seen = new Date(Date.now() + 600_000).toISOString();
    project.sensors.push(aSensor({ device_id: deviceId, station: name, last_seen, location }));
    catalogue.sensors.push(
      aCatalogueSensor({
        id,
        serial_number: deviceId,
        station_code: name,
        location: { ...place, elevation: 93, site_name: `Secret vault ${name}` },
      }),
    );
    project.triggers.push(
      aTrigger({
        id: i(deviceId) + 1,
        device_id: deviceId,
        station: name,
        start_time: after(pS + 0.3),
        end_time: after(pS + 60),
        peak_time: after(pS + 12),
        pga_horizontal_mg: 40 / (1 + pS),
      }),
    );
  }
  project.healthReports = { '001A2B3C4D50': [aHealthReport({ timestamp: after(0) })] };
  const origin = {
    id: 'org_1',
    latitude: 34.1,
    longitude: -118.3,
    depth: 8.2,
    origin_time: originMs / 1_000,
    issued_at: originMs / 1_000 + 20,
  };
  project.events.push(
    anEvent({
      issued_at: after(20),
      magnitude: 3.71,
      origin,
      magnitudes: [{ origin_id: 'org_1', type: 'ml', value: 3.71 }],
    }),
  );
  catalogue.events.push(
    aCatalogueEvent({
      origin_time: after(0),
      magnitude: 3.4,
      stations: stations.map(({ name, pS, sS, degreesAway }) => ({
        station_code: name,
        distance_km: Math.round(degreesAway * 111_195) / 1_000,
        p_arrival: after(pS),
        s_arrival: after(sS),
      })),
    }),
  );
  const loudness = (index: number) => 1_000 * Math.sin(index / 5);
  catalogue.waveforms = {
    rateHz: 100,
    samples: (_sensor, _channel, first, count) =>
      Int32Array.from({ length: count }, (_, index) => loudness(first + index)),
  };
  return world;
}

const i = (deviceId: string) => Number(deviceId.at(-1));
