import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** What this process is to do: so many sockets, all with one operation or each with its own. */
export interface Listeners {
  readonly url: string;
  readonly count: number;
  readonly differ: Difference;
}

/** In the value of a filter, or in the fields that are selected. */
export type Difference = 'in nothing' | 'in their filters' | 'in their selections';

export interface ListenersMessage {
  /** `everyone`: each socket has had the change that was announced last. */
  readonly kind: 'ready' | 'everyone' | 'report';
  /** Of the change that was announced last, by socket. */
  readonly delaysMs: readonly number[];
  /** Sockets that are gone, and why the first of them is. */
  readonly lost: number;
  readonly reason: string | null;
}

const fields = [
  'deviceId stationCode',
  'status',
  'startTime',
  'endTime',
  'peakTime',
  'pgaHorizontal',
  'estimatedIntensity { roman shaking }',
  'sensor { stationCode model status }',
  'durationS',
  'locationName',
];

function operationOf(number: number, differ: Difference): object {
  const isSelected = (index: number) => differ !== 'in their selections' || (number >> index) % 2 === 0;
  const selected = fields.filter((_, index) => isSelected(index)).join(' ');
  const min = differ === 'in their filters' ? number / 1e6 : 0;
  const query = `subscription ($min: Float) { triggerChanges(filter: { minPgaMg: $min }) {
    kind cursor observedAt replayed trigger { id triggerId ${selected} }
  } }`;
  return { query, variables: { min } };
}
// As many as a server takes in at a time without its backlog of connections running over.
const atOnce = 200;

let count = 0;
let delaysMs: number[] = [];
let lost = 0;
let reason: string | null = null;

process.on('message', (message: Listeners | 'report' | 'next') => {
  if (message === 'report') return report('report');
  if (message !== 'next') return void open(message);
  delaysMs = [];
});
process.on('disconnect', () => process.exit());

async function open({ url, differ, ...order }: Listeners): Promise<void> {
  count = order.count;
  for (let opened = 0; opened < count; opened += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - opened) }, (_, i) => opened + i);
    await Promise.all(numbers.map((number) => listen(new URL(url), operationOf(number, differ))));
  }
  report('ready');
}

// One for all sockets: each takes out what has come before the next one reads.
const buffer = Buffer.alloc(256 * 1024);

/**
 * A WebSocket that costs this process next to nothing: a client library would be measured in place of the server. Resolves
 * when it has subscribed, or is lost.
 */
function listen({ hostname, port, pathname }: URL, payload: object): Promise<void> {
  return new Promise((resolve) => {
    let isOpen = false;
    let rest: Buffer = nothing;
    const lose = (why: string) => {
      lost++;
      reason ??= why;
      resolve();
    };
    const take = (length: number) => {
      const nowMs = Date.now();
      let come = buffer.subarray(0, length);
      if (rest.length > 0) come = Buffer.concat([rest, come]);
      if (!isOpen) {
        const end = come.indexOf('\r\n\r\n');
        if (end >= 0) {
          isOpen = true;
          send(socket, { type: 'connection_init' });
          come = come.subarray(end + 4);
        }
      }
      if (isOpen) come = come.subarray(framesOf(come, (frame) => heed(frame, nowMs)));
      rest = come.length > 0 ? Buffer.from(come) : nothing;
      return true;
    };
    const heed = (frame: Buffer, nowMs: number) => {
      if (frame[0] === pingFrame) {
        // An empty pong, masked with zeros.
        socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
        return;
      }
      const at = frame.indexOf(observedAt);
      if (at >= 0) return delivered(nowMs - Date.parse(frame.toString('latin1', at + 14, at + 38)));
      const text = frame.toString('latin1');
      if (text.includes('"connection_ack"')) {
        // Clients of graphql-ws give each operation such an id.
        send(socket, { id: randomUUID(), type: 'subscribe', payload }, resolve);
      } else if (text.includes('"type":"ping"')) {
        send(socket, { type: 'pong' });
      } else {
        lose(text.slice(0, 200));
      }
    };
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: take } });
    socket.on('error', (error) => lose(error.message));
    socket.on('close', () => lose('closed'));
    socket.on('connect', () =>
      socket.write(
        `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
          'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
      ),
    );
  });
}

const nothing = Buffer.alloc(0);
const pingFrame = 0x89;
const observedAt = Buffer.from('"observedAt":"');

/** Hands out the whole frames of a server, with their headers; returns where the first begins that is not whole. */
function framesOf(come: Buffer, take: (frame: Buffer) => void): number {
  let at = 0;
  while (come.length - at >= 2) {
    let length = 2 + (come[at + 1] ?? 0);
    if (length === 2 + 126) {
      if (come.length - at < 4) break;
      length = 4 + come.readUInt16BE(at + 2);
    }
    if (come.length - at < length) break;
    take(come.subarray(at, at + length));
    at += length;
  }
  return at;
}

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

function delivered(delayMs: number): void {
  delaysMs.push(delayMs);
  if (delaysMs.length === count - lost) report('everyone');
}

function report(kind: ListenersMessage['kind']): void {
  process.send?.({ kind, delaysMs, lost, reason } satisfies ListenersMessage);
}
