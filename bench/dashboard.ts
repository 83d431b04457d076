import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { crowdedWorld } from '../src/sandbox/crowded-world.js';
import { startSandbox } from '../src/sandbox/server.js';
import { noBrowser, openBrowser } from '../test/support/browser.js';
import { startServer } from './child.js';
import { buildGateway, gateway } from './comparison/servers.js';
import { unlimitedIn } from './environment.js';
import { markdownTable } from './markdown.js';
import type { BenchOptions } from './options.js';
import { median, quantile } from './statistics.js';

/**
 * The dashboard in a browser: what a page weighs, when it is of use on a slow telephone, and how many frames a second the
 * map has with 10,000 stations and 5,000 earthquakes while it is dragged and zoomed.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  if (noBrowser) {
    console.log(noBrowser);
    return;
  }
  buildGateway();
  console.log(markdownTable(['what a page reads', 'KiB', 'KiB, Brotli'], sizes()));
  const browser = await openBrowser();
  try {
    console.log(`\n${await firstVisits(browser, quick ? 1 : 5)}\n`);
    console.log(await frames(browser, quick));
  } finally {
    await browser.close();
  }
}

function sizes(): readonly (readonly string[])[] {
  const folder = fileURLToPath(new URL('../dist/dashboard/', import.meta.url));
  const html = readFileSync(`${folder}index.html`, 'utf8');
  const rows = new Map<string, readonly [number, number]>();
  for (const file of readdirSync(`${folder}assets`)) {
    if (file.endsWith('.br')) continue;
    const isScript = file.endsWith('.js');
    const name = file.endsWith('.css') ? 'styles' : isScript ? 'script' : 'coasts and borders';
    const row = html.includes(file) ? name : `${name}, after the first paint`;
    const sizeOf = (path: string) => statSync(`${folder}assets/${path}`).size;
    const [bytes, sent] = rows.get(row) ?? [0, 0];
    rows.set(row, [bytes + sizeOf(file), sent + sizeOf(`${file}.br`)]);
  }
  const kib = (bytes: number) => (bytes / 1024).toFixed(0);
  return [...rows].map(([name, sizes]) => [name, ...sizes.map(kib)]);
}

// Lighthouse's telephone on 4G: a processor of a quarter of this speed, 1.6 Mbit/s, 150 ms there and back.
const slow = { processor: 4, bytesPerS: (1.6 * 1024 * 1024) / 8, latencyMs: 150 };
const fast = { processor: 1, bytesPerS: -1, latencyMs: 0 };

async function firstVisits(browser: Browser, rounds: number): Promise<string> {
  // As `npm start` has it, but for the port: that of a sandbox within the process could be taken for the gateway's.
  await using sandbox = await startSandbox();
  const env = { ...unlimitedIn(sandbox), LOG_LEVEL: 'error', DASHBOARD: 'true' };
  await using server = await startServer({ ...gateway, env });
  const rows: string[][] = [];
  for (const [name, conditions] of [
    ['this machine', fast],
    ['a telephone on 4G', slow],
  ] as const) {
    const visits: Visit[] = [];
    for (let round = 0; round < rounds; round++)
      visits.push(await firstVisit(browser, server.url, conditions));
    const of = (key: keyof Visit) => String(Math.round(median(visits.map((visit) => visit[key]))));
    rows.push([name, of('paintedMs'), of('interactiveMs'), of('listsMs'), of('busyMs')]);
  }
  const columns = ['first visit, ms', 'first paint', 'interactive', 'with both lists', 'longest task'];
  return markdownTable(columns, rows);
}

interface Visit {
  readonly paintedMs: number;
  /** The view is there, others can be opened, and the page answers within a frame, as in the two frames after it. */
  readonly interactiveMs: number;
  /** What the gateway, which has read nothing before the first visit, knows is on the screen. */
  readonly listsMs: number;
  readonly busyMs: number;
}

