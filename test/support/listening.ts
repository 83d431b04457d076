import type { Server } from 'node:http';
import type { Listener } from '../../src/server/http/listen.js';
import { Balancer, type Target } from '../../src/workers/balancer.js';
import { handedConnections } from '../../src/workers/handed-connections.js';

/** One port in front of several servers of this process, which are handed its connections in turn, as workers are. */
export interface SharedListening {
  /** For each of the servers. */
  add(server: Server): Promise<Listener>;
}

export function sharedListening(asked: { readonly port: number; readonly host: string }): SharedListening {
  const balancer = new Balancer();
  let count = 0;
  let listening: Promise<Listener> | null = null;
  return {
    async add(server) {
      listening ??= balancer.listen(asked.port, asked.host);
      const connections = handedConnections(server, await listening);
      const target: Target = {
        async hand(socket) {
          const isTaken = connections.take(socket);
          if (isTaken) socket.resume();
          return isTaken;
        },
      };
      balancer.add(target);
      count++;
      return {
        ...connections,
        close() {
          balancer.remove(target);
          if (--count === 0) balancer.close();
          return connections.close();
        },
      };
    },
  };
}
