import { connect, type Socket } from 'node:net';

/**
 * One kept-alive connection that sends the same request again and again. It reads no more of an answer than its status
 * and its length: a client library costs more than the fastest servers here, and would be what is measured.
 */
export class Client implements Disposable {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #answerBytes: number;
  #received: Buffer | null = null;
  #answered: { resolve(): void; reject(error: Error): void } | null = null;

  static open(url: URL, body: string, answerBytes: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Client(socket, requestOf(url, body), answerBytes));
      });
    });
  }

  private constructor(socket: Socket, request: Buffer, answerBytes: number) {
    this.#socket = socket;
    this.#request = request;
    this.#answerBytes = answerBytes;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** Resolves with the whole answer; rejects when it is not 200 with as many bytes as expected. */
  ask(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject };
      this.#socket.write(this.#request);
    });
  }

  [Symbol.dispose](): void {
    this.#answered = null;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const received = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    this.#received = received;
    const bytes = bodyBytesIn(received);
    if (bytes === null) return;
    this.#received = null;
    const status = received.toString('latin1', 9, 12);
    if (status === '200' && bytes === this.#answerBytes) {
      this.#answered?.resolve();
      return;
    }
    this.#fail(
      new Error(`an answer with status ${status} and ${bytes} bytes instead of ${this.#answerBytes}`),
    );
  }

  #fail(error: Error): void {
    this.#answered?.reject(error);
  }
}

function requestOf({ host, pathname }: URL, body: string): Buffer {
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    'accept: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Length of the body, without what a chunked one has around it; null while it is not whole. */
function bodyBytesIn(answer: Buffer): number | null {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const start = headEnd + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, headEnd))?.[1];
  if (length === undefined) return chunkedBytesIn(answer, start);
  return answer.length - start >= Number(length) ? Number(length) : null;
}

function chunkedBytesIn(answer: Buffer, start: number): number | null {
  let bytes = 0;
  for (let at = start; ; ) {
    const lineEnd = answer.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(answer.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (at > answer.length) return null;
    if (size === 0) return bytes;
    bytes += size;
  }
}
