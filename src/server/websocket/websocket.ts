import type { IncomingMessage, Server } from 'node:http';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { realClock } from '../../clock.js';
import { credentialsOf } from '../http/as-client.js';
import type { BrowserPolicy } from '../http/browser-safety.js';
import { pathOf } from '../http/http.js';
import { withoutEmpty } from '../http/request/parameters.js';
import { refusalOfRepeated, toOriginForm } from '../http/request/request-head.js';
import { asksForWebSocket, ignoreUpgrade, onUpgrade } from '../http/request/upgrade.js';
import { refuseConnection } from '../http/response/refuse-connection.js';
import { Heartbeat } from './heartbeat.js';
import { type ProtocolOptions, socketProtocol } from './protocol.js';
import { SocketSession } from './session.js';
import { socketSinks } from './sink.js';

export interface WebSocketOptions extends ProtocolOptions {
  readonly policy: BrowserPolicy;
  /** Largest message, in bytes. */
  readonly maxBodyBytes: number;
}

/** The sockets of one server: graphql-transport-ws at `/graphql`. */
export interface Sockets {
  readonly count: number;
  /** Closes every socket with 1012, so that clients reconnect and resume; cuts off those that do not answer. */
  restart(): void;
  close(): void;
}

// Bound of unsent pongs and other control messages. Results have their own backpressure.
const unreadMaxBytes = 8 * 1024 * 1024;
const serviceRestart = 1012;
const tryAgainLater = 1013;

export function attachWebSockets(server: Server, options: WebSocketOptions): Sockets {
  const { policy, maxBodyBytes, log } = options;
  const protocol = makeServer(socketProtocol(options));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBodyBytes,
    // Accepts any sub-protocol first, so that graphql-ws can close a wrong one with 4406 instead of a failed handshake.
    handleProtocols: (asked) =>
      asked.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : ([...asked][0] ?? false),
  });
  sockets.on('wsClientError', ({ message }, connection) =>
    refuseConnection(connection, 400, message, { 'sec-websocket-version': '13, 8' }),
  );
  const endings = new WeakMap<WebSocket, Ending>();
  // Uses the machine's clock, since connections run on it.
  const heartbeat = new Heartbeat({
    clock: realClock,
    onSilent(socket) {
      // A client that merely did not read can still receive the reason; ws cuts it off half a minute later.
      endings.get(socket)?.(tryAgainLater, noAnswer);
      socket.close(tryAgainLater, noAnswer);
    },
  });
  let isLeaving = false;

  onUpgrade(server, (request, connection, head) => {
    if (!asksForWebSocket(request)) return ignoreUpgrade(server, request, connection, head);
    connection.on('error', () => connection.destroy());
    toOriginForm(request);
    const repeated = refusalOfRepeated(request);
    if (repeated !== null) return refuseConnection(connection, 400, repeated);
    if (pathOf(request) !== '/graphql')
      return refuseConnection(connection, 404, 'WebSockets are at /graphql');
    const refusal = policy.refusal('/graphql', request.headers);
    if (refusal !== null) return refuseConnection(connection, 403, refusal);
    if (isLeaving) return refuseConnection(connection, 503, 'The gateway is shutting down');
    // ws takes the name of the protocol by itself only.
    request.headers.upgrade = 'websocket';
    sockets.handleUpgrade(request, connection, head, (socket) => open(socket, request));
  });

  function open(socket: WebSocket, request: IncomingMessage): void {
    const session = new SocketSession({
      credentials: credentialsOf(request),
      wantsCost: request.headers['x-upstream-cost'] === '1',
      close: (code, reason) => socket.close(code, reason),
      sinkFor: socketSinks(socket, request.socket),
    });
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => sent(socket, text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) =>
          socket.on('message', (data) => void receive(socket, session, String(data), take)),
      },
      session,
    );
    socket.on('ping', () => dropUnread(socket));
    // After an invalid or oversized frame ws closes the socket with the proper code.
    socket.on('error', (error) => log.debug({ error: error.message }, 'A socket broke the protocol'));
    let isOver = false;
    const end: Ending = (code, reason) => {
      if (isOver) return;
      isOver = true;
      session.end();
      void closed(code, reason);
    };
    endings.set(socket, end);
    socket.once('close', (code, reason) => end(code, String(reason)));
    heartbeat.watch(socket, request.socket);
  }

  async function receive(
    socket: WebSocket,
    session: SocketSession,
    text: string,
    take: (text: string) => Promise<void>,
  ): Promise<void> {
    dropUnread(socket);
    // Messages that arrive after the gateway has closed the socket are dropped.
    if (socket.readyState !== socket.OPEN) return;
    session.seeComplete(text);
    try {
      await take(withoutEmptyTexts(text));
    } catch (error) {
      // graphql-ws throws for a message that only a server sends, and for its own faults.
      if (isOfServer(text)) return socket.close(4400, 'Invalid message received');
      log.error({ error: String(error) }, 'A message could not be handled');
      socket.close(4500, 'Internal server error');
    }
  }

  return {
    get count() {
      return sockets.clients.size;
    },
    restart() {
      isLeaving = true;
      for (const socket of sockets.clients) socket.close(serviceRestart, 'Service restart');
    },
    close() {
      heartbeat.stop();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}

/** Ends the operations of a socket; the socket itself may take longer to close. */
type Ending = (code: number, reason: string) => void;

const noAnswer = 'No answer to a ping';

/**
 * The message with an empty text for a parameter left out, as in the body of a POST: graphql-ws would close the socket,
 * since its protocol has objects or null there.
 */
function withoutEmptyTexts(text: string): string {
  if (!/"(?:variables|extensions)"\s*:\s*""/.test(text)) return text;
  try {
    const message = JSON.parse(text);
    const { type, payload } = message;
    if (type !== MessageType.Subscribe) return text;
    return JSON.stringify({ ...message, payload: { ...withoutEmpty(payload), query: payload.query } });
  } catch {
    // graphql-ws refuses malformed messages itself.
    return text;
  }
}

function isOfServer(text: string): boolean {
  const { type } = JSON.parse(text);
  return type === MessageType.ConnectionAck || type === MessageType.Next || type === MessageType.Error;
}

/** Resolves when the kernel has taken the text: backpressure for a client that reads slowly. */
function sent(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) resolve();
    else
      socket.send(text, (error) => (error && socket.readyState === socket.OPEN ? reject(error) : resolve()));
  });
}

function dropUnread(socket: WebSocket): void {
  if (socket.bufferedAmount > unreadMaxBytes) socket.terminate();
}
