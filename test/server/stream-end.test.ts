import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { type Json, jsonPieces } from '../../src/server/execution/json-pieces.js';
import { eventParts, multipartChanges } from '../../src/server/http/response/framing.js';
import { sendParts } from '../../src/server/http/response/send-parts.js';
import { sendPieces } from '../../src/server/http/response/send-pieces.js';
import { cleanUpAfterTests } from '../support/clean-up.js';

/** A response that nobody has answered yet, and parts for it: by default none ever comes. */
async function unanswered(next: () => Promise<IteratorResult<Json>> = () => new Promise(() => {})) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  cleanUpAfterTests(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const asked = once(server, 'request');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const response: ServerResponse = (await asked)[1];
  let isEnded = false;
  const parts: AsyncIterableIterator<Json> = {
    next,
    async return() {
      isEnded = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => parts,
  };
  return { client, response, parts, isEnded: () => isEnded };
}

describe('a long answer', () => {
  it('waits for a client that does not read it, and after a minute ends with its connection', async () => {
    const { client, response } = await unanswered();
    client.pause();
    const clock = new ManualClock();
    const body = {
      data: Array.from({ length: 400_000 }, (_, n) => ({ n, text: 'more than lies in between' })),
    };
    const sent = sendPieces(jsonPieces(body), response, clock);
    let written: number | undefined = -1;
    await vi.waitFor(
      () => {
        const before = written;
        written = response.socket?.bytesWritten;
        expect([written, clock.pendingTimers]).toEqual([before, 1]);
      },
      { timeout: 20_000, interval: 200 },
    );
    await clock.advance(59_000);
    expect(response.destroyed).toBe(false);
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(response.destroyed).toBe(true);
    });
    await sent;
    expect(clock.pendingTimers).toBe(0);
  }, 30_000);
});

describe('a stream', () => {
  it('is not begun for a client that has gone while it was made', async () => {
    const { client, response, parts, isEnded } = await unanswered();
    const clock = new ManualClock();
    client.destroy();
    await once(response, 'close');
    await sendParts(parts, response, { framing: eventParts, clock, leaving: new AbortController().signal });
    expect(clock.pendingTimers).toBe(0);
    expect(isEnded()).toBe(true);
  });

  it('ends at once where the gateway began to leave while it was made', async () => {
    const { client, response, parts, isEnded } = await unanswered();
    const clock = new ManualClock();
    const text = once(client, 'data');
    response.setHeader('content-type', 'text/event-stream');
    await sendParts(parts, response, { framing: eventParts, clock, leaving: AbortSignal.abort() });
    expect(clock.pendingTimers).toBe(0);
    expect(String((await text)[0])).toContain('text/event-stream');
    expect(isEnded()).toBe(true);
    expect(response.writableEnded).toBe(true);
  });

  it('of which a part fails ends its heartbeat with it', async () => {
    const { response, parts } = await unanswered(() => Promise.reject(new Error('no part')));
    const clock = new ManualClock();
    const sent = sendParts(parts, response, { framing: eventParts, clock });
    await expect(sent).rejects.toThrow('no part');
    expect(clock.pendingTimers).toBe(0);
    expect(response.writableEnded).toBe(true);
  });

  it('whose client goes within a long part is ended too', async () => {
    const long = Array.from({ length: 200 }, () => 'x'.repeat(64 * 1024));
    const { client, response, parts, isEnded } = await unanswered(async () => ({ done: false, value: long }));
    client.pause();
    const clock = new ManualClock();
    const sent = sendParts(parts, response, { framing: multipartChanges, clock });
    await vi.waitFor(() => expect(response.writableNeedDrain).toBe(true));
    client.destroy();
    await sent;
    expect([isEnded(), clock.pendingTimers]).toEqual([true, 0]);
  });
}, 10_000);
