/** From a request's arrival at either interface to its answer. */
export const upstreamLatencyMs = 20;

/** Of the load, all kept alive; a client each, which asks again as soon as it has its answer. */
export const connections = 64;
