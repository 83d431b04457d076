import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, OperationTypeNode } from 'graphql';
import { type Maybe, whenKnown } from '../../maybe.js';
import type { AnswerCache } from '../execution/answer-cache.js';
import type { GraphQLEngine, OperationArgs } from '../execution/engine.js';
import type { Operation } from '../execution/operation.js';
import { prepare, run } from '../execution/run.js';
import { asClient, type ClientRouteOptions } from './as-client.js';
import type { Exchange } from './exchange.js';
import type { GraphiQLPage } from './pages/graphiql.js';
import { demandOf, maxAgeInExtensions, stricter } from './request/demanded-age.js';
import {
  type Accepted,
  acceptedBy,
  asksForPage,
  isJson,
  type PartsType,
  rangesOf,
} from './request/media-type.js';
import { areWellFormed, bodyParameters, type Parameters, searchParameters } from './request/parameters.js';
import { bodyCodings, isDecodable, readBody } from './request/read-body.js';
import { sendInParts } from './response/answer-in-parts.js';
import { type Head, setHead } from './response/head.js';
import { isMethod, isRead, refuse, sendError } from './response/reply.js';
import { ResponseBatch } from './response/response-batch.js';
import { sendAnswer, sendCached } from './response/send-answer.js';
import { sendChanges } from './response/send-changes.js';
import { sendResponse } from './response/send-response.js';

export interface GraphQLRouteOptions extends ClientRouteOptions {
  readonly engine: GraphQLEngine;
  readonly answers: AnswerCache;
  /** Null with GRAPHIQL=false. */
  readonly graphiql: GraphiQLPage | null;
  /** Aborted at shutdown: open streams end. */
  readonly leaving: AbortSignal;
}

type Route = (request: IncomingMessage, response: ServerResponse, head: Head) => Maybe<void>;

/**
 * `/graphql` over HTTP. Valid operations are executed directly; refused ones go through Yoga, which gets the parameters
 * that were already read.
 */
