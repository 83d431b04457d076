import { dayMs } from './clock.js';

/**
 * The one table of the limits that a client can meet; messages and the graph's descriptions read them from here. What
 * upstream grants is in `upstream/page-sizes.ts`, lifetimes are in `upstream/cache/freshness.ts`.
 */
export const limits = {
  // An operation, by default: the settings MAX_… of `config/settings.ts` move these five (docs/behaviour.md 2).
  /** Three times the deepest operation of `schema/operations`. */
  depth: 15,
  aliases: 30,
  tokens: 2_000,
  /** A request body or a message: variables can be long, operations are some kilobytes. */
  bodyBytes: 256 * 1024,
  /** Upstream requests at worst: some three minutes of the project's rate limit (docs/interfaces.md P8). */
  upstreamRequests: 200,

  // An operation, in any case.
  /** Each directive is looked up and coerced for every field that has it; real documents have a handful. */
  directives: 50,
  /** Nobody reads more; graphql-js stops here, with an error that says nothing of the document. */
  documentErrors: 100,
  /**
   * Values of one answer: eleven full pages of 5,000 health reports with all fields. Such an answer needs several hundred
   * megabytes, which a heap of 512 MB can hold, and several seconds of work, done in slices. A million, plus 10 % for the
   * values around the records.
   */
  answerValues: 1_100_000,

  /** Parts of one answer (`@defer`, `@stream`): a page of records, each with a part of its own, and streamed. */
  answerParts: 1_000,

  // An argument.
  /** `first` and `last`; a page of health reports may be as large as upstream's. */
  pageRecords: 500,
  /** `Query.nodes`: as many as a page has. */
  nodeIds: 500,
  /** `Waveform.envelope`: more points than any screen has columns. */
  envelopePoints: 100_000,
  /** `Sensor.healthHistory`: no chart is wider. */
  healthBuckets: 1_000,
  /** `SensorFilter.search`: longer than any code, Device ID or name of a site. */
  searchCharacters: 200,
  /** A name of a record. Upstream has none near this length, and a longer path may be refused on its way. */
  identifierCharacters: 512,
  /** A cursor of a feed, so that a request with one is good by GET. */
  feedCursorCharacters: 1_000,
  /** A cursor of triggers: room for the states of a thousand that one earthquake opens. */
  triggerCursorCharacters: 4_000,

  // Upstream requests for one page; past them the page is cut, with a cursor to continue.
  triggerPageRequests: 10,
  /** To each interface: one burst of the project's rate limit (docs/interfaces.md P8). */
  eventPageRequests: 20,
  healthPageRequests: 20,

  // A subscription (docs/behaviour.md 9.4, 9.5).
  /** A cursor is resumed from for this long. */
  resumeMs: 7 * dayMs,
  /** A resume from the change log reaches this far back; an older one reads upstream. */
  logMs: dayMs,
  logChanges: 50_000,
  /** Changes that a slow subscriber may be behind. */
  changesBehind: 1_000,

  // A connection.
  /** Ten thousand displays may share one token, or the address of one proxy. */
  socketsPerClient: 12_000,
  operationsPerSocket: 100,
  /** From the upgrade to `connection_init` (docs/behaviour.md 7). */
  socketInitMs: 5_000,
  /** These two bound the time of clients that send a request a byte at a time (slow loris). */
  requestHeadersMs: 10_000,
  requestMs: 30_000,
  /** Requests of a connection without an answer: clients that pipeline have a handful. */
  pipelinedRequests: 1_000,
  /** Keys kept apart in AUTH_MODE=passthrough: each has a cache, a rate limit and feeds. */
  tenants: 200,
} as const;
