import { setFlagsFromString } from 'node:v8';

/**
 * Settings of V8's heap, measured in docs/performance.md, "Memory of a gateway that knows everything". `main.ts` imports
 * this first, so that they apply to the start as well.
 */

// V8 lets the old generation grow to as much as four times the live bytes before it collects, the more so the more memory
// the machine has: a gateway with 126 MiB alive had 450 to 530 MiB resident.
setFlagsFromString('--heap-growing-percent=40');
// Where many objects of a kind have been cached, V8 takes the next ones for long-lived too and allocates them in the old
// generation at once. Most of an answer's are not: they were left there as garbage between what is cached.
setFlagsFromString('--no-allocation-site-pretenuring');
// A young generation as small as `npm start` sets it is collected in the time that it takes to wake helper threads for it,
// and while the machine is busy they are waited for.
setFlagsFromString('--no-parallel-scavenge');
