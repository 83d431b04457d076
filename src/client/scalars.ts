/** RFC 3339 in UTC, such as `2026-03-08T10:00:00.123456Z`; `Date` drops the digits below the millisecond. */
export type DateTime = string;

/** Any JSON value: GeoJSON, or a part of a record that the service sends without documenting its layout. */
export type Json = unknown;

/** Samples of a waveform; null stands for a gap. */
export type Samples = readonly (number | null)[];
