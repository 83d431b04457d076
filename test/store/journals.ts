import type { Journal, JournalCount, JournalEntry } from '../../src/store/store.js';

/** A journal and the entries of other writers that it has reported. */
export function listening(journal: Journal) {
  const entries: JournalEntry[] = [];
  const counts: JournalCount[][] = [];
  journal.onEntry((entry) => entries.push(entry));
  journal.onCount((reported) => counts.push([...reported]));
  return {
    journal,
    entries,
    read: () => entries.map(({ text }) => text),
    /** Requests of the day, as last reported; undefined before the first report. */
    counted: () => counts.at(-1)?.reduce((sum, { count }) => sum + count, 0),
    enter: async (text: string) => journal.enter(text),
  };
}
