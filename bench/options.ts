export interface BenchOptions {
  /** So short that its figures mean nothing: to see that a benchmark runs. */
  readonly quick: boolean;
}
