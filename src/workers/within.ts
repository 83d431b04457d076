/** Rejects when there is no answer in time. On the machine's clock, as processes and their messages are. */
export function withinMs<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`There was no answer within ${limitMs} ms`)), limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
