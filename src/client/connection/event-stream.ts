import type { FormattedExecutionResult } from 'graphql';
import { GraphError, networkError } from '../errors.js';
import { addressOf } from './address.js';
import { type Headers, type OperationText, parsedResult, post, resultIn } from './post.js';

/**
 * Opens a subscription: one result after another until the connection ends. Throws `GraphError`.
 * @param onOpen is called once the connection is there
 */
export type Open = (
  operation: OperationText,
  signal: AbortSignal,
  onOpen: () => void,
) => AsyncIterable<FormattedExecutionResult>;

// The gateway writes a comment every 12 s: a connection that is silent for longer than two has been lost.
const longestSilenceMs = 30_000;

/** Subscribes over server-sent events. What is not taken is not read: a slow consumer holds up the gateway, not the memory. */
export function overEventStream(address: string, headers: Headers): Open {
  const url = addressOf(address, 'http');
  return async function* open(operation, signal, onOpen) {
    const silence = new AbortController();
    const lost = networkError(`Nothing came from ${url} for ${longestSilenceMs / 1_000} s`);
    const unlessSilent = <T>(step: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => silence.abort(lost), longestSilenceMs);
      return step.finally(() => clearTimeout(timer));
    };
    const accept = 'text/event-stream';
    const either = AbortSignal.any([signal, silence.signal]);
    try {
      const response = await unlessSilent(post(operation, { url, headers, accept, signal: either }));
      if (!response.body || !response.headers.get('content-type')?.startsWith(accept)) {
        yield await unlessSilent(resultIn(response));
        return;
      }
      onOpen();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        const step = await unlessSilent(reader.read()).catch((error) => {
          throw networkError('The event stream broke off', error);
        });
        if (step.done) return;
        for (const { name, data } of parser.take(step.value)) {
          if (name === 'complete') return;
          if (name === 'next') yield resultOf(data);
        }
      }
    } finally {
      silence.abort();
    }
  };
}

function resultOf(data: string): FormattedExecutionResult {
  const result = parsedResult(data);
  if (result) return result;
  throw new GraphError({ message: 'An event of the stream is not a result of GraphQL' });
}

interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
}

/** Takes the text of an event stream in pieces of any size. The gateway ends its lines with a line feed. */
class EventParser {
  #text = '';

  take(piece: string): readonly ServerSentEvent[] {
    const blocks = (this.#text + piece).split('\n\n');
    this.#text = blocks.pop() ?? '';
    return blocks.map((block) => {
      const fieldsOf = (name: string) =>
        block
          .split('\n')
          .flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1)] : []));
      return { name: fieldsOf('event').join('').trim(), data: fieldsOf('data').join('\n') };
    });
  }
}
