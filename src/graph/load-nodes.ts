import { GraphQLError } from 'graphql';

/**
 * For `loadManyWithoutCache`: each node read by itself, so that one that cannot be read is an error in its own place and
 * does not lose the others. An Error as a value is what the executor reports there, though Pothos has no type for it.
 */
export function loadEach<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T | null>,
): Promise<(T | null)[]> {
  return Promise.all(
    ids.map((id) =>
      // Pothos brands what it is given, and a failure that several reads share can be branded but once.
      read(id).catch(
        (error: Error) => new GraphQLError(error.message, { originalError: error }) as unknown as T,
      ),
    ),
  );
}
