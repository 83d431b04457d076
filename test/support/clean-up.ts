const pending = new Set<() => Promise<void>>();

/** Runs `close` when the tests of the file are over, should they have forgotten to. Closing twice must do no harm. */
export function cleanUpAfterTests(close: () => Promise<void>): void {
  pending.add(close);
}

export async function cleanUp(): Promise<void> {
  const closes = [...pending];
  pending.clear();
  await Promise.all(closes.map((close) => close()));
}
