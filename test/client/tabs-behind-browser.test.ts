import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { noBrowser, openBrowser } from '../support/browser.js';
import { type PageServer, startPageServer } from './page-server.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 180_000 });

/** More than a tab holds, several times. */
const all = 4_000;
const inOrder = Array.from({ length: all }, (_, index) => index + 1);

// The feed of this page has changes that are numbered from 1. Each tab of the test is a loop of the same page, with what its
// consumer was shown, the positions at which it opened a connection, and the changes that these have delivered.
const script = `(async () => {
  const { acrossTabs } = await import('/client/resume/across-tabs.js');
  globalThis.count = 1;
  globalThis.tabs = {};
  const grown = () => new Promise((resolve) => setTimeout(resolve, 1));
  globalThis.openTab = (title) => {
    const tab = { shown: [], opened: [], delivered: 0, stall: () => (tab.taking = new Promise((resolve) => (tab.goOn = resolve))) };
    tabs[title] = tab;
    async function* open(from, signal) {
      tab.opened.push(Number(from));
      for (let position = Number(from) + 1; !signal.aborted; position++) {
        if (position % 50 === 0) await grown();
        while (position > count && !signal.aborted) await grown();
        if (signal.aborted) return;
        tab.delivered++;
        yield { after: String(position - 1), cursor: String(position), result: {} };
      }
    }
    (async () => {
      for await (const { cursor } of acrossTabs('a feed', '0', new AbortController().signal, open)) {
        tab.shown.push(Number(cursor));
        await tab.taking;
      }
    })();
    return tab;
  };
})()`;

describe.skipIf(noBrowser)(`a tab whose consumer is slow${noBrowser ? ` (${noBrowser})` : ''}`, () => {
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
    await page.evaluate(script);
    return page;
  }
  const showing = (page: Page, title: string, positions: readonly number[]) =>
    expect.poll(() => page.evaluate(`tabs.${title}.shown`), { timeout: 30_000 }).toEqual(positions);

  it('and that leads gives way to the others, holds no more than it may, and comes back', async () => {
    const page = await openPage();
    await page.evaluate(`openTab('slow').stall(), null`);
    await showing(page, 'slow', [1]);
    await page.evaluate(`openTab('quick'), null`);
    await showing(page, 'quick', [1]);
    await page.evaluate(`count = ${all}`);
    await showing(page, 'quick', inOrder);
    expect(await page.evaluate('tabs.slow.delivered')).toBeLessThan(1_100);
    await page.evaluate('tabs.slow.goOn()');
    await showing(page, 'slow', inOrder);
    await page.close();
  });

  it('and that follows leaves the others, and comes back behind the last change that it holds', async () => {
    const page = await openPage();
    await page.evaluate(`openTab('quick'), null`);
    await showing(page, 'quick', [1]);
    await page.evaluate(`openTab('slow').stall(), null`);
    await showing(page, 'slow', [1]);
    await page.evaluate(`tabs.slow.opened.length = 0, count = ${all}`);
    await showing(page, 'quick', inOrder);
    expect(await page.evaluate('tabs.quick.opened')).toEqual([0]);
    await page.evaluate('tabs.slow.goOn()');
    await showing(page, 'slow', inOrder);
    const [behind] = await page.evaluate<number[]>('tabs.slow.opened');
    expect(behind).toBeGreaterThan(900);
    expect(behind).toBeLessThan(1_100);
    await page.close();
  });

  it('and that catches up receives no more than its consumer takes', async () => {
    const page = await openPage();
    await page.evaluate(`count = ${all}, openTab('quick'), null`);
    await showing(page, 'quick', inOrder);
    await page.evaluate(`openTab('slow').stall(), null`);
    await showing(page, 'slow', [1]);
    await page.evaluate(`count++`);
    await showing(page, 'quick', [...inOrder, all + 1]);
    expect(await page.evaluate('tabs.slow.delivered')).toBeLessThanOrEqual(2);
    await page.evaluate('tabs.slow.goOn()');
    await showing(page, 'slow', [...inOrder, all + 1]);
    await page.close();
  });
});
