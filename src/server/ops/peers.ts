import type { FeedStatus } from '../../live/feeds/feed.js';
import type { MetricsReport } from './merged-metrics.js';
import type { Sighting } from './readiness.js';

/** How one process is doing, for `/ready` at whichever process answers it. */
export interface HealthReport {
  readonly feeds: readonly FeedStatus[];
  readonly sightings: readonly Sighting[];
}

/** What a process tells the others of itself. */
export interface OwnReports {
  health(): HealthReport;
  metrics(): Promise<MetricsReport>;
}

/** The other processes behind the same port. */
export interface Peers {
  /** The others can ask for it from now on. */
  serve(own: OwnReports): void;
  /** Of all others that answer soon. */
  health(): Promise<readonly HealthReport[]>;
  /** Of all others, those that have ended among them; `own` is what this process will have counted, should it end. */
  metrics(own: MetricsReport): Promise<readonly MetricsReport[]>;
}

export const noPeers: Peers = { serve() {}, health: async () => [], metrics: async () => [] };
