import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { QueryTooComplex } from '../../errors.js';
import { limits } from '../../limits.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import { learnSensorCount } from '../../unify/sensor/inventory/inventory.js';
import type { Estimate, GraphContext } from '../context.js';
import { estimateCost, knownOf, type OperationArgs } from './estimate.js';

/** Refuses, before it runs, an operation that at worst needs more than `maxCost` upstream requests, or is too large. */
export function costLimit(maxCost: number): Plugin<GraphContext> {
  const constant = new ConstantEstimates();
  const isWithin = ({ requests, values }: Estimate) => requests <= maxCost && values <= limits.answerValues;

  function check(args: OperationArgs): Maybe<void> {
    const estimate = constant.of(args) ?? estimateCost(args);
    if (isWithin(estimate) || !dependsOnCount(args, estimate)) return accept(args, estimate);
    return whenKnown(learnSensorCount(args.contextValue.unify), () => accept(args, estimateCost(args)));
  }

  /** True where the number of sensors is not known, and the operation is within the limits if there are few of them. */
  function dependsOnCount(args: OperationArgs, { counts }: Estimate): args is ArgsWithContext {
    if (!counts || !args.contextValue || knownOf(args).sensors !== Number.POSITIVE_INFINITY) return false;
    return isWithin(estimateCost(args, { sensors: 0 }));
  }

  function accept(args: OperationArgs, estimate: Estimate): void {
    constant.set(args, estimate);
    if (args.contextValue) {
      args.contextValue.estimate = estimate;
      if (!estimate.isTimeless)
        args.contextValue.unify.scope.dependencies?.refuse('its cost grows with time');
    }
    const { requests, values } = estimate;
    if (requests > maxCost) {
      throw new QueryTooComplex(
        `At worst this operation needs ${requests} upstream requests; the limit is ${maxCost}. Ask for fewer items, ` +
          'or leave out fields that cost a request for each item',
      );
    }
    if (values > limits.answerValues) {
      throw new QueryTooComplex(
        `At worst this operation answers ${values} values; the limit is ${limits.answerValues}. Ask for fewer items or ` +
          'fields',
      );
    }
  }

  return {
    onExecute: ({ args }) => check(args),
    onSubscribe: ({ args }) => check(args),
  };
}

type ArgsWithContext = OperationArgs & { readonly contextValue: NonNullable<OperationArgs['contextValue']> };

/** Cached estimates that depend on neither variables nor time, by document and operation name. */
class ConstantEstimates {
  readonly #known = new WeakMap<DocumentNode, Map<string | null, { estimate: Estimate; sensors: number }>>();

  of(args: OperationArgs): Estimate | undefined {
    const known = this.#known.get(args.document)?.get(args.operationName ?? null);
    return known?.estimate.counts && known.sensors !== knownOf(args).sensors ? undefined : known?.estimate;
  }

  set(args: OperationArgs, estimate: Estimate): void {
    if (!estimate.isConstant || !estimate.isTimeless) return;
    const byName = this.#known.get(args.document) ?? new Map();
    const { sensors } = knownOf(args);
    this.#known.set(args.document, byName.set(args.operationName ?? null, { estimate, sensors }));
  }
}
