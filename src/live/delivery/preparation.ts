/** Reads what a filter tests beside the change. */
export interface Preparation {
  /** Resolves when the filter can be asked, or is to be prepared again; null when it can be asked at once. Never rejects. */
  prepare(): Promise<void> | null;
}