export function graphqlRoute(options: GraphQLRouteOptions): Route {
  const { engine, answers, graphiql, leaving, clock } = options;
  const batch = new ResponseBatch();

  /** @param requestText the body of a POST, or the query string of a GET with its `?` */
  function answer(exchange: Exchange, requestText: string): Maybe<void> {
    const { request, operation } = exchange;
    const accepted = acceptedBy(request.headers.accept);
    const { whole: type, parts } = accepted;
    const cached = type && answers.find(requestText, operation);
    if (cached) return sendCached(cached, exchange, { type, clock, batch });
    batch.flush();
    operation.takesParts = parts !== null;
    const read = parametersOf(requestText);
    operation.demand = stricter(operation.demand, demandOf(read.maxAgeMs, clock.now()));
    answers.note(operation);
    const args = read.parameters && prepared(read.parameters, operation);
    const sending = { asked: requestText, type: type ?? 'application/json', answers, clock, batch };
    if (args && operation.kind === OperationTypeNode.SUBSCRIPTION) {
      return sendChanges(engine, args, exchange, {
        ...sending,
        parts: changesType(accepted, request),
        leaving,
      });
    }
    if (!(type ?? parts) || !args || operation.kind !== OperationTypeNode.QUERY)
      return answerByYoga(exchange, read.orFail);
    return whenKnown(run(engine, args), (computed) => {
      if (parts && ('rest' in computed || !type))
        return sendInParts(computed, exchange, { type: parts, clock });
      if (!('rest' in computed)) return sendAnswer(computed, exchange, sending);
    });
  }

  /** A body that starts with `?` is not JSON; as a cache key it would collide with the query string of a GET. */
  function answerBody(exchange: Exchange, body: string): Maybe<void> {
    if (body.startsWith('?')) return answerByYoga(exchange, () => bodyParameters(body));
    return answer(exchange, body);
  }

  /** The prepared query or subscription; null for everything else, which Yoga answers. */
  function prepared(parameters: Parameters, operation: Operation): OperationArgs | null {
    try {
      const args = prepare(engine, parameters, operation);
      return 'document' in args ? args : null;
    } catch {
      // Yoga meets the same error and reports it.
      return null;
    }
  }

  async function answerByYoga(exchange: Exchange, parameters: () => object): Promise<void> {
    const { request, response, head, operation } = exchange;
    const { method = '', headers, url } = request;
    operation.dependencies = null;
    setHead(response, head);
    const address = new URL(url ?? '', `http://${headers.host ?? 'localhost'}`);
    const accept =
      headers.accept === undefined ? undefined : singleRangesOf(headers.accept) || headers.accept;
    // Node leaves the content out of the response to HEAD.
    const init = { method: isRead(method) ? 'GET' : method, headers: accept === undefined ? {} : { accept } };
    const answer = await engine.yoga.fetch(address, init, { operation, parameters });
    if (answer.status === 406 && answer.body === null) return refuse(response, 406, notAcceptable);
    await sendResponse(answer, response);
  }

  function refuseBody({ response, head, operation }: Exchange, status: 400 | 413, reason: string): void {
    const code = status === 413 ? 'QUERY_TOO_COMPLEX' : 'BAD_REQUEST';
    operation.addErrorCode(code);
    setHead(response, head);
    sendError(response, status, new GraphQLError(reason, { extensions: { code } }));
  }

  return (request, response, head) => {
    const { method, url = '', headers } = request;
    const isPost = method === 'POST' && isJson(headers['content-type']);
    const isGet = isRead(method) && !asksForPage(request);
    if (!isPost && !isGet) {
      setHead(response, head);
      if (!isMethod(request, response, ['GET', 'HEAD', 'POST'])) return;
      // Content types of HTML forms are refused: pages of other origins can send them without a CORS preflight.
      if (method === 'POST') return refuse(response, 415, 'Send the operation as application/json, in UTF-8');
      if (graphiql) return graphiql.send(request, response);
      return refuse(response, 406, 'GraphiQL is switched off here: ask for application/json');
    }
    if (isPost && !isDecodable(request)) {
      setHead(response, head);
      return refuse(response, 415, `Send the body in one of these content codings: ${bodyCodings}`, {
        'accept-encoding': bodyCodings,
      });
    }
    return asClient(options, request, response, head, (operation) => {
      const exchange = { request, response, head, operation };
      if (isGet) return answer(exchange, searchOf(url));
      return new Promise((resolve, reject) => {
        readBody(request, engine.limits.maxBodyBytes, (body) => {
          try {
            resolve(
              'text' in body
                ? answerBody(exchange, body.text)
                : refuseBody(exchange, body.status, body.reason),
            );
          } catch (error) {
            reject(error);
          }
        });
      });
    });
  };
}

const notAcceptable =
  'Accept application/json or application/graphql-response+json, and text/event-stream for a subscription';

/** The media type of the results of a subscription; null for a client that accepts none. */
function changesType({ changes, events }: Accepted, { method }: IncomingMessage): PartsType | null {
  if (changes && method === 'POST') return 'multipart/mixed';
  return events ? 'text/event-stream' : null;
}

/** The query string with its `?`, which no JSON text starts with. */
function searchOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '?' : url.slice(at).replace(/#.*$/s, '');
}

/** Without `multipart/mixed` where there is a choice: what Yoga answers has one part. */
function singleRangesOf(accept: string): string {
  const ranges = rangesOf(accept);
  const others = ranges.filter((range) => range !== 'multipart/mixed');
  return (others.length > 0 ? others : ranges).join();
}

interface RequestParameters {
  readonly parameters: Parameters | null;
  /** Greatest age of cached responses that the client demands; null without a demand. */
  readonly maxAgeMs: number | null;
  readonly orFail: () => object;
}

/** Parses the parameters: `parameters` for direct execution, null where malformed; `orFail` for Yoga. */
function parametersOf(requestText: string): RequestParameters {
  try {
    const given = requestText.startsWith('?')
      ? searchParameters(requestText.slice(1))
      : bodyParameters(requestText);
    const orFail = () => given;
    if (!areWellFormed(given)) return { parameters: null, maxAgeMs: null, orFail };
    return { parameters: given, maxAgeMs: maxAgeInExtensions(given.extensions), orFail };
  } catch (error) {
    const orFail = () => {
      throw error;
    };
    return { parameters: null, maxAgeMs: null, orFail };
  }
}
