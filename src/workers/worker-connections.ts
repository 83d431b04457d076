import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Target } from './balancer.js';
import type { HandedConnections } from './handed-connections.js';

/** The primary's side: sends connections to one worker process. */
export class WorkerConnections implements Target {
  readonly #worker: ChildProcess;
  readonly #handed = new Map<number, (isTaken: boolean) => void>();
  #count = 0;

  constructor(worker: ChildProcess) {
    this.#worker = worker;
  }

  hand(socket: Socket): Promise<boolean> {
    const connection = ++this.#count;
    return new Promise((resolve) => {
      this.#handed.set(connection, (isTaken) => {
        // The worker has its own descriptor, so closing ours leaves the connection open.
        if (isTaken) socket.destroy();
        resolve(isTaken);
      });
      const message: HandedConnection = { connection };
      // Our descriptor stays open until the worker has answered: if it dies first, another worker gets the connection.
      this.#worker.send(message, socket, { keepOpen: true }, (error) => {
        if (error) this.answered(connection, false);
      });
    });
  }

  answered(connection: number, isTaken: boolean): void {
    this.#handed.get(connection)?.(isTaken);
    this.#handed.delete(connection);
  }

  /** The worker has died: every unanswered connection counts as refused. */
  ended(): void {
    for (const connection of [...this.#handed.keys()]) this.answered(connection, false);
  }
}

/** The worker's side. `answer` arrives at the primary's `answered`. */
export function receiveConnections(
  connections: HandedConnections,
  answer: (connection: number, isTaken: boolean) => void,
): void {
  process.on('message', (message, socket) => {
    if (!isHandedConnection(message)) return;
    // The socket is missing when the client closed it in transit.
    const isTaken = !(socket instanceof Socket) || connections.take(socket);
    answer(message.connection, isTaken);
    if (!isTaken) socket.destroy();
  });
}

/** The message that carries a connection; messages of the channel carry none. */
interface HandedConnection {
  readonly connection: number;
}

function isHandedConnection(message: unknown): message is HandedConnection {
  return typeof message === 'object' && message !== null && 'connection' in message;
}
