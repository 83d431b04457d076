import { isAsyncIterable } from 'graphql-yoga';
import type { Clock } from '../../clock.js';
import { ClientGone, Unauthenticated } from '../../errors.js';
import { clientError } from '../../graph/errors/error-codes.js';
import type { Answer } from '../execution/answer.js';
import type { AnswerInParts } from '../execution/answer-in-parts.js';
import { type GraphQLEngine, type OperationArgs, refusedKey } from '../execution/engine.js';
import { finishResult, shownResult } from '../execution/finished-result.js';
import type { Json } from '../execution/json-pieces.js';
import { listen, mapped } from '../execution/listen.js';
import { endWithAccess } from './end-with-access.js';
import type { Exchange } from './exchange.js';
import type { PartsType } from './media-type.js';
import { type Sending, sendAnswer } from './send-answer.js';
import { eventParts, multipartChanges, multipartParts, sendParts, startParts } from './send-parts.js';

/** Sends the answer of a query in parts; a whole one is the only part. */
export async function sendInParts(
  answer: Answer | AnswerInParts,
  exchange: Exchange,
  { type, clock }: { readonly type: PartsType; readonly clock: Clock },
): Promise<void> {
  const { request, response, operation } = exchange;
  const { first, rest } = 'rest' in answer ? answer : { first: answer, rest: nothing() };
  const framing = type === 'multipart/mixed' ? multipartParts : eventParts;
  try {
    if (response.destroyed) return;
    endWithAccess(exchange, clock);
    startParts(exchange, first.result, framing);
    if (request.method !== 'HEAD') return await sendParts(allOf(first, rest), response, { framing, clock });
    operation.abandon(new ClientGone('A response to HEAD has no parts'));
    response.end();
  } finally {
    // It is not awaited: a part that is still computed would delay it. A failure to end it is not a fault.
    rest.return(null).catch(() => {});
  }
}

/**
 * Sends the results of a subscription as parts. At shutdown they end without the last boundary, so that clients do not
 * take the subscription for complete.
 */
export async function sendChanges(
  engine: GraphQLEngine,
  args: OperationArgs,
  exchange: Exchange,
  sending: Sending & { readonly leaving: AbortSignal },
): Promise<void> {
  const { response, operation } = exchange;
  const { clock, leaving } = sending;
  // A stream that has begun has no status any more.
  const refusal = (await operation.client.verify())
    ? null
    : clientError(new Unauthenticated(refusedKey), engine.log);
  const changes = refusal ? finishResult({ errors: [refusal] }, operation) : await listen(engine, args);
  if (!isAsyncIterable(changes)) {
    const answer = { result: changes, json: JSON.stringify(shownResult(changes)) };
    return sendAnswer(answer, exchange, sending);
  }
  endWithAccess(exchange, clock);
  startParts(exchange, {}, multipartChanges);
  return sendParts(
    mapped(changes, (result) => JSON.stringify(result)),
    response,
    { framing: multipartChanges, clock, leaving },
  );
}

async function* allOf(first: Answer, rest: AsyncIterable<Answer>): AsyncGenerator<Json> {
  yield first.json;
  for await (const { json } of rest) yield json;
}

async function* nothing(): AsyncGenerator<Answer> {}
