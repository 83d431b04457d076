import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

// playwright-core brings no browser: the machine's own is used, where there is one.
const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => existsSync(file));

/** Why tests that need a browser are left out; null where they run. REQUIRE_SERVICES=1 makes leaving out a failure. */
export const noBrowser: string | null =
  executablePath || process.env.REQUIRE_SERVICES === '1' ? null : 'SKIPPED: there is no Chromium on the PATH';

export function openBrowser(): Promise<Browser> {
  if (!executablePath)
    throw new Error('There is no Chromium on the PATH, and REQUIRE_SERVICES=1 asks for one');
  // Without its own sandbox, which needs rights that neither root nor a container has; it only opens our own page.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
