import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../limits.js';

/**
 * Returns the test if a request may be answered. Node reads on while answers are made, so that a connection which sends
 * requests and reads nothing would have all of them in memory: with too many unanswered it is cut.
 */
export function pipeliningLimit(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const open = new WeakMap<Socket, Set<ServerResponse>>();
  return ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set();
    // A response that has ended is in the set until the socket has taken it, for which Node itself waits before it reads on.
    if (responses.size >= limits.pipelinedRequests && unansweredOf(responses) >= limits.pipelinedRequests) {
      socket.destroy();
      return false;
    }
    open.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
    return true;
  };
}

function unansweredOf(responses: ReadonlySet<ServerResponse>): number {
  let count = 0;
  for (const { writableEnded } of responses) if (!writableEnded) count++;
  return count;
}
