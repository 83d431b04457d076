import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { addTrigger, polling, quick } from '../live/live-gateway.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type PageServer, startPageServer } from './page-server.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

if (noBrowser) console.warn(`Pages with less than a browser has: ${noBrowser}`);

/** Follows the triggers by a store in `localStorage`. */
const follow = (url: string, title = 'shown', document = 'LiveTriggersDocument') => `(async () => {
  const { LiveTriggersDocument, subscribeWithResume } = await import('seisgraph/client');
  const { parse } = await import('graphql');
  const other = parse('subscription ($after: String) { triggerChanges(after: $after) { cursor trigger { stationCode } } }');
  globalThis.${title} = [];
  const store = { get: () => null, set: (cursor) => localStorage.setItem('cursor', cursor) };
  const options = { url: ${JSON.stringify(url)}, transport: 'sse', store };
  (async () => {
    for await (const { data } of subscribeWithResume(${document}, options)) ${title}.push(data.triggerChanges.trigger.stationCode);
  })().catch((error) => ${title}.push(String(error)));
})()`;

describe.skipIf(noBrowser)(`a page that follows a feed${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    pages = await startPageServer();
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  async function openPage(): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(pages.origin);
    return page;
  }

  async function withGateway(test: (gw: TestGateway, sandbox: Sandbox) => Promise<void>): Promise<void> {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gw = await startGateway({ behind: sandbox, env: { ...quick, CORS_ORIGINS: '*' } });
    await test(gw, sandbox);
  }

  const showing = (page: Page | Frame, stations: readonly string[], title = 'shown') =>
    expect.poll(() => page.evaluate(title), { timeout: 30_000 }).toEqual(stations);

  it('goes on where its storage is full, and says once that its cursor is not stored', () =>
    withGateway(async (gw, sandbox) => {
      const page = await openPage();
      const warnings: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'warning') warnings.push(message.text());
      });
      await page.evaluate(`(() => {
        for (let size = 2 ** 22; size > 0; size = size >> 1) {
          try { for (;;) localStorage.setItem('filler' + Math.random(), 'x'.repeat(size)); } catch {}
        }
        try { for (;;) localStorage.setItem('y' + Math.random(), ''); } catch {}
      })()`);
      await page.evaluate(follow(`${gw.url}/graphql`));
      await polling(sandbox);
      for (const id of [1, 2, 3]) addTrigger(sandbox, { id, station: `T${id}` });
      await showing(page, ['T1', 'T2', 'T3']);
      await expect.poll(() => warnings.length).toBe(1);
      expect(warnings[0]).toMatch(/cursor .* not stored.*QuotaExceededError/);
      await page.close();
    }));

  it('in a sandboxed frame, which has no storage and no locks, has a connection of its own', () =>
    withGateway(async (gw, sandbox) => {
      const page = await openPage();
      await page.evaluate(`(() => {
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts';
        frame.src = '/';
        document.body.append(frame);
        return new Promise((resolve) => frame.addEventListener('load', resolve));
      })()`);
      const [, frame] = page.frames();
      if (!frame) throw new Error('There is no frame');
      expect(await frame.evaluate('origin')).toBe('null');
      await frame.evaluate(follow(`${gw.url}/graphql`));
      await polling(sandbox);
      for (const id of [1, 2]) addTrigger(sandbox, { id, station: `T${id}` });
      await showing(frame, ['T1', 'T2']);
      await page.close();
    }));

  it('without BroadcastChannel has a connection of its own', () =>
    withGateway(async (gw, sandbox) => {
      const tabs = [await openPage(), await openPage()];
      for (const tab of tabs) {
        await tab.evaluate('delete globalThis.BroadcastChannel');
        await tab.evaluate(follow(`${gw.url}/graphql`));
      }
      await polling(sandbox);
      addTrigger(sandbox, { id: 1, station: 'T1' });
      for (const tab of tabs) {
        await showing(tab, ['T1']);
        await tab.close();
      }
    }));

  it('with two documents has one connection for each, shared with its other tabs', () =>
    withGateway(async (gw, sandbox) => {
      const context = await browser.newContext();
      const tabs = [await context.newPage(), await context.newPage(), await context.newPage()];
      for (const tab of tabs) {
        await tab.goto(pages.origin);
        await tab.evaluate(follow(`${gw.url}/graphql`));
        await tab.evaluate(follow(`${gw.url}/graphql`, 'others', 'other'));
      }
      await polling(sandbox);
      addTrigger(sandbox, { id: 1, station: 'T1' });
      for (const tab of tabs) {
        await showing(tab, ['T1']);
        await showing(tab, ['T1'], 'others');
      }
      const { gateway } = await gw.query('{ gateway { feeds { subscriberCount } } }');
      expect(gateway.feeds[0].subscriberCount).toBe(2);
      await context.close();
    }));
});
