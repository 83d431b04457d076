import type { FeedStatus } from '../../live/feeds/feed.js';
import type { MetricsReport } from './merged-metrics.js';
import type { Sighting } from './readiness.js';

/** Health of one process, merged with the others by the process that answers `/ready`. */
export interface HealthReport {
  readonly feeds: readonly FeedStatus[];
  readonly sightings: readonly Sighting[];
}

/** Reports that a process provides to the others. */
export interface OwnReports {
  health(): HealthReport;
  metrics(): Promise<MetricsReport>;
}

/** The other processes behind the same port. */
export interface Peers {
  /** Makes the reports available to the others. */
  serve(own: OwnReports): void;
  /** Reports of the other processes that answer in time. */
  health(): Promise<readonly HealthReport[]>;
  /** Reports of all others, including ended ones. `own` is stored as the last report of this process, should it end. */
  metrics(own: MetricsReport): Promise<readonly MetricsReport[]>;
}

export const noPeers: Peers = { serve() {}, health: async () => [], metrics: async () => [] };
