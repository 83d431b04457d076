import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { jsonPieces } from '../../src/server/execution/json-pieces.js';
import { sendPieces } from '../../src/server/http/send-pieces.js';
import { sendResponse } from '../../src/server/http/send-response.js';
import { cleanUpAfterTests } from '../support/clean-up.js';

/** A response that nobody has answered yet, and a stream for it that never says anything. */
async function unanswered() {
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
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      isCancelled = true;
    },
  });
  const answer = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return { client, response, answer, isCancelled: () => isCancelled };
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
    const { client, response, answer, isCancelled } = await unanswered();
    client.destroy();
    await once(response, 'close');
    await sendResponse(answer, response, new AbortController().signal);
    expect(isCancelled()).toBe(true);
  });

  it('ends at once where the gateway began to leave while it was made', async () => {
    const { client, response, answer, isCancelled } = await unanswered();
    const text = once(client, 'data');
    await sendResponse(answer, response, AbortSignal.abort());
    expect(String((await text)[0])).toContain('text/event-stream');
    expect(isCancelled()).toBe(true);
    expect(response.writableEnded).toBe(true);
  });
}, 10_000);
