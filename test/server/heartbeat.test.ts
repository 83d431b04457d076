import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Clock, ManualClock } from '../../src/clock.js';
import { Heartbeat } from '../../src/server/websocket/heartbeat.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { date, forward } from '../support/moments.js';

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

it('does not ping a thousand at once', async () => {
  const clock = new ManualClock();
  const pinged: number[] = [];
  const heartbeat = new Heartbeat({ clock, onSilent: () => {} });
  for (let n = 0; n < 120; n++) {
    const socket = Object.assign(new EventEmitter(), { readyState: 1, OPEN: 1, ping: () => pinged.push(n) });
    heartbeat.watch(socket as unknown as WebSocket, new Socket());
  }
  for (let second = 1; second <= 12; second++) {
    await clock.advance(1_000);
    expect(pinged).toHaveLength(second * 10);
  }
  expect(new Set(pinged).size).toBe(120);
  heartbeat.stop();
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

it('hears what had come while the gateway stood still before it judges', { timeout: 10_000 }, async () => {
  // Timers fall due within one iteration of the event loop.
  let due = () => {};
  const clock: Clock = {
    now: () => forward(0),
    wallMs: () => date(0),
    timer(_delayMs, run) {
      due = run;
      return { cancel() {} };
    },
    sleep: () => Promise.resolve(),
  };
  const round = () => {
    for (let turn = 0; turn < 12; turn++) due();
  };
  const { client, server, silent } = await aPair({ clock });
  const judged = once(client, 'ping').then(() => once(client, 'ping'));
  // By then its pong has been sent, and the next round is due before anything is read.
  client.once('ping', () => {
    setTimeout(round, 1);
    const untilMs = performance.now() + 5;
    while (performance.now() < untilMs);
  });
  round();
  await judged;
  expect(silent).toEqual([]);
  expect(server.readyState).toBe(server.OPEN);
});

async function aPair<C extends Clock = ManualClock>({
  autoPong = true,
  clock = new ManualClock() as Clock as C,
} = {}) {
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
