import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { addTrigger, polling, quick } from '../live/live-gateway.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type PageServer, startPageServer } from './page-server.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

if (noBrowser) console.warn(`Tabs of a browser: ${noBrowser}`);

describe.skipIf(noBrowser)(`tabs of one origin over SSE${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    pages = await startPageServer();
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  /** One tab that follows the triggers. */
  interface Tab {
    readonly page: Page;
    /** Streams that it has asked the gateway for. */
    readonly streamCount: () => number;
    readonly shown: () => Promise<string[]>;
  }

  async function openTab(context: BrowserContext, url: string, cursor: string | null = null): Promise<Tab> {
    const page = await context.newPage();
    let streamCount = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url() === url) streamCount++;
    });
    await page.goto(pages.origin);
    await page.evaluate(`(async () => {
      const { LiveTriggersDocument, subscribeWithResume } = await import('seisgraph/client');
      globalThis.shown = [];
      globalThis.cursors = [];
      const options = { url: ${JSON.stringify(url)}, transport: 'sse', cursor: ${JSON.stringify(cursor)} };
      (async () => {
        for await (const { data } of subscribeWithResume(LiveTriggersDocument, options)) {
          shown.push(data.triggerChanges.trigger.stationCode);
          cursors.push(data.triggerChanges.cursor);
        }
      })().catch((error) => shown.push(String(error)));
    })()`);
    return { page, streamCount: () => streamCount, shown: () => page.evaluate<string[]>('shown') };
  }

  const gatewayFor = (sandbox: Sandbox, port = '0') =>
    startGateway({ behind: sandbox, env: { ...quick, CORS_ORIGINS: pages.origin, PORT: port } });
  const subscribers = async (gw: TestGateway): Promise<number> =>
    (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0].subscriberCount;
  const showing = async (tabs: readonly Tab[], stations: readonly string[]) => {
    for (const { shown } of tabs) await expect.poll(shown, { timeout: 60_000 }).toEqual(stations);
  };
  const adding = (sandbox: Sandbox) => {
    let id = 0;
    return (station: string) => addTrigger(sandbox, { id: ++id, station });
  };

  it('have all changes over one connection, also when the tab that leads is closed', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gw = await gatewayFor(sandbox);
    const add = adding(sandbox);
    const context = await browser.newContext();
    let tabs: Tab[] = [];
    for (let n = 0; n < 7; n++) tabs.push(await openTab(context, `${gw.url}/graphql`));
    await polling(sandbox);
    add('T1');
    await showing(tabs, ['T1']);
    expect(await subscribers(gw)).toBe(1);
    expect(tabs.map(({ streamCount }) => streamCount()).sort()).toEqual([0, 0, 0, 0, 0, 0, 1]);
    const expected = ['T1'];
    for (const round of [2, 3]) {
      const leader = tabs.find(({ streamCount }) => streamCount() > 0);
      tabs = tabs.filter((tab) => tab !== leader);
      for (const station of [`T${round}a`, `T${round}b`, `T${round}c`]) {
        add(station);
        expected.push(station);
        if (station.endsWith('a')) await leader?.page.close();
      }
      await showing(tabs, expected);
      await expect.poll(() => subscribers(gw), { timeout: 20_000 }).toBe(1);
    }
    await context.close();
  });

  it('have each change once through a restart of the gateway', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const first = await gatewayFor(sandbox);
    const add = adding(sandbox);
    const context = await browser.newContext();
    const tabs = [];
    for (let n = 0; n < 3; n++) tabs.push(await openTab(context, `${first.url}/graphql`));
    await polling(sandbox);
    add('T1');
    await showing(tabs, ['T1']);
    await first.close();
    add('T2');
    await using second = await gatewayFor(sandbox, new URL(first.url).port);
    add('T3');
    await showing(tabs, ['T1', 'T2', 'T3']);
    await expect.poll(() => subscribers(second), { timeout: 20_000 }).toBe(1);
    await context.close();
  });

  it('that begin with an older cursor catch up by themselves, and then follow the others', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gw = await gatewayFor(sandbox);
    const add = adding(sandbox);
    const context = await browser.newContext();
    const leader = await openTab(context, `${gw.url}/graphql`);
    await polling(sandbox);
    for (const station of ['T1', 'T2', 'T3']) add(station);
    await showing([leader], ['T1', 'T2', 'T3']);
    const [cursor = null] = await leader.page.evaluate<string[]>('cursors');
    const late = await openTab(context, `${gw.url}/graphql`, cursor);
    await showing([late], ['T2', 'T3']);
    await expect.poll(() => subscribers(gw), { timeout: 20_000 }).toBe(1);
    expect([leader.streamCount(), late.streamCount()]).toEqual([1, 1]);
    add('T4');
    await showing([leader], ['T1', 'T2', 'T3', 'T4']);
    await showing([late], ['T2', 'T3', 'T4']);
    await leader.page.close();
    add('T5');
    await showing([late], ['T2', 'T3', 'T4', 'T5']);
    await context.close();
  });
});
