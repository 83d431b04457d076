import { createServer, type Socket } from 'node:net';
import { type Listener, listen } from '../server/http/listen.js';

/** A process that serves connections. */
export interface Target {
  /**
   * Resolves to true once the target has taken the connection, to false when it is shutting down or has died. Nothing
   * has been read from the connection then.
   */
  hand(socket: Socket): Promise<boolean>;
}

/**
 * Accepts connections on one port and distributes them round-robin, one at a time per target, so that a busy target
 * gets fewer. node:cluster would do the same, but never closes a connection that it sent to a worker which dies before
 * taking it: the client would wait forever. Here the connection goes to another target.
 */
export class Balancer {
  readonly #targets = new Set<Target>();
  readonly #free = new Set<Target>();
  /** Connections that no target has taken, oldest first. */
  readonly #waiting: Socket[] = [];
  #isClosed = false;
  // The same socket options as an HTTP server; paused, since the data is for the target.
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
    // A reset before a target has the connection is left to that target.
    socket.on('error', () => {});
    this.#waiting.push(socket);
    this.#distribute();
  });

  listen(port: number, host: string): Promise<Listener> {
    return listen(this.#server, port, host);
  }

  add(target: Target): void {
    this.#targets.add(target);
    this.#free.add(target);
    this.#distribute();
  }

  /** The target gets no more connections. */
  remove(target: Target): void {
    this.#targets.delete(target);
    this.#free.delete(target);
  }

  /** Stops listening and closes the connections that no target has taken. */
  close(): void {
    this.#isClosed = true;
    this.#server.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  #distribute(): void {
    for (const target of this.#free) {
      const socket = this.#waiting.shift();
      if (!socket) return;
      this.#free.delete(target);
      void this.#hand(target, socket);
    }
  }

  async #hand(target: Target, socket: Socket): Promise<void> {
    const isTaken = await target.hand(socket);
    if (!isTaken) {
      // It is shutting down or has died, and would refuse the next one as well.
      this.remove(target);
      if (this.#isClosed) socket.destroy();
      else this.#waiting.unshift(socket);
    } else if (this.#targets.has(target)) this.#free.add(target);
    this.#distribute();
  }
}
