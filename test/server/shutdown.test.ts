import { describe, expect, it, vi } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

describe('leaving', () => {
  it('refuses what is new, on an old connection too', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', hang: true, times: 10 });
    await using socket = await openSocket(gw, { init: {} });
    const hanging = gw.queryWithErrors('{ project { name } }').catch(() => 'cut off');
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(1));
    const closing = gw.close(1_000);
    await expect(gw.fetch('/health')).rejects.toThrow();
    await expect(openSocket(gw)).rejects.toThrow();
    await closing;
    expect(await hanging).toBe('cut off');
    expect((await socket.closed).code).toBe(1012);
  });
});
