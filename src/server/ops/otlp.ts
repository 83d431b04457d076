import type { Clock, Timer } from '../../clock.js';
import type { Log } from '../../log.js';

/** A finished span, with the fields of OTLP. Attributes hold no key, address or position. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | null>>;
  readonly failed: boolean;
}

/** Sends spans to a collector, in batches (OTLP over HTTP, as JSON). */
export interface SpanExporter {
  add(span: Span): void;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

export interface SpanExporterOptions {
  /** OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` is added to it. */
  readonly endpoint: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

const sendEveryMs = 2_000;
// While the collector is unreachable, spans beyond this number are dropped, which bounds the memory.
const mostWaiting = 2_048;
const timeoutMs = 5_000;

export function createSpanExporter({ endpoint, version, clock, log }: SpanExporterOptions): SpanExporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const resource = { attributes: attributesOf({ 'service.name': 'seisgraph', 'service.version': version }) };
  let waiting: Span[] = [];
  let timer: Timer | null = null;
  let isReached = true;

  async function send(): Promise<void> {
    timer = null;
    const spans = waiting;
    waiting = [];
    if (spans.length === 0) return;
    const body = {
      resourceSpans: [
        {
          resource,
          scopeSpans: [{ scope: { name: 'seisgraph' }, spans: spans.map((span) => wireOf(span, clock)) }],
        },
      ],
    };
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`status ${response.status}`);
      isReached = true;
    } catch (error) {
      // Logged once per outage, not for each batch.
      if (isReached)
        log.warn({ error: String(error), spans: spans.length }, 'The trace collector cannot be reached');
      isReached = false;
    }
  }

  return {
    add(span) {
      if (waiting.length >= mostWaiting) return;
      waiting.push(span);
      timer ??= clock.timer(sendEveryMs, () => void send());
    },
    close() {
      timer?.cancel();
      return send();
    },
  };
}

const kinds = { internal: 1, server: 2, client: 3 };

function wireOf(
  { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, failed }: Span,
  clock: Clock,
) {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(clock.wallMs(startMs)),
    endTimeUnixNano: nanoseconds(clock.wallMs(endMs)),
    attributes: attributesOf(attributes),
    status: { code: failed ? 2 : 0 },
  };
}

function attributesOf(attributes: Readonly<Record<string, string | number | null>>) {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === null) return [];
    return [{ key, value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value } }];
  });
}

// A text, since a JavaScript number cannot hold 19 digits.
function nanoseconds(ms: number): string {
  return String(BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6)));
}
