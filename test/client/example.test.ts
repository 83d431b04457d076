import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { addTrigger, polling, quick } from '../live/live-gateway.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { startGateway } from '../support/gateway.js';

it('the example of the client shows each trigger once, also after a reload of its page', async () => {
  const stored = new Map<string, string>();
  cleanUpAfterTests(async () => void vi.unstubAllGlobals());
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
  });
  const path = '../../examples/follow-triggers.js';
  const { followTriggers } = await import(path);
  await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
  const shown: string[] = [];
  const visit = () => {
    const page = new AbortController();
    const show = ({ trigger }: { trigger: { stationCode: string } }) => shown.push(trigger.stationCode);
    const left = followTriggers(gw.url, show, page.signal);
    return () => {
      page.abort();
      return left;
    };
  };

  const leave = visit();
  await polling(gw.sandbox);
  addTrigger(gw.sandbox, { id: 1, station: 'T1' });
  await expect.poll(() => [shown, stored.size], { timeout: 20_000 }).toEqual([['T1'], 1]);
  await leave();
  addTrigger(gw.sandbox, { id: 2, station: 'T2' });
  const leaveAgain = visit();
  await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['T1', 'T2']);
  await leaveAgain();
});

it('docs/frontends.md shows the example as it is', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const example = read('examples/follow-triggers.js');
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
  expect(read('docs/frontends.md')).toContain(`\`\`\`js\n${example}\`\`\``);
});
