import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listen } from '../../src/server/http/listen.js';
import { cleanUpAfterTests } from './clean-up.js';

/** A span as OTLP has it in JSON. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** In the order of their arrival. */
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly IncomingMessage[];
  /** All bodies, decoded. */
  readonly text: string;
  /** Attributes of the service in the last request. */
  readonly resource: Readonly<Record<string, unknown>>;
  named(name: string): ReceivedSpan | undefined;
}

export type Answer = (response: ServerResponse) => void;

/** A collector of traces on a free port. */
export async function startCollector(answer: Answer = (response) => response.end('{}')): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: IncomingMessage[] = [];
  let text = '';
  let resource = {};
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    text += plain.toString('latin1');
    if (request.headers['content-type'] === 'application/json') {
      for (const sent of JSON.parse(String(plain)).resourceSpans) {
        resource = valuesOf(sent.resource.attributes);
        for (const scope of sent.scopeSpans) spans.push(...scope.spans);
      }
    }
    requests.push(request);
    answer(response);
  });
  const { url } = await listen(server, 0, '127.0.0.1');
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  cleanUpAfterTests(close);
  return {
    url,
    spans,
    requests,
    get text() {
      return text;
    },
    get resource() {
      return resource;
    },
    named: (name) => spans.find((span) => span.name === name),
    [Symbol.asyncDispose]: close,
  };
}

/** Attributes by name. */
export function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
