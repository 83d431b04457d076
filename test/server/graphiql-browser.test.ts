import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aTrigger } from '../../src/sandbox/builders.js';
import { readOperationFiles } from '../../src/server/execution/operation-files.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startPrefixProxy } from '../support/prefix-proxy.js';

// 9 MB of editor take a while to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

if (noBrowser) console.warn(`GraphiQL in a browser: ${noBrowser}`);

describe.skipIf(noBrowser)(`GraphiQL in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  interface Visit {
    readonly page: Page;
    readonly hosts: Set<string>;
    readonly complaints: string[];
  }

  async function visit({ url: origin }: Pick<TestGateway, 'url'>, query = ''): Promise<Visit> {
    const page = await browser.newPage();
    const hosts = new Set<string>();
    const complaints: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http')) hosts.add(url.host);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${origin}/graphql${query && `?${new URLSearchParams({ query })}`}`);
    await page.getByRole('tab').first().waitFor({ timeout: 120_000 });
    return { page, hosts, complaints };
  }

  async function reload(page: Page): Promise<void> {
    await page.reload();
    await page.getByRole('tab').first().waitFor({ timeout: 120_000 });
  }

  /** Waits until the page stores its tabs. `waitForFunction` would evaluate a text, which the page's policy forbids. */
  const storing = (page: Page) =>
    expect
      .poll(() => page.evaluate<string[]>('Object.keys(localStorage)'), { timeout: 60_000 })
      .toContainEqual(expect.stringMatching(/tabState$/));

  const titles = (page: Page) => page.locator('.graphiql-tab-button').allTextContents();

  async function run(page: Page, tab: string): Promise<void> {
    await page.locator('.graphiql-tab-button', { hasText: new RegExp(`^${tab}$`) }).click();
    await expect
      .poll(() => page.locator('.graphiql-query-editor').textContent(), { timeout: 60_000 })
      .toContain(tab);
    await page.locator('.graphiql-execute-button').click();
  }

  /** A trigger of the sandbox arrives in the page, which has subscribed. */
  async function showTrigger(gw: TestGateway, page: Page): Promise<void> {
    await vi.waitFor(
      () => expect(gw.sandbox.seen('project', '/v1/triggers').length).toBeGreaterThan(1),
      30_000,
    );
    const { world } = gw.sandbox;
    world.project.triggers.push(
      aTrigger({
        id: 987_654,
        device_id: world.project.sensors[0]?.device_id ?? '',
        station: 'SHOWN',
        start_time: new Date().toISOString(),
        status: 'open',
        end_time: null,
      }),
    );
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('SHOWN');
  }

  async function typeHeaders(page: Page, headers: string): Promise<void> {
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').last().click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(headers);
  }

  const answer = (page: Page) => page.locator('.graphiql-response');

  it('has a tab for each ready operation, and runs one', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { page, hosts, complaints } = await visit(gw);
    expect(await page.getByRole('tab').count()).toBe(readOperationFiles().length);
    await run(page, 'Networks');
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"networks"');
    expect([...hosts]).toEqual([new URL(gw.url).host]);
    expect(complaints).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))).not.toMatch(
      /authorization/i,
    );
    await page.close();
  });

  it('asks for the waveform of a minute that is just past', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { page } = await visit(gw);
    await run(page, 'WaveformOfAMinute');
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"envelope"');
    const [asked] = gw.sandbox.seen('catalogue', /^\/v1\/sensors\/[^/]+\/data$/);
    const ageMs = Date.now() - Date.parse(asked?.query.end ?? '');
    expect(Math.round(ageMs / 60_000)).toBeLessThan(15);
    await page.close();
  });

  it('opens with Overview first and every tab in view, and after a reload with the same tabs', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { page } = await visit(gw);
    const opened = await titles(page);
    expect(opened[0]).toBe('Overview');
    const expectToFit = async (width: number, height: number) => {
      await page.setViewportSize({ width, height });
      const heightOfPage = () => page.evaluate('document.scrollingElement.scrollHeight');
      await expect.poll(heightOfPage, { timeout: 15_000 }).toBe(height);
      for (const tab of await page.locator('.graphiql-tab-button').all()) {
        const box = await tab.boundingBox();
        expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThan(width);
      }
    };
    await expectToFit(1_280, 800);
    await expectToFit(1_920, 1_080);
    await storing(page);
    await reload(page);
    expect(await titles(page)).toEqual(opened);
    await expectToFit(1_920, 1_080);
    await expectToFit(1_280, 800);
    await page.close();
  });

  it.each(['{', '[]', '{"tabs":[{"query":5}],"activeTabIndex":0}'])(
    'opens as at first when the browser has stored %s',
    async (entry) => {
      await using gw = await startGateway({ sandbox: { rateLimits: false } });
      const { page, complaints } = await visit(gw);
      const opened = await titles(page);
      await storing(page);
      await page.addInitScript(`
        const [own] = Object.keys(localStorage).filter((name) => name.endsWith('graphiql:tabState'));
        for (const prefix of ['graphiql:', own.slice(0, -'tabState'.length)]) {
          for (const name of ['tabState', 'theme', 'visiblePlugin', 'editorFlex']) {
            localStorage.setItem(prefix + name, ${JSON.stringify(entry)});
          }
        }
      `);
      await reload(page);
      expect(await titles(page)).toEqual(opened);
      await run(page, 'Networks');
      await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"networks"');
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  it('runs the operation of the tab that was chosen, however soon after', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { page } = await visit(gw);
    await page.evaluate(`
      [...document.querySelectorAll('.graphiql-tab-button')].find((tab) => tab.textContent === 'Networks').click();
      document.querySelector('.graphiql-execute-button').click();
    `);
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"networks"');
    await page.close();
  });

  it('leaves the choice of an operation to the server where a text has several', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { page } = await visit(gw);
    const send = (query: string, operationName?: string) =>
      page.evaluate(
        `Promise.resolve(gatewayFetcher(${JSON.stringify({ query, operationName })})).then((sent) => sent.subscribe ? 'socket' : JSON.stringify(sent))`,
      );
    const two = 'query A { a: __typename } query B { b: __typename }';
    expect(await send(two, 'Other')).toContain('Could not determine what operation');
    expect(await send(two)).toContain('Could not determine what operation');
    expect(await send(two, 'B')).toBe('{"data":{"b":"Query"}}');
    expect(await send('{ a: __typename }', 'Other')).toBe('{"data":{"a":"Query"}}');
    const withWords = `
      # subscription C { networks }
      fragment subscription on Query { a: __typename @include(if: true) }
      query query($subscription: String = "\\"} subscription D {") { ...subscription __type(name: $subscription) { name } }
    `;
    expect(await send(withWords, 'Other')).toContain('"a":"Query"');
    expect(await send(`${two} subscription C { triggers { id } }`, 'C')).toBe('socket');
    expect(await send('subscription { triggers { id } }', 'Other')).toBe('socket');
    await page.close();
  });

  it('works behind a proxy that serves it under a path of its own', async () => {
    await using gw = await startGateway({
      sandbox: { rateLimits: false },
      env: { TRIGGER_POLL_INTERVAL_MS: '250' },
    });
    await using proxy = await startPrefixProxy(gw.url, '/prefix');
    const { page, complaints } = await visit(proxy);
    await run(page, 'Networks');
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"networks"');
    await run(page, 'LiveTriggers');
    await showTrigger(gw, page);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows the next trigger over a WebSocket', async () => {
    await using gw = await startGateway({
      sandbox: { rateLimits: false },
      env: { TRIGGER_POLL_INTERVAL_MS: '250' },
    });
    const { page } = await visit(gw);
    const opened = page.waitForEvent('websocket', { timeout: 120_000 });
    await run(page, 'LiveTriggers');
    expect((await opened).url()).toBe(`${gw.url.replace('http', 'ws')}/graphql`);
    await showTrigger(gw, page);
    await page.close();
  });

  it('sends what the headers editor holds, over HTTP and over the socket, and keeps it nowhere', async () => {
    await using gw = await startGateway({
      sandbox: { rateLimits: false },
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-browser', TRIGGER_POLL_INTERVAL_MS: '250' },
    });
    const { page } = await visit(gw);
    await run(page, 'Networks');
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('UNAUTHENTICATED');
    await typeHeaders(page, '{"authorization": "Bearer token-of-the-browser"}');
    await page.locator('.graphiql-execute-button').click();
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('"networks"');
    await run(page, 'LiveTriggers');
    await expect.poll(() => answer(page).textContent(), { timeout: 60_000 }).toContain('4403');
    await typeHeaders(page, '{"Authorization": "Bearer token-of-the-browser"}');
    await page.locator('.graphiql-execute-button').click();
    await vi.waitFor(
      () => expect(gw.sandbox.seen('project', '/v1/triggers').length).toBeGreaterThan(1),
      30_000,
    );
    const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), location.href]));
    expect(kept).not.toContain('token-of-the-browser');
    await page.close();
  });

  it('shows a deferred answer that arrives in three parts, as each comes', async () => {
    const clock = new ManualClock();
    // One request every ten seconds.
    const env = { PROJECT_RATE_PER_MINUTE: '6', PROJECT_RATE_BURST: '1' };
    await using gw = await startGateway({ clock, catalogue: false, isAlone: true, env });
    await gw.query('{ sensors(first: 1) { nodes { stationCode } } }');
    const { page, complaints } = await visit(
      gw,
      `{ sensors(first: 1) { nodes { stationCode ...@defer { latestHealthReport { batteryVolts } } } }
      ...@defer { triggers(first: 1) { nodes { triggerId } } } }`,
    );
    const waiting = async () => {
      const metrics = await (await gw.fetch('/metrics')).text();
      return Number(/queued_requests\{[^}]*priority="query"\} (\d+)/.exec(metrics)?.[1]);
    };
    const shown = async () => (await answer(page).textContent())?.replace(/\s/g, '') ?? '';
    await page.locator('.graphiql-execute-button').click();
    await expect.poll(shown, { timeout: 60_000 }).toMatch(/stationCode/);
    expect(await shown()).not.toMatch(/latestHealthReport|triggerId/);
    await vi.waitFor(async () => expect(await waiting()).toBe(2));
    await clock.advance(11_000);
    await expect.poll(shown, { timeout: 60_000 }).toMatch(/latestHealthReport|triggerId/);
    expect(await shown()).not.toMatch(/latestHealthReport.*triggerId|triggerId.*latestHealthReport/);
    await clock.advance(11_000);
    await expect
      .poll(shown, { timeout: 60_000 })
      .toMatch(/"stationCode":"\w+","latestHealthReport":\{"batteryVolts":[\d.]+\}.*"triggerId"/);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
