import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Target } from './balancer.js';
import type { HandedConnection } from './lifecycle.js';

/** Hands connections to one worker process. */
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
