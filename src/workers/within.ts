/** Rejects when there is no answer in time. Uses the machine's clock, since processes and messages run on it. */
export function withinMs<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`There was no answer within ${limitMs} ms`)), limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
