import { type Browser, chromium } from 'playwright-core';
import { service } from './service.js';

// playwright-core brings no browser: the machine's own is used, where there is one.
const browser = service('Chromium', ['chromium', 'chromium-browser', 'google-chrome']);

/** Why tests that need a browser are left out; null where they run. */
export const noBrowser = browser.leftOut;

export function openBrowser(args: readonly string[] = []): Promise<Browser> {
  // Without its own sandbox, which needs rights that neither root nor a container has; it only opens our own page.
  return chromium.launch({ executablePath: browser.executable(), args: ['--no-sandbox', ...args] });
}
