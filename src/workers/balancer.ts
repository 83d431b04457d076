import { createServer, type Socket } from 'node:net';
import { type Listener, listen } from '../server/http/listen.js';

/** A process that serves connections. */
export interface Target {
  /**
   * Resolves to true once the connection is the target's; false when it did not take it, because it is leaving or has died.
   * The connection is then as it was: nothing has been read from it.
   */
  hand(socket: Socket): Promise<boolean>;
}

/**
 * Takes connections from one port and distributes them round-robin. Each target is handed one at a time, so that a busy one
 * gets fewer. node:cluster would do the same, but never closes a connection that it has handed to a worker that dies before
 * taking it: its client would wait forever. Here another target gets it.
 */
export class Balancer {
  readonly #targets = new Set<Target>();
  readonly #free = new Set<Target>();
  /** Connections that no target has taken, oldest first. */
  readonly #waiting: Socket[] = [];
  #isClosed = false;
  // The options are those that an HTTP server of its own would listen with; nothing is read here.
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
    // It may be reset before a target has it, and then whoever gets it finds that out.
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

  /** It is handed no more. */
  remove(target: Target): void {
    this.#targets.delete(target);
    this.#free.delete(target);
  }

  /** Connections that no target has taken are closed. */
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
      // It is leaving or has died, and would not take the next one either.
      this.remove(target);
      if (this.#isClosed) socket.destroy();
      else this.#waiting.unshift(socket);
    } else if (this.#targets.has(target)) this.#free.add(target);
    this.#distribute();
  }
}