async function firstVisit(
  browser: Browser,
  url: string,
  { processor, bytesPerS, latencyMs }: typeof slow,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 412, height: 915 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: processor });
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: bytesPerS,
    uploadThroughput: bytesPerS,
  });
  // A new window of Chromium reads a hundred files of its own at first. A visitor has it open already.
  await page.waitForTimeout(2_000);
  await page.goto(`${url}/dashboard/`, { waitUntil: 'commit' });
  const visit = (await page.evaluate(`new Promise((resolve) => {
    let busyMs = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) busyMs = Math.max(busyMs, duration);
    }).observe({ type: 'longtask', buffered: true });
    let interactiveMs = null;
    const isFree = () => new Promise((free) => requestAnimationFrame(() => setTimeout(free)));
    const answers = async () => {
      let at = performance.now();
      let first = null;
      for (let frames = 0; frames < 3; frames++) {
        const before = at;
        await isFree();
        at = performance.now();
        if (at - before > 50) [frames, first] = [-1, null];
        else first ??= at;
      }
      return first;
    };
    const look = async () => {
      const paint = performance.getEntriesByName('first-contentful-paint')[0];
      if (!paint || !document.querySelector('nav a') || !document.querySelector('main h2')) {
        return requestAnimationFrame(look);
      }
      interactiveMs ??= await answers();
      if (!document.querySelector('li[data-event]') || !document.querySelector('li[data-trigger]')) {
        return requestAnimationFrame(look);
      }
      await isFree();
      resolve({ paintedMs: paint.startTime, interactiveMs, listsMs: performance.now(), busyMs });
    };
    look();
  })`)) as Visit;
  await context.close();
  return visit;
}

async function frames(browser: Browser, quick: boolean): Promise<string> {
  const { sensors, events } = quick ? { sensors: 600, events: 200 } : { sensors: 10_000, events: 5_000 };
  const world = crowdedWorld({ nowMs: Date.now(), sensors, events });
  await using sandbox = await startSandbox({ world, live: false, rateLimits: false });
  const env = { ...unlimitedIn(sandbox), LOG_LEVEL: 'error', DASHBOARD: 'true' };
  const rows: string[][] = [];
  await using server = await startServer({ ...gateway, env });
  for (const [name, viewport] of [
    ['1280 × 800', { width: 1_280, height: 800 }],
    ['3840 × 2160', { width: 3_840, height: 2_160 }],
  ] as const) {
    const page = await browser.newPage({ viewport });
    await page.goto(`${server.url}/dashboard/`);
    const all = `${sensors} stations, ${events} earthquakes`;
    await page.locator(`.map-frame[aria-label*="${all}"]`).waitFor({ timeout: 600_000 });
    const devtools = await page.context().newCDPSession(page);
    // Time that the thread had a processor: what it waits for other programs is not in it.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const threadMs = async () => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return 1_000 * (metrics.find((one) => one.name === 'TaskDuration')?.value ?? Number.NaN);
    };
    for (const [motion, move] of Object.entries(motions)) {
      const before = await threadMs();
      const ms = await frameTimes(page, quick ? 1_000 : 6_000, move);
      const busyMs = ((await threadMs()) - before) / ms.length;
      const perSecond = (1_000 * ms.length) / ms.reduce((sum, one) => sum + one, 0);
      const figures = [busyMs, perSecond, median(ms), quantile(ms, 0.95)].map((value) => value.toFixed(1));
      rows.push([`${name}, ${motion}`, ...figures]);
    }
    await page.close();
  }
  const columns = [
    `map of ${sensors} stations and ${events} earthquakes`,
    'thread ms/frame',
    'frames/s',
    'p50 ms',
    'p95 ms',
  ];
  return markdownTable(columns, rows);
}

// Events of the page itself, one each frame: those of a driver come when they come.
const motions = {
  dragged: `(frame, i) => {
    const at = { pointerId: 1, clientX: 400 + 200 * Math.sin(i / 40), clientY: 400 + 100 * Math.cos(i / 40), bubbles: true, buttons: 1 };
    if (i === 0) frame.setPointerCapture = () => {};
    if (i === 0) frame.dispatchEvent(new PointerEvent('pointerdown', at));
    frame.dispatchEvent(new PointerEvent('pointermove', at));
  }`,
  zoomed: `(frame, i) => {
    if (i === 0) frame.dispatchEvent(new PointerEvent('pointerup', { pointerId: 1, bubbles: true }));
    const deltaY = 12 * (i % 120 < 60 ? -1 : 1);
    frame.dispatchEvent(new WheelEvent('wheel', { deltaY, clientX: 500, clientY: 400, bubbles: true, cancelable: true }));
  }`,
};

function frameTimes(page: Page, forMs: number, move: string): Promise<number[]> {
  return page.evaluate(`new Promise((resolve) => {
    const frame = document.querySelector('.map-frame');
    const move = ${move};
    const times = [];
    let before = null;
    const start = performance.now();
    const next = (now) => {
      if (before !== null) times.push(now - before);
      before = now;
      if (now - start > ${forMs}) return resolve(times.slice(1));
      move(frame, times.length);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`) as Promise<number[]>;
}
