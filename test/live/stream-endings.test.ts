import { createClient } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aTrigger } from '../../src/sandbox/builders.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const dayMs = 86_400_000;
const query =
  'subscription ($after: String) { triggerChanges(after: $after) { cursor trigger { triggerId locationName } } }';

describe('a cursor of more than a week ago', () => {
  it('ends its subscription with CURSOR_EXPIRED, over a socket and over server-sent events', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false, world: emptyWorld() });
    const thenMs = Date.now() - 8 * dayMs;
    const { triggers } = sandbox.world.project;
    triggers.push(aTrigger({ id: 1, start_time: new Date(thenMs).toISOString() }));
    let after: string;
    {
      await using before = await startGateway({ behind: sandbox, clock: new ManualClock(thenMs) });
      after = (await before.query('{ triggers(first: 5) { changesCursor } }')).triggers.changesCursor;
    }
    triggers.push(aTrigger({ id: 2, start_time: new Date().toISOString() }));
    await using gw = await startGateway({ behind: sandbox, env: quick });
    const expired = { extensions: { code: 'CURSOR_EXPIRED', argument: 'after' } };

    await using socket = await openSocket(gw, { init: {} });
    socket.send({ id: 'live', type: 'subscribe', payload: { query } });
    socket.send({ id: 'old', type: 'subscribe', payload: { query, variables: { after } } });
    expect(await socket.next()).toMatchObject({ id: 'old', type: 'next', payload: { errors: [expired] } });
    expect(await socket.next()).toEqual({ id: 'old', type: 'complete' });

    expect(await toTheEnd(gw, after)).toMatchObject([{ errors: [expired] }]);

    addTrigger(sandbox, { id: 3 });
    expect(await socket.next()).toMatchObject({ id: 'live', type: 'next' });
  });
});

describe('a stream of server-sent events that is not read', () => {
  it('ends with an error once it is 1,000 behind, without a hole before it, and resumes', async () => {
    await using gw = await startGateway({
      env: { ...quick, TRIGGER_POLL_INTERVAL_MS: '2000' },
      sandbox: { rateLimits: false, world: emptyWorld() },
    });
    const response = await gw.fetch(`/graphql?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/event-stream' },
    });
    await polling(gw.sandbox);
    const count = 4_000;
    const location_name = 'x'.repeat(8_000);
    for (let id = 1; id <= count; id++) addTrigger(gw.sandbox, { id, location_name });
    await expect
      .poll(async () => (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0], {
        timeout: 120_000,
      })
      .toEqual({ subscriberCount: 0 });

    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('event: next'));
    const received = events.map((event) => JSON.parse(event.replace(/^.*\ndata: /, '')));
    expect(received.pop().errors).toMatchObject([{ extensions: { code: 'FELL_BEHIND', retryAfterS: 1 } }]);
    const changes = received.map(({ data }) => data.triggerChanges);
    const shown = changes.map(({ trigger }) => Number(trigger.triggerId));
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => index + 1));
    expect(shown.length).toBeLessThan(count - 1_000);

    await using socket = await openSocket(gw, { init: {} });
    const variables = { after: changes.at(-1)?.cursor ?? null };
    socket.send({ id: '1', type: 'subscribe', payload: { query, variables } });
    const resumed: number[] = [];
    for (let left = count - shown.length; left > 0; left--) {
      const { payload } = await socket.next();
      resumed.push(Number(payload.data.triggerChanges.trigger.triggerId));
    }
    // On a busy machine the feed has stopped meanwhile, and is read again: hundreds began in one millisecond, in any order.
    resumed.sort((one, other) => one - other);
    expect(resumed).toEqual(Array.from({ length: resumed.length }, (_, index) => shown.length + 1 + index));
  }, 180_000);
});

async function toTheEnd(gw: TestGateway, after: string): Promise<unknown[]> {
  const client = createClient({ url: `${gw.url}/graphql`, retryAttempts: 0 });
  const results: unknown[] = [];
  for await (const result of client.iterate({ query, variables: { after } })) results.push(result);
  client.dispose();
  return results;
}
