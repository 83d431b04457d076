import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

if (noBrowser) console.warn(`Pages of other origins in a browser: ${noBrowser}`);

const path = '/graphql?query={__typename}';

describe.skipIf(noBrowser)(`a page over plain http${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    // Every name is this machine, as after DNS rebinding. Chromium's own wall around local addresses is down: other
    // browsers have none.
    browser = await openBrowser([
      '--host-resolver-rules=MAP * 127.0.0.1',
      '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessForNavigations,BlockInsecurePrivateNetworkRequests',
    ]);
  });
  afterAll(() => browser.close());

  /** A page at this host, on the gateway's port. */
  async function pageAt(gw: TestGateway, host: string): Promise<{ page: Page; origin: string }> {
    const page = await browser.newPage();
    const origin = `http://${host}:${new URL(gw.url).port}`;
    await page.route(`${origin}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page</title>' }),
    );
    await page.goto(`${origin}/page`);
    return { page, origin };
  }

  it('reads nothing when its name was re-bound to this machine', async () => {
    await using gw = await startGateway();
    const { page, origin } = await pageAt(gw, 'evil.example');
    const sent = page.waitForRequest(`${origin}/metrics`);
    const statuses = await page.evaluate(
      (paths) => Promise.all(paths.map(async (each) => (await fetch(each)).status)),
      [path, '/ready', '/metrics', '/waveforms/x/HNZ.mseed', '/graphql'],
    );
    expect(statuses).toEqual([403, 403, 403, 403, 403]);
    // Nothing but the Host tells of it.
    const headers = await (await sent).allHeaders();
    expect([headers.origin, headers['sec-fetch-site']]).toEqual([undefined, undefined]);
  });

  it('cannot use the response to a request without CORS, even where it hides its Referer', async () => {
    await using gw = await startGateway();
    const { page } = await pageAt(gw, 'evil.example');
    // An address without Sec-Fetch headers, as http://192.168.1.5 is.
    const target = `http://seisgraph:${new URL(gw.url).port}`;
    const outcomes = await page.evaluate(
      (urls) =>
        Promise.all(
          urls.map((url) =>
            fetch(url, { mode: 'no-cors', referrerPolicy: 'no-referrer' }).then(
              ({ type }) => type,
              () => 'blocked',
            ),
          ),
        ),
      [path, '/ready', '/metrics', '/health', '/waveforms/x/HNZ.mseed'].map((each) => target + each),
    );
    expect(outcomes).toEqual(Array(5).fill('blocked'));
    // The gateway itself did answer: the browser keeps the response from the page.
    expect(gw.logLines.filter(({ msg }) => msg === 'Operation')).not.toEqual([]);
  });
});
