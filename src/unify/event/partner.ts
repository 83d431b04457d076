import { floorTo, forever, plus } from '../../clock.js';
import { UpstreamUnavailable } from '../../errors.js';
import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import { asId, type ProjectEventId } from '../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { UnifyContext } from '../context.js';
import { boxAround, type Point, splitBox } from '../geo/geodesy.js';
import { associate, closeReach, type Reach, wideReach } from './association.js';
import { CatalogueReader } from './list/catalogue-window.js';
import { IssueTimeScan } from './list/issue-time-scan.js';
import { catalogueSolution, projectSolution, type Solution } from './solution.js';

/**
 * The catalogue's record of the same earthquake; null when it has none. One request for the catalogue's records around
 * the origin time; if one there could match, another for rivals among the project's records.
 */
export async function cataloguePartner(
  ctx: UnifyContext,
  record: Read<WireProjectEvent>,
): Promise<Read<WireCatalogueEvent> | null> {
  const solution = projectSolution(record.value);
  if (!solution || !ctx.catalogue) return sameId(ctx, record.value.id);
  const catalogue = await catalogueAround(ctx, solution);
  const candidate = associate([record], catalogue).get(record);
  if (!candidate || isSameId(candidate.value, record.value)) return candidate ?? null;
  const rivals = await projectAround(ctx, catalogueSolution(candidate.value) ?? solution);
  const project = [record, ...rivals.filter(({ value }) => value.id !== record.value.id)];
  return associate(project, catalogue).get(record) ?? null;
}

/** The project's record of the same earthquake; null when it has none. */
export async function projectPartner(
  ctx: UnifyContext,
  record: Read<WireCatalogueEvent>,
): Promise<Read<WireProjectEvent> | null> {
  const solution = catalogueSolution(record.value);
  if (!solution || !ctx.project) return null;
  const project = await projectAround(ctx, solution);
  const candidate = partnerOf(record, project, [record]);
  if (!candidate || isSameId(candidate.value, record.value)) return candidate;
  const rivals = await catalogueAround(ctx, projectSolution(candidate.value) ?? solution);
  return partnerOf(record, project, [record, ...rivals.filter(({ value }) => value.id !== record.value.id)]);
}

function partnerOf(
  record: Read<WireCatalogueEvent>,
  project: readonly Read<WireProjectEvent>[],
  catalogue: readonly Read<WireCatalogueEvent>[],
): Read<WireProjectEvent> | null {
  for (const [partner, candidate] of associate(project, catalogue)) if (candidate === record) return partner;
  return null;
}

/** Both interfaces may use one identifier for an earthquake (docs/behaviour.md 6.2). */
function isSameId(a: { readonly id: string }, b: { readonly id: string }): boolean {
  return a.id === b.id;
}

/** An event without a location can only be associated by an equal id. */
async function sameId(ctx: UnifyContext, id: ProjectEventId): Promise<Read<WireCatalogueEvent> | null> {
  return (await ctx.catalogue?.event(asId(id), ctx.scope)) ?? null;
}

async function catalogueAround(
  ctx: UnifyContext,
  { originTime }: Solution,
): Promise<readonly Read<WireCatalogueEvent>[]> {
  if (!ctx.catalogue) return [];
  const reader = new CatalogueReader(ctx, ctx.catalogue, { mostRequests });
  const open = ({ lookAheadMs }: Reach) =>
    reader.open({ fromMs: plus(originTime.ms, -lookAheadMs), toMs: plus(originTime.ms, lookAheadMs) });
  const wide = await open(wideReach);
  const window = wide.pages <= mostPages ? wide : await open(closeReach);
  if (Number.isFinite(window.pages) && window.pages > mostRequests)
    throw new UpstreamUnavailable('The catalogue lists too many earthquakes of one time to read them all');
  return window.whole();
}

/**
 * The project's records around a place and time. The list is ordered by issue time, so it is read from that time on.
 * Assumed: the records that matter are among the first thousand issued there since.
 */
async function projectAround(
  ctx: UnifyContext,
  { originTime, ...place }: Solution,
): Promise<readonly Read<WireProjectEvent>[]> {
  const { project } = ctx;
  if (!project) return [];
  const scans = boxesAround(place).map(
    (bbox) =>
      new IssueTimeScan({
        read: (query) => project.events(query, ctx.scope),
        order: 'asc',
        fromMs: floorTo(1000, plus(originTime.ms, -wideReach.lookAheadMs)),
        toMs: forever,
        bbox,
      }),
  );
  const records = new Map<string, Read<WireProjectEvent>>();
  for (const scan of scans) {
    for (let page = 0; page < mostPages && !scan.isDone; page++) {
      for (const read of await scan.next()) records.set(read.value.id, read);
    }
  }
  return [...records.values()];
}

function boxesAround(place: Point): (readonly [number, number, number, number])[] {
  return splitBox(boxAround({ ...place, radiusKm: reachKm })).map(
    ({ minLongitude, minLatitude, maxLongitude, maxLatitude }) => [
      floor(minLongitude),
      floor(minLatitude),
      -floor(-maxLongitude),
      -floor(-maxLatitude),
    ],
  );
}

const floor = (degrees: number) => Math.max(-180, Math.floor(degrees * 100) / 100);

// Records of one id are taken to lie within 300 km of each other, as in `list/filter-pushdown.ts`.
const reachKm = 300;

const mostPages = 2;

const mostRequests = 20;
