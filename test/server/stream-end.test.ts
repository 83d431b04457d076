import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { sendResponse } from '../../src/server/send-response.js';
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

describe('a stream', () => {
  it('is not begun for a client that has gone while it was made', async () => {
    const { client, response, answer, isCancelled } = await unanswered();
    client.destroy();
    await once(response, 'close');
    await sendResponse(answer, response, new AbortController().signal, null);
    expect(isCancelled()).toBe(true);
  });

  it('ends at once where the gateway began to leave while it was made', async () => {
    const { client, response, answer, isCancelled } = await unanswered();
    const text = once(client, 'data');
    await sendResponse(answer, response, AbortSignal.abort(), null);
    expect(String((await text)[0])).toContain('text/event-stream');
    expect(isCancelled()).toBe(true);
    expect(response.writableEnded).toBe(true);
  });
}, 10_000);
