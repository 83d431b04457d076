import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aTrigger } from '../../src/sandbox/builders.js';
import { readOperationFiles } from '../../src/server/execution/operation-files.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

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

  async function visit(gw: TestGateway): Promise<Visit> {
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
    await page.goto(`${gw.url}/graphql`);
    await page.getByRole('tab').first().waitFor({ timeout: 120_000 });
    return { page, hosts, complaints };
  }

  async function run(page: Page, tab: string): Promise<void> {
    // A click while the tabs still slide into their places is taken for the start of a drag.
    const choose = async () => {
      await page.locator('.graphiql-tab-button', { hasText: new RegExp(`^${tab}$`) }).click();
      return page.locator('.graphiql-query-editor').textContent();
    };
    await expect.poll(choose, { timeout: 60_000, interval: 1_000 }).toContain(tab);
    await page.locator('.graphiql-execute-button').click();
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

  it('shows the next trigger over a WebSocket', async () => {
    await using gw = await startGateway({
      sandbox: { rateLimits: false },
      env: { TRIGGER_POLL_INTERVAL_MS: '250' },
    });
    const { page } = await visit(gw);
    const opened = page.waitForEvent('websocket', { timeout: 120_000 });
    await run(page, 'LiveTriggers');
    expect((await opened).url()).toBe(`${gw.url.replace('http', 'ws')}/graphql`);
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
    // Until the new tab is the one that is run.
    const again = async () => {
      await page.locator('.graphiql-execute-button').click();
      return answer(page).textContent();
    };
    await expect.poll(again, { timeout: 60_000, interval: 1_000 }).toContain('4403');
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
});
