import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../execution/operation.js';
import type { Head } from './response/head.js';

/** One authenticated request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** To be sent with the response. */
  readonly head: Head;
  readonly operation: Operation;
}
