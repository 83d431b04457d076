import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../clock.js';

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** Called for a socket that showed no activity between two pings: its client has gone or does not read. */
  readonly onSilent: (socket: WebSocket) => void;
}

// Proxies close an idle connection after a minute or less.
const pingEveryMs = 12_000;
// The sockets are pinged in groups: ten thousand pings at once would block the event loop for a third of a second.
const groupCount = 12;

/**
 * Pings open sockets, which keeps them open, and reports those without activity from one ping to the next: no pong, no
 * message, and no progress of unsent data, since a ping is queued behind that data.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The sockets by group; one group is pinged per tick. */
  readonly #peers: readonly Map<WebSocket, Peer>[] = Array.from({ length: groupCount }, () => new Map());
  #group = 0;
  #timer: Timer;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = this.#next();
  }

  /** @param connection the TCP or TLS socket under `socket` */
  watch(socket: WebSocket, connection: Socket): void {
    const peers = this.#peers.reduce((fewest, one) => (one.size < fewest.size ? one : fewest));
    const peer: Peer = { connection, isAlive: true, blockedAt: null };
    const markAlive = () => {
      peer.isAlive = true;
    };
    socket.on('pong', markAlive);
    socket.on('message', markAlive);
    socket.once('close', () => peers.delete(socket));
    peers.set(socket, peer);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.#options.clock.timer(pingEveryMs / groupCount, () => {
      this.#timer = this.#next();
      const peers = this.#peers[this.#group] ?? [];
      this.#group = (this.#group + 1) % groupCount;
      // After a stall of the event loop the input that has arrived meanwhile is read first.
      setImmediate(() => this.#ping(peers));
    });
  }

  #ping(peers: Iterable<readonly [WebSocket, Peer]>): void {
    for (const [socket, peer] of peers) {
      // The close handshake has a time-out of its own.
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
  /** Bytes that the kernel had taken at the last ping; null if none were unsent: progress would then prove nothing. */
  blockedAt: number | null;
}

const takenBytes = ({ bytesWritten, writableLength }: Socket) => bytesWritten - writableLength;
