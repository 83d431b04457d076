import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../clock.js';

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** Nothing has come of this socket for a whole round: nobody is there any more, or nobody who reads. */
  readonly onSilent: (socket: WebSocket) => void;
}

// Proxies give up on a silent connection after a minute or less.
const pingEveryMs = 12_000;

/**
 * Pings open sockets, which keeps them open, and tells of those that give no sign of life from one ping to the next: no
 * pong, no message, and nothing taken of what waits for them, since a ping is behind all that.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #peers = new Map<WebSocket, Peer>();
  #timer: Timer;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = this.#next();
  }

  /** @param connection what `socket` writes to */
  watch(socket: WebSocket, connection: Socket): void {
    const peer: Peer = { connection, isAlive: true, blockedAt: null };
    const hear = () => {
      peer.isAlive = true;
    };
    socket.on('pong', hear);
    socket.on('message', hear);
    socket.once('close', () => this.#peers.delete(socket));
    this.#peers.set(socket, peer);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.#options.clock.timer(pingEveryMs, () => {
      this.#timer = this.#next();
      // Where the gateway itself stood still, what has come meanwhile is read first.
      setImmediate(() => this.#round());
    });
  }

  #round(): void {
    for (const [socket, peer] of this.#peers) {
      // One that is closing has its own time for that.
      if (socket.readyState !== socket.OPEN) continue;
      const hasTaken = peer.blockedAt !== null && takenBytes(peer.connection) > peer.blockedAt;
      if (!peer.isAlive && !hasTaken) {
        this.#options.onSilent(socket);
        continue;
      }
      peer.isAlive = false;
      peer.blockedAt = peer.connection.writableLength > 0 ? takenBytes(peer.connection) : null;
      socket.ping();
    }
  }
}

interface Peer {
  readonly connection: Socket;
  isAlive: boolean;
  /** What it had taken at the last ping, when more was waiting for it; the kernel takes the rest for anybody. */
  blockedAt: number | null;
}

const takenBytes = ({ bytesWritten, writableLength }: Socket) => bytesWritten - writableLength;
