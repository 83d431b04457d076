import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { limits } from '../../limits.js';
import type { Log } from '../../log.js';
import type { GraphContext } from '../context.js';
import { clientError } from '../errors/error-codes.js';
import { hasParts } from './directives.js';
import { unfolded, wholeOf } from './documents.js';
import { type ExecutionPart, withErrors } from './results.js';
import { partsRules } from './rules.js';

/**
 * Executes a document with `@defer` or `@stream` in parts for a client that takes them, and as if it had no such directive
 * for all others. It needs the estimate, and comes after the plugin that makes it.
 */
export function incrementalDelivery(log: Log): Plugin<GraphContext> {
  return {
    onValidate({ addValidationRule }) {
      for (const rule of partsRules) addValidationRule(rule);
    },
    onExecute({ args }) {
      if (!hasParts(args.document)) return undefined;
      const { forDeferred, estimate } = args.contextValue;
      const isInParts = forDeferred !== undefined && (estimate?.parts ?? 0) <= limits.answerParts;
      args.document = isInParts ? unfolded(args.document) : wholeOf(args.document);
      if (!isInParts) return undefined;
      args.contextValue.deferred = { context: forDeferred(), initialCounts: new Map() };
      return {
        // Yoga masks the errors of the first payload only.
        onExecuteDone: (done) =>
          handleStreamOrSingleExecutionResult(done, ({ result, setResult }) =>
            setResult(
              withErrors(result as ExecutionPart, (errors) => errors.map((error) => clientError(error, log))),
            ),
          ),
      };
    },
  };
}
