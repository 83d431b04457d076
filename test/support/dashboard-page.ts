import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';

/** Of a machine that runs other tests beside. */
export const patience = { timeout: 60_000 };

export interface Visit {
  readonly page: Page;
  readonly hosts: ReadonlySet<string>;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
  /** All that the page was sent: bodies and messages of sockets. */
  readonly received: readonly string[];
}

export interface VisitOptions {
  /** The view, as the address has it. */
  readonly hash?: string;
  /** Before the page is opened, for what has to be in it from the start. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** The dashboard in a page of its own, once it is connected. */
export async function visitDashboard(
  browser: Browser,
  url: string,
  { hash = '', prepare }: VisitOptions = {},
): Promise<Visit> {
  const page = await browser.newPage({ locale: 'en-GB' });
  const hosts = new Set<string>();
  const complaints: string[] = [];
  const received: string[] = [];
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  page.on('response', async (response) => received.push(await response.text().catch(() => '')));
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => received.push(String(payload)));
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await prepare?.(page);
  await page.goto(`${url}/dashboard/${hash}`);
  await page.locator('.connection.live').waitFor(patience);
  return { page, hosts, complaints, received };
}

/** Faults that axe finds, each with the elements it is of. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join()))',
  ) as Promise<string[]>;
}
