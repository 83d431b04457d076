import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../clock.js';
import { ClientGone } from '../../errors.js';
import { clientError } from '../../graph/errors/error-codes.js';
import type { Log } from '../../log.js';
import type { Maybe } from '../../maybe.js';
import type { Access, Client, Credentials } from '../auth/auth.js';
import type { ClientRate } from '../auth/client-rate.js';
import { type OnFinished, Operation } from '../execution/operation.js';
import { demandOf, maxAgeInHeaders } from './request/demanded-age.js';
import { type Head, setHead, textOf } from './response/head.js';
import { sendError } from './response/reply.js';

const gone = new ClientGone('The client has gone');

export interface ClientRouteOptions {
  readonly access: Access;
  readonly clientRate: ClientRate;
  readonly onFinished: OnFinished;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Authenticates the request, applies the client's rate limit and runs `answer`. Adds the request id to `head`, which
 * `answer` has to send. Synchronous unless authentication or the rate limit returns a promise.
 */
export function asClient(
  { access, clientRate, onFinished, clock, log }: ClientRouteOptions,
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  answer: (operation: Operation) => Maybe<void>,
): Maybe<void> {
  const startedAtMs = clock.now();
  const id = randomUUID();
  head.push('x-request-id', id);

  function refused(error: unknown): void {
    setHead(response, head);
    sendError(response, 500, clientError(error, log));
  }

  function admitted(client: Client): Maybe<void> {
    const { headers } = request;
    const wantsCost = headers['x-upstream-cost'] === '1';
    const demand = demandOf(maxAgeInHeaders(headers), startedAtMs);
    const operation = new Operation({ client, startedAtMs, wantsCost, demand, headers }, id);
    response.once('close', () => {
      if (!response.writableFinished) {
        operation.abandon(gone);
        // A subscription always ends so; any other operation has lost its answer.
        if (operation.kind !== 'subscription') operation.addErrorCode(gone.code);
      }
      client.release();
      const status = response.headersSent ? response.statusCode : null;
      onFinished(operation, { durationMs: clock.now() - startedAtMs, status });
    });
    let taken: void | Promise<void>;
    try {
      taken = clientRate.take(client.id);
    } catch (error) {
      return refused(error);
    }
    return taken ? taken.then(() => answer(operation), refused) : answer(operation);
  }

  let client: Maybe<Client>;
  try {
    client = access.authenticate(credentialsOf(request));
  } catch (error) {
    return refused(error);
  }
  return client instanceof Promise ? client.then(admitted, refused) : admitted(client);
}

export function credentialsOf({ headers, socket }: IncomingMessage): Credentials {
  return {
    authorization: headers.authorization ?? null,
    catalogueKey: textOf(headers['x-catalogue-key']),
    address: socket.remoteAddress ?? '',
  };
}
