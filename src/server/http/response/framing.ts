/** The texts around the parts of one response. */
export interface Framing {
  readonly contentType: string;
  readonly start: string;
  readonly before: string;
  readonly after: string;
  /** Sent between parts, so that no proxy takes the connection for dead; null where clients take none. */
  readonly heartbeat: { readonly text: string; readonly everyMs: number } | null;
  readonly end: string;
}

// A boundary follows each part at once: clients take a part only when they see its end.
const delimiter = '\r\n---';
const partHead = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';

/** Parts of a query's answer, as Apollo Client and Relay read them. */
export const multipartParts: Framing = {
  contentType: 'multipart/mixed; boundary="-"; deferSpec=20220824',
  start: delimiter,
  before: partHead,
  after: delimiter,
  heartbeat: null,
  end: '--\r\n',
};

/** Results of a subscription, by Apollo's protocol of subscriptions over multipart HTTP. */
export const multipartChanges: Framing = {
  contentType: 'multipart/mixed; boundary="-"; subscriptionSpec=1.0',
  start: delimiter,
  before: `${partHead}{"payload":`,
  after: `}${delimiter}`,
  // Apollo's router sends one as often.
  heartbeat: { text: `${partHead}{}${delimiter}`, everyMs: 5_000 },
  end: '--\r\n',
};

/** Server-sent events of the GraphQL over SSE protocol. */
export const eventParts: Framing = {
  contentType: 'text/event-stream',
  start: ':\n\n',
  before: 'event: next\ndata: ',
  after: '\n\n',
  heartbeat: { text: ':\n\n', everyMs: 12_000 },
  end: 'event: complete\ndata:\n\n',
};

/** One part. */
export function* framed<Piece>(
  pieces: Iterable<Piece>,
  { before, after }: Framing,
): Generator<Piece | string> {
  yield before;
  yield* pieces;
  yield after;
}

/** A whole response of one part. */
export function* framedAlone<Piece>(pieces: Iterable<Piece>, framing: Framing): Generator<Piece | string> {
  yield framing.start + framing.before;
  yield* pieces;
  yield framing.after + framing.end;
}

/** Headers of a stream: nothing on its way may keep it, compress it, or hold it back until there is more. */
export const headersOfStream = ['cache-control', 'no-store, no-transform', 'x-accel-buffering', 'no'];
