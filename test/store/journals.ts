import type { Journal, JournalCount, JournalEntry } from '../../src/store/store.js';

/** A journal and what was heard of it. */
export function listening(journal: Journal) {
  const entries: JournalEntry[] = [];
  const counts: JournalCount[][] = [];
  journal.onEntry((entry) => entries.push(entry));
  journal.onCount((told) => counts.push([...told]));
  return {
    journal,
    entries,
    heard: () => entries.map(({ text }) => text),
    /** Of the day, as told last. */
    counted: () => counts.at(-1)?.reduce((sum, { count }) => sum + count, 0),
    enter: async (text: string) => journal.enter(text),
  };
}
