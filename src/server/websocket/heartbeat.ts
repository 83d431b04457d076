import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../clock.js';

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** Nothing has come of this socket from one ping to the next: nobody is there any more, or nobody who reads. */
  readonly onSilent: (socket: WebSocket) => void;
}

// Proxies give up on a silent connection after a minute or less.
const pingEveryMs = 12_000;
// Ten thousand pings at once would hold up everyone for a third of a second.
const turns = 12;

/**
 * Pings open sockets, which keeps them open, and tells of those that give no sign of life from one ping to the next: no
 * pong, no message, and nothing taken of what waits for them, since a ping is behind all that.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** Each is pinged in the turn that it was put into. */
  readonly #peers: readonly Map<WebSocket, Peer>[] = Array.from({ length: turns }, () => new Map());
  #turn = 0;
  #timer: Timer;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = this.#next();
  }

  /** @param connection what `socket` writes to */
  watch(socket: WebSocket, connection: Socket): void {
    const peers = this.#peers.reduce((fewest, one) => (one.size < fewest.size ? one : fewest));
    const peer: Peer = { connection, isAlive: true, blockedAt: null };
    const hear = () => {
      peer.isAlive = true;
    };
    socket.on('pong', hear);
    socket.on('message', hear);
    socket.once('close', () => peers.delete(socket));
    peers.set(socket, peer);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.#options.clock.timer(pingEveryMs / turns, () => {
      this.#timer = this.#next();
      const peers = this.#peers[this.#turn] ?? [];
      this.#turn = (this.#turn + 1) % turns;
      // Where the gateway itself stood still, what has come meanwhile is read first.
      setImmediate(() => this.#ping(peers));
    });
  }

  #ping(peers: Iterable<readonly [WebSocket, Peer]>): void {
    for (const [socket, peer] of peers) {
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
