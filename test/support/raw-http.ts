import { connect } from 'node:net';
import type { TestGateway } from './gateway.js';

/** Sends the text as it is, in the given parts, and returns all that comes back until the connection ends. */
export function exchange({ url }: Pick<TestGateway, 'url'>, ...parts: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      received += text;
    });
    socket.on('end', () => resolve(received)).on('error', reject);
    void (async () => {
      for (const part of parts) {
        await new Promise((written) => socket.write(part, 'latin1', written));
        await new Promise((turned) => setImmediate(turned));
      }
    })();
  });
}
