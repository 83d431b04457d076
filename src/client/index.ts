// The entry `seisgraph/client` of the package: what pages and scripts may use. It imports nothing of the gateway.
export type { Answer } from './answer.js';
export { GraphError } from './errors.js';
export * from './operations.js';
export { type RequestOptions, request } from './request.js';
export { type CursorStore, type ResumeOptions, subscribeWithResume } from './resume/subscribe-with-resume.js';
export type { DateTime, Json, Samples } from './scalars.js';
