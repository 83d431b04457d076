import { GraphQLError } from 'graphql';

/**
 * For `loadManyWithoutCache`: reads each node separately, so that a failure is an error at its own path and does not
 * affect the others. The executor reports an Error in the list at its path, though Pothos has no type for that.
 */
export function loadEach<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T | null>,
): Promise<(T | null)[]> {
  return Promise.all(
    ids.map((id) =>
      // A new error for each node: Pothos brands the object, and an error shared by several reads can be branded once.
      read(id).catch(
        (error: Error) => new GraphQLError(error.message, { originalError: error }) as unknown as T,
      ),
    ),
  );
}
