import { GraphQLError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { ClientGone, Unauthenticated } from '../../../errors.js';
import { clientError } from '../../../graph/errors/error-codes.js';
import { jsonOfResult } from '../../../graph/subscriptions/shared-result.js';
import type { GraphQLEngine, OperationArgs } from '../../execution/engine.js';
import { finishResult, shownResult } from '../../execution/finished-result.js';
import { listen, mapped } from '../../execution/listen.js';
import type { Exchange } from '../exchange.js';
import type { PartsType } from '../request/media-type.js';
import { endWithAccess } from './end-with-access.js';
import { eventParts, multipartChanges } from './framing.js';
import { type Sending, sendAnswer } from './send-answer.js';
import { sendParts, startParts } from './send-parts.js';

/**
 * Sends the results of a subscription as parts; null refuses a client that accepts none. At shutdown they end without
 * the last boundary or event, so that clients do not take the subscription for complete.
 */
export async function sendChanges(
  engine: GraphQLEngine,
  args: OperationArgs,
  exchange: Exchange,
  sending: Sending & { readonly parts: PartsType | null; readonly leaving: AbortSignal },
): Promise<void> {
  const { request, response, operation } = exchange;
  const { parts, clock, leaving } = sending;
  const changes = parts ? await verifiedChanges(engine, args) : finishResult(noStream(), operation);
  if (!isAsyncIterable(changes)) {
    const answer = { result: changes, json: JSON.stringify(shownResult(changes)) };
    return sendAnswer(answer, exchange, sending);
  }
  const framing = parts === 'multipart/mixed' ? multipartChanges : eventParts;
  if (!response.destroyed) {
    endWithAccess(exchange, clock);
    startParts(exchange, {}, framing);
  }
  if (request.method === 'HEAD') operation.abandon(new ClientGone('A response to HEAD has no parts'));
  return sendParts(mapped(changes, jsonOfResult), response, { framing, clock, leaving });
}

/** The results, for a client that still has its access: the response of a stream that has begun has no status any more. */
async function verifiedChanges(engine: GraphQLEngine, args: OperationArgs) {
  const { operation } = args.contextValue;
  if (await operation.client.verify()) return listen(engine, args);
  const refusal = new Unauthenticated('Upstream refuses this key');
  return finishResult({ errors: [clientError(refusal, engine.log)] }, operation);
}

const noStream = () => ({
  errors: [
    new GraphQLError('A subscription is answered to `Accept: text/event-stream`, or over a WebSocket', {
      extensions: { code: 'BAD_REQUEST' },
    }),
  ],
  extensions: { http: { status: 406 } },
});
