/**
 * The largest pages that upstream grants. Reads ask for them throughout, because requests are scarcer than bytes and
 * equal requests share one cached response.
 */
export const largestPage = {
  /** docs/interfaces.md P4: every list of the project but the one below. */
  project: 500,
  /** docs/interfaces.md P4. */
  healthReports: 5_000,
  /** docs/interfaces.md C8 for sensors; no maximum for events is documented. */
  catalogue: 100,
} as const;

/** Tried in this order where upstream refuses a page of the catalogue's events as too large. */
export const smallerPages = [100, 50, 20, 10] as const;
