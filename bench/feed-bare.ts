import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

// The least that delivering a change can cost: no GraphQL and no subscription that differs, only a frame for each socket
// whenever upstream lists another trigger.
const { PROJECT_API_URL, PROJECT_API_KEY, TRIGGER_POLL_INTERVAL_MS } = process.env;
const subscribers = new Map<WebSocket, string>();
const server = createServer();
const protocol = 'graphql-transport-ws';
new WebSocketServer({ server, path: '/graphql', handleProtocols: () => protocol }).on(
  'connection',
  (socket) => {
    socket.on('close', () => subscribers.delete(socket));
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const { type, id } = JSON.parse(String(data)) as { type: string; id?: string };
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (type === 'subscribe' && id) subscribers.set(socket, id);
    });
  },
);

let known = 0;
async function poll(): Promise<void> {
  const response = await fetch(`${PROJECT_API_URL}/v1/triggers?limit=1&order=desc`, {
    headers: { authorization: `Bearer ${PROJECT_API_KEY}` },
  });
  const { total } = (await response.json()) as { total: number };
  if (total === known) return;
  known = total;
  const trigger = 'x'.repeat(bytesOfTrigger);
  const payload = JSON.stringify({
    data: { triggerChanges: { observedAt: new Date().toISOString(), trigger } },
  });
  for (const [socket, id] of subscribers) socket.send(`{"id":"${id}","type":"next","payload":${payload}}`);
}

// With it a message is as long as one of seisgraph's.
const bytesOfTrigger = 600;

setInterval(() => void poll(), Number(TRIGGER_POLL_INTERVAL_MS));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
