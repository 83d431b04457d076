import { readFileSync } from 'node:fs';
import { EventSource } from 'undici';
import { expect, it, vi } from 'vitest';
import { aTrigger } from '../../src/sandbox/builders.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { startGateway } from '../support/gateway.js';

it('the example for browsers shows each trigger once, over a restart of the gateway', async () => {
  const stored = new Map<string, string>();
  class Listed extends EventSource {
    #isClosed = false;

    constructor(url: string) {
      super(url);
      sources.push(this);
    }

    // As that of Node 20 does: an error of its own, from within `close`.
    override close(): void {
      if (this.#isClosed) return;
      this.#isClosed = true;
      super.close();
      this.dispatchEvent(new Event('error'));
    }

    leave(): void {
      this.#isClosed = true;
      super.close();
    }
  }
  const sources: Listed[] = [];
  // A page that is left closes them; here they would go on asking at a port that other files may get.
  cleanUpAfterTests(async () => {
    for (const source of sources) source.leave();
    vi.unstubAllGlobals();
    // Where the test has failed, the example may be about to try again.
    vi.stubGlobal('EventSource', class extends EventTarget {});
  });
  vi.stubGlobal('EventSource', Listed);
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
  });
  const path = '../../examples/live-triggers.js';
  const { watchTriggers } = await import(path);
  await using sandbox = await startSandbox({ live: false, rateLimits: false });
  const shown: string[] = [];
  const add = (id: number) =>
    sandbox.world.project.triggers.push(aTrigger({ id, start_time: new Date().toISOString() }));
  const polled = (times: number) =>
    vi.waitFor(() => expect(sandbox.seen('project', '/v1/triggers').length).toBeGreaterThan(times), 20_000);
  const env = {
    TRIGGER_POLL_INTERVAL_MS: '250',
    PROJECT_RATE_PER_MINUTE: '60000',
    PROJECT_RATE_BURST: '1000',
  };

  const first = await startGateway({ behind: sandbox, env });
  watchTriggers(first.url, ({ trigger }: { trigger: { triggerId: string } }) =>
    shown.push(trigger.triggerId),
  );
  await polled(1);
  for (const id of [1, 2]) add(id);
  await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['1', '2']);
  const port = new URL(first.url).port;
  await first.close();
  for (const id of [3, 4]) add(id);
  await using second = await startGateway({ behind: sandbox, env: { ...env, PORT: port } });
  await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['1', '2', '3', '4']);
  add(5);
  await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['1', '2', '3', '4', '5']);
  expect(second.url).toBe(first.url);
  // Before the gateway leaves: the example would try again.
  for (const source of sources) source.leave();
}, 60_000);

it('docs/frontends.md shows the example as it is', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  expect(read('docs/frontends.md')).toContain(`\`\`\`js\n${read('examples/live-triggers.js')}\`\`\``);
});
