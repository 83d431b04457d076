import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Target } from './balancer.js';
import type { HandedConnections } from './handed-connections.js';

/** The primary's end: hands connections to one worker process. */
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
        // The worker has a descriptor of its own; closing ours leaves the connection open.
        if (isTaken) socket.destroy();
        resolve(isTaken);
      });
      const message: HandedConnection = { connection };
      // Ours is kept until the worker has answered: it may die before that, and then another gets the connection.
      this.#worker.send(message, socket, { keepOpen: true }, (error) => {
        if (error) this.answered(connection, false);
      });
    });
  }

  answered(connection: number, isTaken: boolean): void {
    this.#handed.get(connection)?.(isTaken);
    this.#handed.delete(connection);
  }

  /** The worker has died. */
  ended(): void {
    for (const connection of [...this.#handed.keys()]) this.answered(connection, false);
  }
}

/** The worker's end. `answer` gets to the primary's `answered`. */
export function receiveConnections(
  connections: HandedConnections,
  answer: (connection: number, isTaken: boolean) => void,
): void {
  process.on('message', (message, socket) => {
    if (!isHandedConnection(message)) return;
    // The socket is missing when it was closed on the way.
    const isTaken = !(socket instanceof Socket) || connections.take(socket);
    answer(message.connection, isTaken);
    if (!isTaken) socket.destroy();
  });
}

/** A message that comes with a connection, besides those of the channel, which carry none. */
interface HandedConnection {
  readonly connection: number;
}

function isHandedConnection(message: unknown): message is HandedConnection {
  return typeof message === 'object' && message !== null && 'connection' in message;
}
