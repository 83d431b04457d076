import type { Clock } from '../../../clock.js';
import { ClientGone } from '../../../errors.js';
import type { Answer } from '../../execution/answer.js';
import type { AnswerInParts } from '../../execution/answer-in-parts.js';
import type { Json } from '../../execution/json-pieces.js';
import type { Exchange } from '../exchange.js';
import type { PartsType } from '../request/media-type.js';
import { endWithAccess } from './end-with-access.js';
import { eventParts, multipartParts } from './framing.js';
import { sendParts, startParts } from './send-parts.js';

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

async function* allOf(first: Answer, rest: AsyncIterable<Answer>): AsyncGenerator<Json> {
  yield first.json;
  for await (const { json } of rest) yield json;
}

async function* nothing(): AsyncGenerator<Answer> {}
