import { describe, expect, it, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const lineOf = (gw: TestGateway, operation: string) =>
  gw.logLines.find((line) => line.msg === 'Operation' && line.operation === operation);

describe('the log', () => {
  it('has one line for each operation, with what upstream calls its requests', async () => {
    await using gw = await startGateway();
    const requestIds: string[] = [];
    gw.sandbox.faults.add({
      source: 'catalogue',
      times: 99,
      rewrite(body) {
        requestIds.push((body as { meta: { request_id: string } }).meta.request_id);
        return body;
      },
    });
    gw.sandbox.faults.add({ source: 'project', times: 99, headers: { 'x-request-id': 'req-of-project' } });
    const answer = await gw.queryWithErrors(
      'query Joined { project { name } networks { name } }',
      {},
      {
        headers: { 'x-upstream-cost': '1' },
      },
    );
    const line = lineOf(gw, 'Joined');
    expect(line).toMatchObject({
      level: 'info',
      id: answer.headers.get('x-request-id'),
      kind: 'query',
      status: 200,
      upstreamRequests: 2,
    });
    expect(line?.durationMs).toBeTypeOf('number');
    expect(requestIds).toHaveLength(1);
    expect(line?.upstreamRequestIds).toEqual(expect.arrayContaining([...requestIds, 'req-of-project']));
    expect(Object.keys(answer.extensions.upstream)).not.toContain('requestIds');
  });

  it('names the error that ends a stream which has begun', async () => {
    const sent = ['AsEvents', 'OverSocket'];
    await using gw = await startGateway({ env: { AUTH_MODE: 'passthrough' } });
    const authorization = `Bearer ${gw.sandbox.projectKey}`;
    const query = (name: string) => `subscription ${name} { triggerChanges { kind } }`;
    gw.sandbox.faults.add({ source: 'project', path: /triggers/, status: 403, times: 100 });
    const stream = await openEventStream(gw, query('AsEvents'), { headers: { authorization } });
    await using socket = await openSocket(gw, { init: { authorization } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: query('OverSocket') } });
    await stream.ended;
    for (const name of sent) {
      await vi.waitFor(() => expect(lineOf(gw, name)).toMatchObject({ errors: ['FORBIDDEN'] }), {
        timeout: 15_000,
      });
    }
  });

  it('joins what failed upstream as well, and nothing that is no identifier', async () => {
    await using gw = await startGateway();
    const { projectKey } = gw.sandbox;
    gw.sandbox.faults.add({
      source: 'project',
      times: 99,
      headers: { 'x-request-id': `Bearer ${projectKey}` },
    });
    gw.sandbox.faults.add({
      source: 'catalogue',
      status: 403,
      times: 99,
      body: JSON.stringify({ error: { code: 'no' }, meta: { request_id: 'req-that-failed' } }),
    });
    await gw.queryWithErrors('query Failed { project { name } networks { name } }');
    expect(lineOf(gw, 'Failed')).toMatchObject({
      errors: ['FORBIDDEN'],
      upstreamRequestIds: ['req-that-failed'],
    });
    expect(gw.logText).not.toContain(projectKey);
  });

  it('calls no answer a success whose client went away before it, on either road', async () => {
    await using gw = await startGateway();
    const { remove } = gw.sandbox.faults.add({ source: 'project', times: 99, hang: true });
    const query = (name: string) => `query ${name} { project { name } }`;
    const leaving = new AbortController();
    const answer = gw.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: query('OverHttp') }),
      signal: leaving.signal,
    });
    await using socket = await openSocket(gw, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query: query('OverSocket') } });
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(1));
    // Its turn of the socket has come.
    socket.send({ type: 'ping' });
    expect((await socket.next()).type).toBe('pong');
    leaving.abort();
    await expect(answer).rejects.toThrow('aborted');
    socket.socket.terminate();
    for (const name of ['OverHttp', 'OverSocket']) {
      await vi.waitFor(() => expect(lineOf(gw, name)).toMatchObject({ errors: ['CLIENT_GONE'] }));
      expect(lineOf(gw, name)).not.toHaveProperty('status');
    }
    const metrics = await (await gw.fetch('/metrics')).text();
    expect(metrics).toMatch(/operations_total\{[^}]*outcome="CLIENT_GONE"[^}]*\} 2/);
    remove();
    // A subscription has no other end.
    const leavingStream = new AbortController();
    await openEventStream(gw, 'subscription AsEvents { triggerChanges { kind } }', {
      signal: leavingStream.signal,
    });
    leavingStream.abort();
    await vi.waitFor(() => expect(lineOf(gw, 'AsEvents')).toBeDefined());
    expect(lineOf(gw, 'AsEvents')).not.toHaveProperty('errors');
  });
});
