import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { GraphError } from '../../../../src/client/index.js';

import type { Session } from './session.js';
import type { World, WorldState } from './world.js';

interface Context {
  readonly session: Session;
  readonly world: World;
}

export const WorldContext = createContext<Context | null>(null);

export function useContextOfWorld(): Context {
  const context = useContext(WorldContext);
  if (!context) throw new Error('There is no world around this component');
  return context;
}

export function useWorld(): WorldState {
  const { world } = useContextOfWorld();
  return useSyncExternalStore(world.subscribe, world.state);
}

export interface Asked<Data> {
  readonly data: Data | null;
  readonly error: GraphError | null;
  readonly isLoading: boolean;
}

/** The answer to a query, asked again when the variables or `round` change; null variables ask nothing. */
export function useQuery<Data, Variables extends object>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  round = 0,
): Asked<Data> {
  const { session } = useContextOfWorld();
  const [asked, setAsked] = useState<Asked<Data>>({ data: null, error: null, isLoading: true });
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the variables, the round asks again
  useEffect(() => {
    if (variables === null) return;
    const leaving = new AbortController();
    setAsked((before) => ({ ...before, isLoading: true }));
    session.ask(document, variables, leaving.signal).then(
      ({ data, errors }) => setAsked({ data, error: errors[0] ?? null, isLoading: false }),
      (error) => {
        if (leaving.signal.aborted) return;
        setAsked((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => leaving.abort();
  }, [session, document, key, round]);
  return asked;
}

/** Milliseconds since 1970, renewed as often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
