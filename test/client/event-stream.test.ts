import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LiveTriggersDocument, subscribeWithResume } from '../../src/client/index.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { collectGarbage } from '../support/heap.js';

afterEach(() => void vi.useRealTimers());

/** A server that answers each request in turn by the next of the answers, and keeps what it was asked. */
async function startServer(answers: readonly ((response: ServerResponse) => void)[]) {
  const asked: { after: string | null }[] = [];
  const server = createServer(async (request, response) => {
    asked.push(JSON.parse(await text(request)).variables);
    answers[asked.length - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  cleanUpAfterTests(close);
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return { url, asked, [Symbol.asyncDispose]: close };
}

const eventOf = (cursor: string, text = 'é') =>
  `event: next\ndata: ${JSON.stringify({ data: { triggerChanges: { cursor, text } } })}\n\n`;
const streaming = (...pieces: (string | Buffer)[]) => {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    for (const piece of pieces) response.write(piece);
  };
};
const follow = (url: string) => subscribeWithResume(LiveTriggersDocument, { url, transport: 'sse' });
const cursorOf = async (changes: ReturnType<typeof follow>) =>
  (await changes.next()).value?.data.triggerChanges.cursor;

/** Lets the time pass in which a silent connection counts as lost. */
async function untilAskedAgain({ asked }: { readonly asked: readonly unknown[] }): Promise<void> {
  while (asked.length < 2) {
    await vi.advanceTimersByTimeAsync(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('an event stream', () => {
  it('is read in whatever pieces it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 200 }), { maxLength: 6 }), async (cuts) => {
        const bytes = Buffer.from(`:\n\n${eventOf('1', 'größe')}:\n\n${eventOf('2')}`);
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        await using server = await startServer([streaming(...pieces)]);
        const changes = follow(server.url);
        expect([await cursorOf(changes), await cursorOf(changes)]).toEqual(['1', '2']);
        await changes.return?.();
      }),
      { numRuns: 20 },
    );
  });

  it('that is silent for longer than the gateway ever is counts as lost', async () => {
    await using server = await startServer([streaming(eventOf('1')), streaming(eventOf('2'))]);
    const changes = follow(server.url);
    expect(await cursorOf(changes)).toBe('1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const second = cursorOf(changes);
    await untilAskedAgain(server);
    expect(await second).toBe('2');
    expect(server.asked.map(({ after }) => after)).toEqual([null, '1']);
    await changes.return?.();
  });

  it('can be left, and noticed as lost, after a garbage collection', async () => {
    await using server = await startServer([streaming(eventOf('1')), streaming(eventOf('2'))]);
    const changes = follow(server.url);
    expect(await cursorOf(changes)).toBe('1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const second = cursorOf(changes);
    collectGarbage();
    await untilAskedAgain(server);
    expect(await second).toBe('2');
    vi.useRealTimers();
    const third = changes.next();
    collectGarbage();
    await changes.return?.();
    expect(await third).toEqual({ done: true, value: undefined });
  });

  it.each([
    ['its headers', () => {}],
    ['the rest of its refusal', (response: ServerResponse) => response.writeHead(503).write('<h1>')],
  ])('that is silent before %s counts as lost', async (_, answer) => {
    await using server = await startServer([answer, streaming(eventOf('1'))]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const changes = follow(server.url);
    const first = cursorOf(changes);
    await untilAskedAgain(server);
    expect(await first).toBe('1');
    await changes.return?.();
  });

  it.each(['{', 'null'])('with an event that is no result, such as %s, is not tried again', async (data) => {
    await using server = await startServer([streaming(`event: next\ndata: ${data}\n\n`)]);
    await expect(follow(server.url).next()).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
    expect(server.asked).toHaveLength(1);
  });

  it('whose request cannot be made is not tried again', async () => {
    const changes = subscribeWithResume(LiveTriggersDocument, {
      url: 'http://127.0.0.1:9',
      transport: 'sse',
      headers: { authorization: 'a token\nof two lines' },
    });
    await expect(changes.next()).rejects.toBeInstanceOf(TypeError);
  });

  it('ends at once where it is left during a pause', async () => {
    const extensions = { code: 'CLIENT_RATE_LIMITED', retryAfterS: 600 };
    const refusal = JSON.stringify({ errors: [{ message: 'Too many', extensions }] });
    await using server = await startServer([
      (response) => response.writeHead(429, { 'content-type': 'application/json' }).end(refusal),
    ]);
    const random = vi.spyOn(Math, 'random');
    const changes = follow(server.url);
    const first = changes.next();
    // A pause begins with its random part.
    await expect.poll(() => random.mock.calls.length).toBe(1);
    random.mockRestore();
    await changes.return?.();
    expect(await first).toEqual({ done: true, value: undefined });
    expect(server.asked).toHaveLength(1);
  });

  it('is closed where its store cannot say the cursor, and the loop has the error', async () => {
    await using server = await startServer([streaming(eventOf('1'))]);
    const store = { get: () => Promise.reject(new Error('The store is away')), set: () => {} };
    const loop = async () => {
      const options = { url: server.url, transport: 'sse', store } as const;
      for await (const _ of subscribeWithResume(LiveTriggersDocument, options));
    };
    await expect(loop()).rejects.toThrow('The store is away');
    expect(server.asked).toEqual([]);
  });

  it('goes on where its store fails to take a cursor, and says so once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await using server = await startServer([streaming(eventOf('1'), eventOf('2'), eventOf('3'))]);
    const store = { get: () => null, set: () => Promise.reject(new Error('The store is full')) };
    const changes = subscribeWithResume(LiveTriggersDocument, { url: server.url, transport: 'sse', store });
    const cursors = [await cursorOf(changes), await cursorOf(changes), await cursorOf(changes)];
    expect(cursors).toEqual(['1', '2', '3']);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/not stored: Error: The store is full/)]]);
    warn.mockRestore();
    await changes.return?.();
  });

  it('is opened again after the refusal of a proxy, and after what another attempt would meet it throws', async () => {
    await using server = await startServer([
      (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
      streaming(eventOf('1')),
    ]);
    const changes = follow(server.url);
    expect(await cursorOf(changes)).toBe('1');
    await changes.return?.();
    await using elsewhere = await startServer([
      (response) => response.writeHead(404).end('<h1>Nothing</h1>'),
    ]);
    await expect(follow(elsewhere.url).next()).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
  });

  it('waits as long as a proxy asks that limits the rate, whatever its body', async () => {
    const limited = (response: ServerResponse) =>
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'text/html' }).end('<p>slow down</p>');
    await using server = await startServer([limited, streaming(eventOf('1'))]);
    expect(await cursorOf(follow(server.url))).toBe('1');
    expect(server.asked).toHaveLength(2);
  });

  it('is not opened again at once where a proxy asks to wait for longer than a timer can', async () => {
    const away = (response: ServerResponse) => response.writeHead(503, { 'retry-after': '9999999' }).end();
    await using server = await startServer([away, away]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const changes = follow(server.url);
    void cursorOf(changes);
    for (let round = 0; round < 50; round++) {
      await vi.advanceTimersByTimeAsync(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(server.asked).toHaveLength(1);
    await changes.return?.();
  });

  it('ends where its signal aborts while a store does not answer', async () => {
    await using server = await startServer([streaming(eventOf('1'), eventOf('2'))]);
    let leaving = new AbortController();
    const never = () => {
      setImmediate(() => leaving.abort());
      return new Promise<never>(() => undefined);
    };
    for (const store of [
      { get: never, set: () => undefined },
      { get: () => null, set: never },
    ]) {
      leaving = new AbortController();
      const options = { url: server.url, transport: 'sse', store, signal: leaving.signal } as const;
      const taking = (async () => {
        for await (const _ of subscribeWithResume(LiveTriggersDocument, options));
      })();
      await taking;
    }
  });

  it('has changes of which a part could not be read, with the error of each such part', async () => {
    const error = {
      message: 'Too slow',
      path: ['triggerChanges', 'trigger', 'sensor'],
      extensions: { code: 'UPSTREAM_TIMEOUT' },
    };
    const data = { triggerChanges: { cursor: '1', trigger: { sensor: null } } };
    await using server = await startServer([
      streaming(`event: next\ndata: ${JSON.stringify({ data, errors: [error] })}\n\n`),
    ]);
    const changes = follow(server.url);
    const { value } = await changes.next();
    expect(value?.errors).toMatchObject([{ code: 'UPSTREAM_TIMEOUT', path: error.path }]);
    expect(value?.data).toEqual(data);
    await changes.return?.();
  });
});
