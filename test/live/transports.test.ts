import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { aTrigger } from '../../src/sandbox/builders.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const quick = {
  TRIGGER_POLL_INTERVAL_MS: '250',
  PROJECT_RATE_PER_MINUTE: '60000',
  PROJECT_RATE_BURST: '1000',
};
const changes =
  'subscription ($after: String) { triggerChanges(after: $after) { kind cursor replayed trigger { triggerId } } }';

describe('triggerChanges', () => {
  it('arrives over WebSocket and by server-sent events alike', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const socket = createClient({ url: `${gw.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket });
    const events = createSseClient({ url: `${gw.url}/graphql` });
    const bySocket = collect(socket.iterate({ query: changes }));
    const byEvents = collect(events.iterate({ query: changes }));
    await polled(gw);
    gw.sandbox.world.project.triggers.push(aTrigger({ id: 901, start_time: new Date().toISOString() }));
    await vi.waitFor(() => expect(bySocket).toHaveLength(1), 10_000);
    await vi.waitFor(() => expect(byEvents).toHaveLength(1), 10_000);
    expect(bySocket[0]).toEqual(byEvents[0]);
    expect(bySocket[0]).toMatchObject({
      data: { triggerChanges: { kind: 'CLOSED', trigger: { triggerId: '901' } } },
    });
    await socket.dispose();
    events.dispose();
  });
});

async function polled(gw: TestGateway): Promise<void> {
  await vi.waitFor(
    () => expect(gw.sandbox.seen('project', '/v1/triggers').length).toBeGreaterThan(1),
    10_000,
  );
}

function collect(iterator: AsyncIterable<unknown>): unknown[] {
  const got: unknown[] = [];
  void (async () => {
    for await (const result of iterator) got.push(result);
  })();
  return got;
}
