import { latest } from '../../../clock.js';
import { QueryTooComplex } from '../../../errors.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { UnifyContext } from '../../context.js';
import { Instant } from '../../time/instant.js';
import { mergeSpans, type Span } from '../../time/spans.js';
import type { Trigger } from '../record.js';
import { projectTriggers, scanTriggers, type TriggerScan } from './scan.js';

// Most requests for one batch; spans that need more are too long or too full for one operation.
const mostRequests = 20;

/**
 * The triggers of several time spans, oldest first, and possibly some between the spans. Distant spans are read one by
 * one, or as one range when upstream's count shows that this takes fewer requests.
 * @throws QueryTooComplex when they need too many requests
 */
export async function triggersIn(ctx: UnifyContext, spans: readonly Span[]): Promise<readonly Trigger[]> {
  const apart = mergeSpans(spans, 0);
  const [first, last] = [apart[0], apart.at(-1)];
  if (!first || !last) return [];
  const triggers: Trigger[] = [];
  const whole = { fromMs: first.fromMs, toMs: last.toMs };
  const start = await read(ctx, whole, null, apart.length === 1 ? mostRequests : 1);
  triggers.push(...start.triggers);
  if (!start.more) return triggers;
  const readToMs = start.reached?.startTime.ms ?? whole.fromMs;
  const rest = apart.filter(({ toMs }) => toMs >= readToMs);
  const pagesLeft =
    start.total === null ? Number.POSITIVE_INFINITY : Math.ceil(start.total / largestPage.project) - 1;
  if (pagesLeft <= rest.length && apart.length > 1) {
    const { triggers: more, more: unread } = await read(ctx, whole, start.reached, mostRequests);
    if (!unread) return [...triggers, ...more];
  } else if (apart.length > 1 && rest.length < mostRequests) {
    const parts = await Promise.all(
      rest.map((span) =>
        read(ctx, { ...span, fromMs: latest(span.fromMs, readToMs) }, start.reached, mostRequests),
      ),
    );
    if (parts.every(({ more }) => !more)) return [...triggers, ...parts.flatMap((part) => part.triggers)];
  }
  throw new QueryTooComplex(
    'Too many triggers started in the time that this operation asks about: ask for fewer events',
  );
}

async function read(
  ctx: UnifyContext,
  { fromMs, toMs }: Span,
  after: TriggerScan['after'],
  most: number,
): Promise<
  Omit<Awaited<ReturnType<typeof scanTriggers>>, 'triggers'> & { readonly triggers: readonly Trigger[] }
> {
  const scanned = await scanTriggers({
    read: projectTriggers(ctx),
    order: 'asc',
    from: Instant.fromMs(fromMs),
    to: Instant.fromMs(toMs),
    after,
    wanted: Number.POSITIVE_INFINITY,
    mostRequests: most,
  });
  return { ...scanned, triggers: scanned.triggers.map(({ trigger }) => trigger) };
}
