import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ManualClock } from '../../src/clock.js';
import { Heartbeat } from '../../src/server/heartbeat.js';
import { cleanUpAfterTests } from '../support/clean-up.js';

const round = 12_000;

it('pings every 12 seconds, and leaves alone who answers', async () => {
  const { clock, server, silent } = await aPair();
  for (let n = 0; n < 4; n++) {
    const pong = once(server, 'pong');
    await clock.advance(round);
    await pong;
  }
  expect(silent).toEqual([]);
});

it('tells of one that has gone without a word', async () => {
  const { clock, client, server, silent } = await aPair();
  client.pause();
  await clock.advance(round);
  expect(silent).toEqual([]);
  await clock.advance(round);
  expect(silent).toEqual([server]);
});

it('takes any message as a sign of life', async () => {
  const { clock, client, server, silent } = await aPair({ autoPong: false });
  for (let n = 0; n < 3; n++) {
    const heard = once(server, 'message');
    client.send('here');
    await heard;
    await clock.advance(round);
  }
  expect(silent).toEqual([]);
  await clock.advance(round);
  expect(silent).toEqual([server]);
});

it('lets one read slowly what lies before the ping', async () => {
  const { clock, client, server, connection, silent } = await aPair({ autoPong: false });
  client.pause();
  // There is always more for it than the kernel takes in.
  let sent = 0;
  const fill = () => {
    for (; server.bufferedAmount < 64 * 1024; sent++) server.send(Buffer.alloc(16 * 1024));
  };
  connection.on('drain', fill);
  fill();
  await expect.poll(() => connection.writableNeedDrain).toBe(true);
  await clock.advance(round);
  for (let n = 0; n < 3; n++) {
    const before = sent;
    client.resume();
    await expect.poll(() => sent, { timeout: 20_000 }).toBeGreaterThan(before);
    client.pause();
    await clock.advance(round);
  }
  expect(silent).toEqual([]);
  // Once it takes no more at all, that is the end.
  await expect
    .poll(
      async () => {
        await clock.advance(round);
        return silent;
      },
      { timeout: 20_000 },
    )
    .toContain(server);
}, 60_000);

it('hears what had come while the gateway stood still before it judges', async () => {
  const { clock, client, server, silent } = await aPair();
  client.pause();
  await clock.advance(round);
  // The pong is on its way when the next round falls due, and nothing was read meanwhile.
  server.pause();
  client.resume();
  await once(client, 'ping');
  const pong = once(server, 'pong');
  const advanced = clock.advance(round);
  server.resume();
  await advanced;
  await pong;
  expect(silent).toEqual([]);
});

async function aPair({ autoPong = true } = {}) {
  const clock = new ManualClock();
  const silent: WebSocket[] = [];
  const heartbeat = new Heartbeat({ clock, onSilent: (socket) => void silent.push(socket) });
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const opened = new Promise<{ server: WebSocket; connection: Socket }>((resolve) => {
    sockets.on('connection', (server, { socket: connection }) => {
      heartbeat.watch(server, connection);
      resolve({ server, connection });
    });
  });
  const { port } = http.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong });
  await once(client, 'open');
  const { server, connection } = await opened;
  cleanUpAfterTests(async () => {
    heartbeat.stop();
    client.terminate();
    sockets.close();
    await new Promise((resolve) => http.close(resolve));
  });
  return { clock, client, server, connection, silent };
}
