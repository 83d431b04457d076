import { WebSocket } from 'ws';

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
    await Promise.all(numbers.map((number) => listen(url, (number % operations) / 1e6)));
  }
  tell({ kind: 'ready', delaysMs: [] });
}

function listen(url: string, min: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, 'graphql-transport-ws');
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      const nowMs = Date.now();
      const text = data.toString();
      if (text.includes('"type":"next"')) {
        const observedAt = /"observedAt":"([^"]+)"/.exec(text)?.[1];
        if (observedAt) delaysMs.push(nowMs - Date.parse(observedAt));
      } else if (text.includes('connection_ack')) {
        const payload = { query, variables: { min } };
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }), () => resolve());
      } else if (text.includes('"error"')) {
        reject(new Error(text));
      }
    });
  });
}

function tell(heard: Heard): void {
  process.send?.(heard);
}
