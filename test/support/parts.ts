import type { RequestOptions, TestGateway } from './gateway.js';

/** One payload of an answer in parts. */
// biome-ignore lint/suspicious/noExplicitAny: tests read payloads by the shape of their own query
export type Payload = any;

const multipart =
  'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json;q=0.9';

/** The payloads of a response, as they come. */
export interface Parts {
  readonly response: Response;
  /** The next payload; null at the end in good order. Rejects when the response is cut off. */
  next(): Promise<Payload | null>;
  /** All that have not been taken. */
  rest(): Promise<Payload[]>;
}

export async function openParts(
  gw: Pick<TestGateway, 'fetch'>,
  query: string,
  {
    accept = multipart,
    variables = {},
    headers,
    signal,
  }: RequestOptions & { readonly accept?: string; readonly variables?: object } = {},
): Promise<Parts> {
  const response = await gw.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body: JSON.stringify({ query, variables }),
    ...(signal && { signal }),
  });
  const payloads = response.headers.get('content-type')?.startsWith('multipart/')
    ? multipartPayloads(response)
    : eventPayloads(response);
  const next = async () => {
    const step = await payloads.next();
    return step.done ? null : step.value;
  };
  return {
    response,
    next,
    async rest() {
      const all: Payload[] = [];
      for (let payload = await next(); payload !== null; payload = await next()) all.push(payload);
      return all;
    },
  };
}

async function* texts(response: Response): AsyncGenerator<string> {
  if (!response.body) throw new Error('No body came');
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) yield text;
}

/** RFC 2046, as strictly as the clients that read it. */
async function* multipartPayloads(response: Response): AsyncGenerator<Payload> {
  const boundary = /boundary="([^"]+)"/.exec(response.headers.get('content-type') ?? '')?.[1];
  const delimiter = `\r\n--${boundary}`;
  let got = '';
  let isFirst = true;
  for await (const text of texts(response)) {
    got += text;
    for (let at = got.indexOf(delimiter); at >= 0; at = got.indexOf(delimiter)) {
      const part = got.slice(0, at);
      got = got.slice(at + delimiter.length);
      if (isFirst) {
        if (part !== '') throw new Error(`A preamble came: ${part}`);
        isFirst = false;
        continue;
      }
      const [head = '', ...body] = part.split('\r\n\r\n');
      if (head.trim().toLowerCase() !== 'content-type: application/json; charset=utf-8')
        throw new Error(`A part of another type came: ${head}`);
      yield JSON.parse(body.join('\r\n\r\n'));
    }
  }
  if (got !== '--\r\n') throw new Error(`The parts were cut off: ${JSON.stringify(got)}`);
}

async function* eventPayloads(response: Response): AsyncGenerator<Payload> {
  let got = '';
  let isComplete = false;
  for await (const text of texts(response)) {
    got += text;
    const events = got.split('\n\n');
    got = events.pop() ?? '';
    for (const event of events) {
      if (event === 'event: complete\ndata:') isComplete = true;
      const [, data] = /^event: next\ndata: (.*)$/.exec(event) ?? [];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
  if (!isComplete) throw new Error('The events were cut off');
}

/** The answer that the payloads are together, as clients merge them. */
export function merged(payloads: readonly Payload[]): Payload {
  const [first = {}, ...rest] = payloads;
  const answer = structuredClone(first);
  for (const { incremental = [] } of rest) {
    for (const { path, data, items } of incremental) {
      if (items) {
        const list = at(answer.data, path.slice(0, -1));
        for (const [offset, item] of items.entries()) list[path.at(-1) + offset] = item;
      } else if (data) {
        mergeInto(at(answer.data, path), data);
      }
    }
  }
  return answer.data;
}

function at(data: Payload, path: readonly (string | number)[]): Payload {
  return path.reduce((value, key) => value[key], data);
}

function mergeInto(target: Payload, source: Payload): void {
  for (const [key, value] of Object.entries<Payload>(source)) {
    const known = target[key];
    if (known && value && typeof known === 'object' && typeof value === 'object') mergeInto(known, value);
    else target[key] = value;
  }
}
