import { ManualClock } from '../../src/clock.js';
import { UpstreamUnavailable } from '../../src/errors.js';
import type { Http, HttpRequest, HttpResponse } from '../../src/upstream/http/http.js';

export interface ModelRecord {
  readonly id: string;
  readonly startMs: number;
  isOpen: boolean;
  /** Grows with each change: a later state has a higher one. */
  state: number;
}

/**
 * The project interface as far as lists and feeds ask it, on a clock that tests drive: each answer is as of some moment
 * between the request and its arrival, so that answers overtake each other.
 */
export class ModelHttp implements Http {
  readonly clock: ManualClock;
  readonly triggers: ModelRecord[] = [];
  readonly events: ModelRecord[] = [];
  readonly sensors: ModelRecord[] = [];
  /** Of requests that come in turn. */
  delays: readonly (readonly [thereMs: number, backMs: number])[] = [[0, 0]];
  failing = 0;
  requests = 0;

  constructor(clock = new ManualClock()) {
    this.clock = clock;
  }

  async get({ path, signal }: HttpRequest): Promise<HttpResponse> {
    const [thereMs, backMs] = this.delays[this.requests++ % this.delays.length] ?? [0, 0];
    if (thereMs > 0) await this.clock.sleep(thereMs, signal);
    const isFailing = this.failing > 0;
    if (isFailing) this.failing--;
    const answer = this.#answer(new URL(path, 'http://model'));
    if (backMs > 0) await this.clock.sleep(backMs, signal);
    if (isFailing) throw new UpstreamUnavailable('scripted');
    const body = Buffer.from(JSON.stringify(answer ?? { error: { code: 'not_found' } }));
    return { status: answer ? 200 : 404, headers: { 'content-type': 'application/json' }, body };
  }

  stream(): Promise<never> {
    return Promise.reject(new Error('Nobody streams here'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #answer({ pathname, searchParams }: URL): object | null {
    const [, , list, id] = pathname.split('/');
    if (list === 'project') return { id: 'p1', name: 'Model', location_masked: false };
    const records = { triggers: this.triggers, events: this.events, sensors: this.sensors }[list ?? ''] ?? [];
    const wire = { triggers: triggerOf, events: eventOf, sensors: sensorOf }[list ?? ''] ?? sensorOf;
    if (id !== undefined) {
      const record = records.find((one) => one.id === id);
      return record ? wire(record) : null;
    }
    return page(records, wire, searchParams);
  }
}

function page(
  records: readonly ModelRecord[],
  wire: (record: ModelRecord) => object,
  query: URLSearchParams,
) {
  const fromMs = Date.parse(query.get('from') ?? '1970-01-01');
  const toMs = Date.parse(query.get('to') ?? '2100-01-01');
  const sign = query.get('order') === 'desc' ? -1 : 1;
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)];
  const device = query.get('device_id');
  const matching = records
    .filter((record) => record.startMs >= fromMs && record.startMs <= toMs)
    .filter((record) => device === null || deviceOf(record) === device)
    .sort((a, b) => sign * (a.startMs - b.startMs || Number(a.id) - Number(b.id)));
  return {
    data: matching.slice(offset, offset + limit).map(wire),
    total: matching.length,
    limit,
    offset,
  };
}

const timeOf = (ms: number) => new Date(ms).toISOString();
const devices = ['001A2B3C4D5E', '001A2B3C4D5F'];
export const deviceOf = ({ id }: Pick<ModelRecord, 'id'>): string => devices[Number(id) % 2] ?? '';

function triggerOf(record: ModelRecord): object {
  return {
    id: Number(record.id),
    device_id: deviceOf(record),
    start_time: timeOf(record.startMs),
    pga_horizontal_mg: record.state,
    status: record.isOpen ? 'open' : 'closed',
  };
}

// Each solution is issued anew: the list goes by that.
function eventOf({ id, startMs, state }: ModelRecord): object {
  const origin = { latitude: 10 * Number(id) - 85, longitude: 0, depth: 5, origin_time: startMs / 1000 - 30 };
  return {
    id,
    issued_at: timeOf(startMs),
    magnitude: state,
    origin: { ...origin, issued_at: startMs / 1000 },
  };
}

function sensorOf({ id, isOpen, state }: ModelRecord): object {
  return {
    // A record without it cannot be read.
    device_id: id || null,
    station: `S${id.slice(-2)}`,
    network: 'SG',
    firmware: String(state),
    status: isOpen ? 'online' : 'offline',
    last_seen: timeOf(Date.UTC(2035, 0, 1)),
  };
}
