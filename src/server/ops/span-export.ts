import { setTimeout as after } from 'node:timers/promises';
import { DiagLogLevel, diag, type Tracer } from '@opentelemetry/api';
import { ExportResultCode, loggingErrorHandler, setGlobalErrorHandler } from '@opentelemetry/core';
import { defaultResource, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Clock, type ForwardMs, longAgo, minuteMs, plus } from '../../clock.js';
import type { TracingConfig } from '../../config/config.js';
import type { Log } from '../../log.js';

/** The OpenTelemetry SDK, which samples spans and sends them to a collector in batches. */
export interface SpanExport {
  readonly tracer: Tracer;
  /** Sends the remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

export interface SpanExportOptions {
  readonly settings: TracingConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

const closeWithinMs = 2_000;
const warnEveryMs = 10 * minuteMs;
const failedDetector = 'EnvDetector failed';

/** Throws where the SDK objects to a variable of the environment, which it would otherwise pass over. */
export async function openSpanExport(options: SpanExportOptions): Promise<SpanExport> {
  const { settings, version, clock, log } = options;
  const { url, headers } = settings;
  const warn = rareWarning(clock, log);
  const objections: string[] = [];
  let reported: (problem: string) => void = (problem) => objections.push(problem);
  const ignore = () => {};
  const report = (...parts: unknown[]) =>
    reported(parts.filter((part) => typeof part === 'string').join(' '));
  // The SDK discards all of OTEL_RESOURCE_ATTRIBUTES where one is wrong, and says so at this level only.
  const debug = (text: string) =>
    text.startsWith(failedDetector) && report(text.replace(failedDetector, 'OTEL_RESOURCE_ATTRIBUTES'));
  const logger = { error: report, warn: report, info: ignore, debug, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.DEBUG, suppressOverrideMessage: true });

  const { OTLPTraceExporter } = await exporterFor(settings.protocol);
  const exporter = new OTLPTraceExporter({ url, headers });
  const processor = new BatchSpanProcessor({
    export(spans, done) {
      exporter.export(spans, ({ error }) => {
        if (error) warn(reasonOf(error), spans.length);
        // The processor could only report the failure a second time.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  });
  const own = { 'service.name': 'seisgraph', 'service.version': version };
  const resource = resourceFromAttributes({ ...own, ...envDetector.detect().attributes });
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resource),
    spanProcessors: [processor],
  });
  // It names a default that the gateway will not start with.
  if (objections[0])
    throw new Error(objections[0].replace(/[,.] ?(defaulting|falling|using|Expected).*/s, ''));
  // The text after the colon can repeat a part of the collector's answer, in which a secret would not be recognised.
  reported = (problem) => warn(problem.replace(/:.*/s, ''), lostBy(problem));
  setGlobalErrorHandler((error) => warn(typeof error === 'string' ? error : reasonOf(error), 0));

  return {
    tracer: provider.getTracer('seisgraph'),
    async close() {
      const sent = provider.shutdown().then(
        () => true,
        () => false,
      );
      if (!(await Promise.race([sent, after(closeWithinMs, false, { ref: false })])))
        log.warn({}, 'The trace collector did not take the last spans in time');
      diag.disable();
      setGlobalErrorHandler(loggingErrorHandler());
    },
  };
}

function exporterFor(protocol: TracingConfig['protocol']) {
  return protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto');
}

/** Warns at once, and then at most every ten minutes with the spans lost since: a collector can be away for days. */
function rareWarning(clock: Clock, log: Log): (error: string, spans: number) => void {
  let quietUntilMs: ForwardMs = longAgo;
  let lostSpans = 0;
  return (error, spans) => {
    lostSpans += spans;
    if (clock.now() < quietUntilMs) return;
    quietUntilMs = plus(clock.now(), warnEveryMs);
    log.warn({ error, lostSpans }, 'The trace collector does not take all spans');
    lostSpans = 0;
  };
}

// The SDK has the numbers in its texts alone: spans that found no room to wait, and ones that the collector refused.
function lostBy(problem: string): number {
  const [, dropped, refused] = /Dropped (\d+) spans|"rejectedSpans":"?(\d+)/.exec(problem) ?? [];
  return Number(dropped ?? refused ?? 0);
}

// The response's body stays out of the log: its length and content are the collector's.
function reasonOf({
  message,
  code,
}: {
  readonly message?: string | undefined;
  readonly code?: unknown;
}): string {
  return typeof code === 'number' ? `status ${code} ${message}` : message || String(code);
}
