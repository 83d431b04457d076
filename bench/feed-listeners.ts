import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** What this process is told to do: so many sockets, with so many different operations among them. */
export interface Listeners {
  readonly url: string;
  readonly count: number;
  readonly operations: number;
}

export interface Heard {
  readonly kind: 'ready' | 'delivered';
  readonly delaysMs: readonly number[];
}

const fields = `kind cursor observedAt replayed trigger {
  id triggerId deviceId stationCode status startTime endTime peakTime pgaHorizontal
  estimatedIntensity { roman shaking } sensor { stationCode model status }
}`;
const query = `subscription ($min: Float) { triggerChanges(filter: { minPgaMg: $min }) { ${fields} } }`;
// As many as a server takes in at a time without its backlog of connections running over.
const atOnce = 200;

let delaysMs: number[] = [];

process.on('message', (message: Listeners | 'report') => {
  if (message !== 'report') return void open(message);
  tell({ kind: 'delivered', delaysMs });
  delaysMs = [];
});

async function open({ url, count, operations }: Listeners): Promise<void> {
  for (let opened = 0; opened < count; opened += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - opened) }, (_, i) => opened + i);
    await Promise.all(numbers.map((number) => listen(new URL(url), (number % operations) / 1e6)));
  }
  tell({ kind: 'ready', delaysMs: [] });
}

/** A WebSocket that costs this process next to nothing: a client library would be measured in place of the server. */
function listen({ hostname, port, pathname }: URL, min: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let isSubscribed = false;
    socket.on('error', reject);
    socket.on('connect', () =>
      socket.write(
        `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
          'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
      ),
    );
    socket.on('data', (data: Buffer) => {
      const nowMs = Date.now();
      const text = data.toString('latin1');
      if (data[0] === pingFrame) {
        // An empty pong, masked with zeros.
        socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
      } else if (isSubscribed) {
        const at = text.indexOf('"observedAt":"');
        if (at >= 0) delaysMs.push(nowMs - Date.parse(text.slice(at + 14, text.indexOf('"', at + 14))));
        else if (text.includes('"type":"ping"')) send(socket, { type: 'pong' });
      } else if (text.startsWith('HTTP/1.1 101')) {
        send(socket, { type: 'connection_init' });
      } else if (text.includes('connection_ack')) {
        isSubscribed = true;
        send(socket, { id: '1', type: 'subscribe', payload: { query, variables: { min } } }, resolve);
      } else {
        reject(new Error(text));
      }
    });
  });
}

const pingFrame = 0x89;

/** A client's text frame, masked with zeros. */
function send(socket: Socket, message: object, sent?: () => void): void {
  const text = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(text.length < 126 ? 6 : 8);
  header[0] = 0x81;
  if (text.length < 126) header[1] = 0x80 | text.length;
  else {
    header[1] = 0x80 | 126;
    header.writeUInt16BE(text.length, 2);
  }
  socket.write(Buffer.concat([header, text]), sent);
}

function tell(heard: Heard): void {
  process.send?.(heard);
}
