import type { Server } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { type Listener, listen } from '../../src/server/listen.js';

/** One port in front of several servers of this process, which are handed its connections in turn, as node:cluster does. */
export interface SharedListening {
  /** For each of the servers. */
  add(server: Server): Promise<Listener>;
}

export function sharedListening(asked: { readonly port: number; readonly host: string }): SharedListening {
  const members: Member[] = [];
  let turn = 0;
  // As an HTTP server of its own would have it.
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const member = members[turn++ % members.length];
    if (!member) return void socket.destroy();
    member.open.add(socket);
    socket.once('close', () => {
      member.open.delete(socket);
      member.onChange();
    });
    member.server.emit('connection', socket);
  });
  let listening: Promise<Listener> | null = null;

  async function close(member: Member): Promise<void> {
    members.splice(members.indexOf(member), 1);
    if (members.length === 0) front.close();
    // It never listened itself: that only ends what it does now and then.
    member.server.close();
    await new Promise<void>((resolve) => {
      member.onChange = () => {
        if (member.open.size === 0) resolve();
      };
      member.onChange();
    });
  }

  return {
    async add(server) {
      listening ??= listen(front, asked.port, asked.host);
      const { port, url } = await listening;
      const member: Member = { server, open: new Set(), onChange() {} };
      members.push(member);
      // From then on an HTTP server keeps account of its connections: which are idle, and which take too long.
      server.emit('listening');
      return { port, url, close: () => close(member) };
    },
  };
}

interface Member {
  readonly server: Server;
  readonly open: Set<Socket>;
  onChange: () => void;
}
