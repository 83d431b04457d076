import type { RequestOptions, TestGateway } from './gateway.js';

/** The server-sent events of one subscription. */
export interface EventStream {
  readonly response: Response;
  readonly reader: ReadableStreamDefaultReader<string>;
  /** All that has come. */
  text(): string;
  /** All that has come when the stream ends in good order; rejects when it is cut off. */
  readonly ended: Promise<string>;
}

export async function openEventStream(
  gw: Pick<TestGateway, 'fetch'>,
  query: string,
  { headers, signal }: RequestOptions = {},
): Promise<EventStream> {
  return streamOf(
    await gw.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify({ query }),
      ...(signal && { signal }),
    }),
  );
}

/** The same by GET, as an `EventSource` asks for it. */
export async function getEventStream(
  gw: Pick<TestGateway, 'fetch'>,
  query: string,
  variables: object = {},
): Promise<EventStream> {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  return streamOf(await gw.fetch(`/graphql?${parameters}`, { headers: { accept: 'text/event-stream' } }));
}

function streamOf(response: Response): EventStream {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error('No stream came');
  let got = '';
  const read = async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) got += step.value;
    return got;
  };
  const ended = read();
  ended.catch(() => undefined);
  return { response, reader, text: () => got, ended };
}

/** A subscription's end by the gateway, as server-sent events: the error, then `complete`. */
export function lastEventsOf(text: string) {
  const [next = '', complete] = text
    .split('\n\n')
    .filter((event) => event.startsWith('event:'))
    .slice(-2);
  const [, data = 'null'] = /^event: next\ndata: (.*)$/.exec(next) ?? [];
  return { errors: JSON.parse(data)?.errors, complete };
}
