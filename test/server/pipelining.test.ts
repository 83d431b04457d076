import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { startGateway } from '../support/gateway.js';

/** Requests that are executed, each with a text of its own. */
function requests(from: number, count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const body = JSON.stringify({
      query: `{ a${from + at}: sensors(first: 50) { nodes { id model status } } }`,
    });
    return `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }).join('');
}

it('a connection with too many requests that wait for their answers is cut, and others are answered', async () => {
  await using gw = await startGateway({ sandbox: { rateLimits: false } });
  for (const source of ['project', 'catalogue'] as const)
    gw.sandbox.faults.add({ source, hang: true, times: Number.POSITIVE_INFINITY });
  const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => {});
  socket.write(requests(0, limits.pipelinedRequests));
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
  expect(socket.destroyed).toBe(false);
  socket.write(requests(limits.pipelinedRequests, 1));
  await closed;
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
});

it('a client that pipelines and reads has all of its answers, in order', async () => {
  await using gw = await startGateway({ sandbox: { rateLimits: false } });
  const { port } = new URL(gw.url);
  await using socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  socket.write(requests(0, limits.pipelinedRequests / 2));
  const count = () => text.match(/"a\d+":/g)?.length;
  await expect.poll(count, { timeout: 30_000 }).toBe(limits.pipelinedRequests / 2);
  const numbers = [...text.matchAll(/"a(\d+)":/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});
